"""Installs the packages that the test needs, without starting their services.

All are from Debian, except Patroni. Debian 12 has Patroni 3.0.2, which does not survive a partition: it overwrites the
leader key of another host when the partition ends (fixed in 3.0.3 by https://github.com/patroni/patroni/pull/2689).
"""
import contextlib
import os
import pathlib
import subprocess

PATRONI = ("patroni[etcd3]==4.1.5", "psycopg[binary]==3.3.8")
DEBIAN_PATRONI = "patroni"
# The interpreter must be readable for the user postgres.
PYTHON = "/usr/bin/python3"
PACKAGES = {
    "postgresql": "/usr/share/postgresql-common",
    "etcd-server": "/usr/bin/etcd",
    "haproxy": "/usr/sbin/haproxy",
    "iproute2": "/usr/sbin/ip",
    "python3-venv": "/usr/share/doc/python3-venv",
}
# A package starts a service only if this program permits it: 101 means no.
POLICY = pathlib.Path("/usr/sbin/policy-rc.d")
SERVICES = {"postgresql": "postgresql", "patroni": "patroni", "etcd-server": "etcd", "haproxy": "haproxy"}


def install_missing(debian_patroni: bool) -> None:
    wanted = PACKAGES | ({DEBIAN_PATRONI: "/usr/bin/patroni"} if debian_patroni else {})
    missing = [name for name, file in wanted.items() if not os.path.exists(file)]
    if missing:
        install(missing)


def install(missing: list[str]) -> None:
    print(f"installing {', '.join(missing)} from Debian's packages", flush=True)
    with services_not_started():
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing]
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    if os.path.isdir("/run/systemd/system"):
        services = [SERVICES[name] for name in missing if name in SERVICES]
        subprocess.run(["systemctl", "disable", "--quiet", *services], check=False)


def install_patroni(folder: pathlib.Path) -> None:
    """Installs Patroni from Python's registry into a folder."""
    marker = folder / "wanted"
    if marker.exists() and marker.read_text() == str(PATRONI):
        return
    print(f"installing {' and '.join(PATRONI)} from Python's registry", flush=True)
    subprocess.run([PYTHON, "-m", "venv", "--clear", folder], check=True)
    pip = [folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *PATRONI], check=True)
    marker.write_text(str(PATRONI))


@contextlib.contextmanager
def services_not_started():
    if POLICY.exists():
        # The machine has its own policy, as most container images do.
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink()


def postgres_version() -> str:
    """The newest major version of PostgreSQL that is installed."""
    found = pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb")
    versions = sorted((path.parts[-3] for path in found), key=int)
    if not versions:
        raise SystemExit("PostgreSQL is not installed: /usr/lib/postgresql has no initdb")
    return versions[-1]


def versions(debian_patroni: bool) -> dict[str, str]:
    names = [*PACKAGES, *([DEBIAN_PATRONI] if debian_patroni else [])]
    command = ["dpkg-query", "--show", "--showformat=${Package} ${Version}\n", *names]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    found = dict(line.split(" ", 1) for line in result.stdout.splitlines())
    return found if debian_patroni else found | {"patroni": PATRONI[0]}
