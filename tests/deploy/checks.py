"""What can be read from the files of deploy/; each function returns what is wrong."""
import ipaddress
import pathlib
import re
import shutil
import subprocess
import tempfile

import yaml

# Programs that the container file may run while it builds: nothing that downloads besides cargo and apt.
BUILD_PROGRAMS = {"cargo", "apt-get", "rm", "useradd", "install"}


def read_compose(file: pathlib.Path) -> dict:
    return yaml.safe_load(file.read_text())


def known(garth: pathlib.Path) -> tuple[set[str], set[str]]:
    """The variables and options that `garth serve` takes, from its own help."""
    words = [garth, "serve", "--help"]
    shown = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", shown))
    return set(re.findall(r"\[env:\s+(GARTH_[A-Z0-9_]+)", shown)), options


def of_settings(folder: pathlib.Path, compose: dict, garth: pathlib.Path) -> list[str]:
    variables, options = known(garth)
    # Of the proxy, not of Garth.
    own = set(re.findall(r"\$\{(GARTH_[A-Z0-9_]+)-", (folder / "haproxy.cfg").read_text()))
    wrong = []
    for file in sorted(folder.iterdir()):
        text = file.read_text() if file.is_file() else ""
        used = set(re.findall(r"\bGARTH_[A-Z0-9_]+", text))
        wrong += [f"{file.name}: there is no setting {name}" for name in sorted(used - variables - own)]
        for line in re.findall(r"\bgarth serve\b(.*)", text):
            used = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", line))
            wrong += [f"{file.name}: garth serve has no option {name}" for name in sorted(used - options)]
    containerfile = (folder / "Containerfile").read_text()
    used = set(re.findall(r'"(--[a-z0-9-]+)"', containerfile.split("CMD [\"serve\"")[-1]))
    wrong += [f"Containerfile: garth serve has no option {name}" for name in sorted(used - options)]
    if not any(name.startswith("GARTH_") for name in compose["services"]["node-1"]["environment"]):
        wrong.append("compose.yaml: the nodes have no settings")
    return wrong


def of_compose(folder: pathlib.Path, compose: dict) -> list[str]:
    wrong = []
    for name, service in compose["services"].items():
        say = lambda text: wrong.append(f"compose.yaml: {name}: {text}")
        if not re.search(r":[^:/]*\d+\.\d+|:RELEASE\.\d{4}-", service["image"]):
            say(f"the image {service['image']} is not pinned to a version")
        if service.get("restart") == "unless-stopped":
            if "healthcheck" not in service:
                say("there is no health check")
        elif name != "bucket-setup":
            say("it is not restarted")
        for secret in service.get("secrets", []):
            if secret not in compose["secrets"]:
                say(f"there is no secret {secret}")
        for variable, value in service.get("environment", {}).items():
            secret = re.search(r"PASSWORD|SECRET|TOKEN|_KEY", variable)
            if secret and not variable.endswith("_FILE"):
                say(f"{variable} is a secret in the environment")
            if str(value).startswith("/run/secrets/") and value.rsplit("/", 1)[1] not in service["secrets"]:
                say(f"{variable} names a secret that it does not get")
        for file in re.findall(r"/run/secrets/([\w-]+)", str(service.get("command", ""))):
            if file not in service["secrets"]:
                say(f"its command reads the secret {file}, which it does not get")
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if not (folder / source).exists() if source.startswith(".") else source not in compose["volumes"]:
                say(f"there is no volume {source}")
        for other in service.get("depends_on", {}):
            if other not in compose["services"]:
                say(f"it depends on {other}, which is not there")
        for port in service.get("ports", []):
            if not port.startswith("127.0.0.1:"):
                say(f"{port} is open to other hosts without TLS")
    wrong += [
        f"compose.yaml: the secret {name} is no file"
        for name, secret in compose["secrets"].items()
        if set(secret) != {"file"}
    ]
    return wrong


def of_version(folder: pathlib.Path, compose: dict, garth: pathlib.Path) -> list[str]:
    """The image is called by the version of what is in it."""
    shown = subprocess.run([garth, "--version"], check=True, capture_output=True, text=True).stdout
    version = shown.split()[-1]
    names = {f"compose.yaml: {name}": service["image"] for name, service in compose["services"].items()}
    tag = re.search(r"-t (garth:\S+)", (folder / "Containerfile").read_text())
    names["Containerfile"] = tag[1] if tag else "none"
    return [
        f"{place}: the image is {image}, and garth is {version}"
        for place, image in names.items()
        if (image.startswith("garth:") or place == "Containerfile") and image != f"garth:{version}"
    ]


def of_trust(compose: dict) -> list[str]:
    """Only the proxy is trusted: what it forwards is believed, and it is exempt from limits per address."""
    inside = compose["networks"]["inside"]["ipam"]["config"][0]
    networks = compose["services"]["proxy"]["networks"]
    if not isinstance(networks, dict):
        return ["compose.yaml: the proxy has no fixed address that the nodes could trust"]
    address = networks["inside"]["ipv4_address"]
    wrong = []
    for name in ("node-1", "node-2"):
        trusted = compose["services"][name]["environment"]["GARTH_TRUSTED_PROXIES"]
        if trusted != address:
            wrong.append(f"{name} trusts {trusted}, and not the proxy's address alone ({address})")
    if ipaddress.ip_address(address) not in ipaddress.ip_network(inside["subnet"]):
        wrong.append(f"the proxy's address {address} is not in its network")
    if ipaddress.ip_address(address) in ipaddress.ip_network(inside.get("ip_range", inside["subnet"])):
        wrong.append(f"another container may get the proxy's address {address}")
    return [f"compose.yaml: {text}" for text in wrong]


