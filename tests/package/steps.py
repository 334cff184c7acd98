"""The life of the package on a machine: install, serve, upgrade, TLS, remove, install again, purge, the drill."""
import pathlib
import re
import shutil
import subprocess

import activation
import drill
import tls
from machine import Machine
from service import DATA, SETTINGS, UNIT, Service

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
# Instead of a question about a settings file that both sides have changed.
KEEP_SETTINGS = ("-o", "Dpkg::Options::=--force-confold")
# Files that package managers and other services write.
IGNORED = re.compile(r"^/(var/cache|var/lib/(apt|dpkg|systemd/(timers|random-seed))|var/log|etc/(passwd|group|g?shadow|sub[ug]id)-)(/|$)")
LISTEN = "http://127.0.0.1:8081"
# The folder for temporary files of the machine under test, and files in it.
TEMPORARY = str(pathlib.PurePosixPath("/", "tmp"))
PACKAGE = f"{TEMPORARY}/garth.deb"
NOTES = f"{TEMPORARY}/notes.txt"


def run_all(machine: Machine, package: pathlib.Path) -> None:
    service = Service(machine)
    before = contents(machine)
    install(machine, package)
    check_installed(machine)
    report("installed: user, folders and modes are right, and the unit is enabled")
    check_running(service)
    report("the service runs with the restrictions of the unit, and serves requests")
    objects = create_objects(service)
    report("a command creates a token, and an upload is scanned and stored")
    activation.restart_without_refusals(service, f"{TEMPORARY}/end")
    report("with garth.socket, restarts refuse no connection")
    upgrade(service, package, objects)
    report("upgrades restart the service, replace an unchanged settings file, and keep a changed one and its mode")
    tls.serve_with_tls(service)
    report("the service runs with TLS: a reload replaces the certificate, and secrets of root are credentials")
    remove_and_reinstall(service, package, objects)
    report("removal stops the service and leaves settings and data, and a new installation uses them")
    machine.run("apt-get", "purge", "-y", "-qq", "garth")
    left = sorted(f"{path}: {entry}" for path, entry in contents(machine).items() ^ before.items())
    assert not left, "purging leaves or changes files:\n" + "\n".join(left)
    assert machine.run("systemctl", "is-system-running").strip() == "running", machine.run("systemctl", "--failed")
    report("purging leaves nothing")
    drill.run(machine, package)
    report("the drill of docs/operating.md: install, TLS, backup, loss, restore, upgrade")
    check_deployed_unit(service, package)
    report("deploy/garth.service runs without the package, with a dynamic user")


def report(text: str) -> None:
    print(f"package: {text}", flush=True)


def install(machine: Machine, package: pathlib.Path, *options: str) -> None:
    shutil.copy(package, machine.path(PACKAGE))
    machine.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *options, PACKAGE)


def check_installed(machine: Machine) -> None:
    user = machine.run("getent", "passwd", "garth").strip().split(":")
    assert int(user[2]) < 1000 and user[5:] == [DATA, "/usr/sbin/nologin"], f"the user is {user}"
    expected = {
        "/etc/garth": "root garth 750",
        SETTINGS: "root garth 640",
        DATA: "garth garth 700",
        "/usr/bin/garth": "root root 755",
        UNIT: "root root 644",
        activation.UNIT: "root root 644",
    }
    for path, wanted in expected.items():
        found = owner_and_mode(machine, path)
        assert found == wanted, f"{path} is {found}, not {wanted}"
    assert machine.run("systemctl", "is-enabled", "garth").strip() == "enabled", "the unit is not enabled"
    assert machine.run("dpkg", "--verify", "garth") == "", "files differ from the package"


def check_running(service: Service) -> None:
    service.wait_until_ready()
    user = service.machine.run("id", "-u", "garth").strip()
    status = service.status()
    assert status["Uid"].split() == [user] * 4, f"the server runs as the user {status['Uid']}"
    assert int(status["CapBnd"], 16) == 0, f"the server has the capabilities {status['CapBnd']}"
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2"), "system calls are not restricted"


def create_objects(service: Service) -> dict:
    """A VPC, and a ticket with a scanned attachment. Returns the responses of their lists."""
    # The scanner is a child process with the restrictions of the service.
    service.set("scan_command", '"grep -q scanned {}"')
    service.machine.run("systemctl", "restart", "garth")
    service.wait_until_ready()
    service.create_token()
    service.post("/vpcs", {"label": "core", "region": "us-east"})
    ticket = service.post("/support/tickets", {"summary": "Help", "description": "Please."})["id"]
    service.machine.path(NOTES).write_text("To be scanned.\n")
    service.send(f"/support/tickets/{ticket}/attachments", "-F", f"file=@{NOTES}")
    for path in (f"{DATA}/garth.db", f"{DATA}/serve.url"):
        found = owner_and_mode(service.machine, path)
        assert found == "garth garth 600", f"{path} is {found}"
    log = service.log()
    assert "Garth is listening" in log and not re.search(r"\b[0-9a-f]{64}\b", log), f"the log has a token:\n{log}"
    undo_settings(service)
    objects = list_objects(service, "http://127.0.0.1:8080")
    assert objects["vpcs"]["results"] == 1 and objects["attachments"]["results"] == 1, f"{objects}"
    return objects


