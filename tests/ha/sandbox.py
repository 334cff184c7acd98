"""The sandbox: separate namespaces for processes, mounts and the network.

The kernel ends all processes of the sandbox and removes its networks when the script ends, even if it is killed. The
network has three sites. Each site has a database host and a Garth host, and one link to the core, where the proxy is:

    db-1, node-1 -- site-1 --+
    db-2, node-2 -- site-2 --+-- core -- proxy
    db-3, node-3 -- site-3 --+
"""
import os
import pathlib
import signal
import subprocess
import sys

FOLDER_VARIABLE = "GARTH_HA_FOLDER"
SITES = (1, 2, 3)
NETWORK = "10.0.0"
CORE = "core"
HOSTS = {
    **{f"db-{site}": (f"{NETWORK}.1{site}", f"site-{site}") for site in SITES},
    **{f"node-{site}": (f"{NETWORK}.2{site}", f"site-{site}") for site in SITES},
    "proxy": (f"{NETWORK}.30", CORE),
}
# Binds each pair of paths, then runs the command after `--`.
BIND_AND_RUN = 'while [ "$1" != -- ]; do mount --bind "$1" "$2"; shift 2; done; shift; exec "$@"'


def folder() -> pathlib.Path | None:
    """The folder of this run, if the script runs in the sandbox."""
    value = os.environ.get(FOLDER_VARIABLE)
    return pathlib.Path(value) if value else None


def run_script_inside(run_folder: pathlib.Path) -> int:
    """Runs this script again, in the sandbox. Returns its exit code."""
    # setpriv kills unshare when this process dies, and unshare then kills the sandbox.
    command = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
    command += ["--mount-proc", sys.executable, *sys.argv]
    return subprocess.call(command, env=os.environ | {FOLDER_VARIABLE: str(run_folder)})


def become_init() -> None:
    """Process 1 waits for all other processes, because Patroni takes one without a parent for a running server. Returns
    in the child."""
    child = os.fork()
    if child == 0:
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        ended, status = os.wait()
        if ended == child:
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def create_network(run_folder: pathlib.Path) -> None:
    """Creates the hosts, each with a network namespace, and their names."""
    _run("mount", "-t", "tmpfs", "tmpfs", "/srv")
    pathlib.Path("/srv/garth").mkdir()
    pathlib.Path("/run/netns").mkdir(exist_ok=True)
    _run("mount", "-t", "tmpfs", "tmpfs", "/run/netns")
    names = run_folder / "hosts"
    lines = [f"{address} {host}" for host, (address, _) in HOSTS.items()]
    names.write_text("\n".join(["127.0.0.1 localhost", *lines, ""]))
    bind(names, "/etc/hosts")
    _ip("link set lo up")
    _add_bridge(CORE)
    _ip(f"addr add {NETWORK}.1/24 dev {CORE}")
    for site in SITES:
        _add_bridge(f"site-{site}")
        _ip(f"link add up-{site} type veth peer name down-{site}")
        _ip(f"link set up-{site} master {CORE} up")
        _ip(f"link set down-{site} master site-{site} up")
    for host, (address, bridge) in HOSTS.items():
        _ip(f"netns add {host}")
        _ip(f"link add {host} type veth peer name eth0 netns {host}")
        _ip(f"link set {host} master {bridge} up")
        _ip(f"-n {host} addr add {address}/24 dev eth0")
        _ip(f"-n {host} link set eth0 up")
        _ip(f"-n {host} link set lo up")


def bind(source: pathlib.Path, target) -> None:
    """Makes a file or folder visible at another path, inside the sandbox only."""
    _run("mount", "--bind", str(source), str(target))


def cut_off_site(site: int) -> None:
    """Cuts the link between a site and the core. The hosts of the site still reach each other."""
    _ip(f"link set up-{site} down")


def reconnect_site(site: int) -> None:
    _ip(f"link set up-{site} up")


def command_on(host: str, arguments: list, user: str | None = None, binds: dict | None = None) -> list[str]:
    """A command on a host. The process that runs it has the ID of the process that is started."""
    paths = [str(path) for pair in (binds or {}).items() for path in pair]
    as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"] if user else []
    inside = ["sh", "-c", BIND_AND_RUN, "sh", *paths, "--", *as_user, *map(str, arguments)]
    return ["ip", "netns", "exec", host, *inside]


def _add_bridge(name: str) -> None:
    _ip(f"link add {name} type bridge")
    _ip(f"link set {name} up")


def _ip(arguments: str) -> None:
    _run("ip", *arguments.split())


def _run(*command: str) -> None:
    subprocess.run(command, check=True)