def of_containerfile(root: pathlib.Path, compose: dict) -> list[str]:
    file = root / compose["services"]["node-1"]["build"]["dockerfile"]
    steps = [line.split(None, 1) for line in file.read_text().replace("\\\n", " ").splitlines()]
    steps = [step for step in steps if step and not step[0].startswith("#")]
    wrong = []
    for word, rest in steps:
        if word == "FROM" and not re.search(r":\d+\.\d+", rest):
            wrong.append(f"the image {rest} is not pinned to a version")
        if word == "COPY" and not rest.startswith("--from"):
            wrong += [f"there is no {source}" for source in rest.split()[:-1] if not (root / source).exists()]
        if word == "RUN":
            programs = {part.split()[0] for part in rest.split("&&")}
            wrong += [f"it runs {program}" for program in sorted(programs - BUILD_PROGRAMS)]
    words = [word for word, _ in steps]
    users = [rest for word, rest in steps if word == "USER"]
    if not users or users[-1].split(":")[0] in ("0", "root"):
        wrong.append("it runs as root")
    wrong += [f"there is no {word}" for word in ("HEALTHCHECK", "ENTRYPOINT") if word not in words]
    return [f"Containerfile: {text}" for text in wrong]


# How long a start may take before it fails: connecting to hosts that do not answer.
LONGEST_START_SECONDS = 30
# What no other user of the machine may read.
SECRET_SETTINGS = {
    "GARTH_BOOTSTRAP_TOKEN_FILE",
    "GARTH_DATABASE_PASSWORD_FILE",
    "GARTH_ATTACHMENTS_ACCESS_KEY_FILE",
    "GARTH_ATTACHMENTS_SECRET_KEY_FILE",
    "GARTH_TLS_KEY",
}


def of_unit(file: pathlib.Path, garth: pathlib.Path) -> list[str]:
    text = file.read_text()
    # The lines for secrets are marked out; with all of them the unit must be good, too.
    whole = re.sub(r"^#(?=(?:LoadCredential|Environment)=)", "", text, flags=re.MULTILINE)
    wrong = of_restarts(whole) + of_credentials(whole)
    if "ExecReload=/bin/kill -HUP $MAINPID" not in text.splitlines():
        wrong.append("it cannot be reloaded")
    wrong += [line for unit in (text, whole) for line in verified(unit, garth)]
    return [f"garth.service: {line}" for line in wrong]


def of_restarts(unit: str) -> list[str]:
    """Starts that fail, however slowly, come to an end."""
    number = lambda name: int(re.search(rf"^{name}=(\d+)$", unit, re.MULTILINE)[1])
    needed = number("StartLimitBurst") * (number("RestartSec") + LONGEST_START_SECONDS)
    interval = number("StartLimitIntervalSec")
    if interval < needed:
        return [f"the limit on starts may never be reached: {needed} seconds do not fit into {interval}"]
    return []


def of_credentials(unit: str) -> list[str]:
    """Every secret reaches the service as a credential, since its user cannot read root's files."""
    loaded = dict(re.findall(r"^LoadCredential=([\w.-]+):(\S+)$", unit, re.MULTILINE))
    used = set(re.findall(r"%d/([\w.-]+)", unit))
    wrong = [f"{name} is used and not loaded" for name in sorted(used - set(loaded))]
    wrong += [f"{name} is loaded and not used" for name in sorted(set(loaded) - used)]
    settings = dict(re.findall(r"^Environment=(GARTH_\w+)=(\S+)$", unit, re.MULTILINE))
    for name in sorted(SECRET_SETTINGS):
        if not settings.get(name, "").startswith("%d/"):
            wrong.append(f"{name} is no credential")
    if "--config %d/" not in unit:
        wrong.append("the settings file is no credential")
    return wrong


def verified(unit: str, garth: pathlib.Path) -> list[str]:
    if not shutil.which("systemd-analyze"):
        print("deploy: systemd-analyze is not there, so garth.service is NOT verified")
        return []
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "garth.service"
        copy.write_text(unit.replace("/usr/local/bin/garth", str(garth)))
        words = ["systemd-analyze", "verify", "--man=no", copy]
        said = subprocess.run(words, capture_output=True, text=True)
    # It also complains of units of the machine that it runs on.
    return [line for line in said.stderr.splitlines() if "garth.service" in line]


def of_secrets(script: pathlib.Path, compose: dict) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(script, folder)
        run = lambda: subprocess.run([pathlib.Path(folder) / script.name], check=True, capture_output=True)
        made = pathlib.Path(folder) / "secrets"
        run()
        before = {file.name: file.read_text() for file in made.iterdir()}
        run()
        after = {file.name: file.read_text() for file in made.iterdir()}
        wanted = {pathlib.Path(secret["file"]).name for secret in compose["secrets"].values()}
        wrong = [f"it does not make {name}" for name in sorted(wanted - set(after))]
        if before != after:
            wrong.append("a second run changes secrets")
        if made.stat().st_mode & 0o077:
            wrong.append("others can enter the folder with the secrets")
        if not re.fullmatch(r"[0-9a-f]{64}", after.get("bootstrap-token", "")):
            wrong.append("the bootstrap token is not one that Garth takes")
        # A key that is replaced is replaced everywhere.
        (made / "s3-secret-key").unlink()
        run()
        keys = [(made / name).read_text() for name in ("s3-access-key", "s3-secret-key")]
        if keys[1] == after["s3-secret-key"] or (made / "s3-credentials").read_text().split() != keys:
            wrong.append("s3-credentials has old keys after a rotation")
        return [f"make-secrets: {text}" for text in wrong]