def undo_settings(service: Service) -> None:
    """The settings file of the package, so that dpkg finds it unchanged."""
    file = service.machine.path(SETTINGS)
    file.write_text(re.sub(r"^scan_command = .*$", default_of("scan_command"), file.read_text(), flags=re.MULTILINE))


def default_of(name: str) -> str:
    text = (DEPLOY / "garth.toml").read_text()
    return next(line for line in text.splitlines() if line.startswith(f"#{name} = "))


def list_objects(service: Service, url: str) -> dict:
    return {
        "vpcs": service.send("/vpcs", url=url),
        "attachments": service.send("/support/tickets/1/attachments", url=url),
    }


def upgrade(service: Service, package: pathlib.Path, objects: dict) -> None:
    machine, settings = service.machine, service.machine.path(SETTINGS)
    process = service.show("MainPID")
    install(machine, repack(machine, package, "2", "# Of revision 2.\n"))
    assert settings.read_text().endswith("# Of revision 2.\n"), "an unchanged settings file was not replaced"
    assert owner_and_mode(machine, SETTINGS) == "root garth 640", "the upgrade changed the mode of the settings file"
    service.wait_until_ready()
    assert service.show("MainPID") != process, "the upgrade does not restart the service"

    service.set("listen", '"127.0.0.1:8081"')
    changed = settings.read_text()
    install(machine, repack(machine, package, "3", "# Of revision 3.\n"), *KEEP_SETTINGS)
    assert settings.read_text() == changed, "the upgrade replaced a changed settings file"
    assert machine.path(f"{SETTINGS}.dpkg-dist").exists(), "the new settings file is missing"
    assert owner_and_mode(machine, SETTINGS) == "root garth 640", "the upgrade changed the mode of the settings file"
    check_objects(service, objects)


def remove_and_reinstall(service: Service, package: pathlib.Path, objects: dict) -> None:
    machine = service.machine
    machine.run("apt-get", "remove", "-y", "-qq", "garth")
    assert machine.call("pgrep", "--uid", "garth").stdout == "", "the removal does not stop the service"
    for path in ("/usr/bin/garth", UNIT, activation.UNIT):
        assert not machine.path(path).exists(), f"{path} remains after the removal"
    for path in (SETTINGS, f"{DATA}/garth.db"):
        assert machine.path(path).exists(), f"the removal deletes {path}"
    install(machine, package, *KEEP_SETTINGS)
    check_objects(service, objects)


def check_objects(service: Service, objects: dict) -> None:
    """The service runs and has the same objects."""
    service.wait_until_ready(LISTEN)
    found = list_objects(service, LISTEN)
    assert found == objects, f"the objects are {found}, not {objects}"


def check_deployed_unit(service: Service, package: pathlib.Path) -> None:
    """The steps of "Run under systemd" in operating.md."""
    machine, folder = service.machine, service.machine.path(f"{TEMPORARY}/package")
    subprocess.run(["dpkg-deb", "--extract", package, folder], check=True)
    shutil.copy(folder / "usr/bin/garth", machine.path("/usr/local/bin/garth"))
    shutil.copy(DEPLOY / "garth.service", machine.path("/etc/systemd/system/garth.service"))
    machine.run("mkdir", "/etc/garth")
    shutil.copy(DEPLOY / "garth.toml", machine.path(SETTINGS))
    machine.run("systemctl", "enable", "--quiet", "--now", "garth")
    service.wait_until_ready()
    assert service.show("DynamicUser") == "yes" and service.status()["Uid"].split()[0] != "0", "the server runs as root"
    machine.run("systemctl", "stop", "garth")
    assert service.show("Result") == "success", service.log()


def repack(machine: Machine, package: pathlib.Path, revision: str, text: str) -> pathlib.Path:
    """The same package as a newer revision, with another settings file."""
    folder, new = machine.path(f"{TEMPORARY}/revision-{revision}"), machine.path(f"{TEMPORARY}/revision-{revision}.deb")
    subprocess.run(["dpkg-deb", "--raw-extract", package, folder], check=True)
    control = folder / "DEBIAN/control"
    control.write_text(re.sub(r"^(Version: .*-)\d+$", rf"\g<1>{revision}", control.read_text(), flags=re.MULTILINE))
    with (folder / SETTINGS.lstrip("/")).open("a") as settings:
        settings.write(text)
    command = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", folder, new]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return new


def owner_and_mode(machine: Machine, path: str) -> str:
    return machine.run("stat", "--format=%U %G %a", path).strip()


def contents(machine: Machine) -> dict[str, str]:
    """Every path with its owner, mode and type, except in mounted folders; users and groups with their lines."""
    found = machine.run("find", "/", "-xdev", "-printf", "%p\t%u %g %m %y %l\n")
    entries = dict(line.split("\t", 1) for line in found.splitlines())
    accounts = {
        f"line of /etc/{name}: {line}": ""
        for name in ("passwd", "group", "shadow")
        for line in machine.path(f"/etc/{name}").read_text().splitlines()
    }
    return {path: entry for path, entry in entries.items() if not IGNORED.match(path)} | accounts
