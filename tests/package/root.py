"""A minimal Debian system in a folder."""
import pathlib
import shutil
import subprocess

INCLUDED = "ca-certificates,curl,procps,systemd,systemd-sysv"


def prepare_base(cache: pathlib.Path) -> None:
    """Installs a minimal system of this machine's Debian release, once."""
    base = cache / "base"
    if base.exists():
        return
    mirror, release = debian_release()
    tool = unpack_debootstrap(cache)
    print(f"package: installing a minimal Debian {release} into {base}", flush=True)
    new = cache / "base.new"
    shutil.rmtree(new, ignore_errors=True)
    command = [tool / "usr/sbin/debootstrap", "--variant=minbase", f"--include={INCLUDED}", release, new, mirror]
    environment = {"DEBOOTSTRAP_DIR": tool / "usr/share/debootstrap", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    with (cache / "debootstrap.log").open("w") as log:
        subprocess.run(command, env=environment, stdout=log, stderr=log, check=True)
    new.rename(base)


def debian_release() -> tuple[str, str]:
    """The mirror and the name of the Debian release that this machine uses."""
    text = pathlib.Path("/etc/os-release").read_text()
    release = next(line.split("=")[1] for line in text.splitlines() if line.startswith("VERSION_CODENAME="))
    command = ["apt-get", "indextargets", "--format", "$(CODENAME) $(REPO_URI)"]
    targets = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    mirror = next(line.split()[1] for line in targets.splitlines() if line.split()[0] == release)
    return mirror, release


def unpack_debootstrap(cache: pathlib.Path) -> pathlib.Path:
    folder = cache / "debootstrap"
    if not (folder / "usr/sbin/debootstrap").exists():
        folder.mkdir(parents=True, exist_ok=True)
        print("package: unpacking debootstrap from Debian's packages", flush=True)
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        download = ["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", "debootstrap"]
        subprocess.run(download, cwd=folder, check=True)
        subprocess.run(["dpkg-deb", "--extract", next(folder.glob("*.deb")), folder], check=True)
    return folder


def run(root: pathlib.Path, *command: str) -> str:
    """Runs a command in a chroot of the system, and returns its output. A failure is an error that shows the output."""
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    command = ("chroot", root, *command)
    done = subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}"
    return done.stdout
