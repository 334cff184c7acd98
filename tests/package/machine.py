"""A Debian system with systemd as its first process, in namespaces of this machine."""
import os
import pathlib
import subprocess
import time

BOOT_SECONDS = 60
BOOT = pathlib.Path(__file__).resolve().parent / "boot"
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
# Removes the control groups of a machine that has ended.
REMOVE_GROUP = """
mount --make-rprivate / && mount -t cgroup2 cgroup2 /mnt && [ -d "/mnt/$1" ] && find "/mnt/$1" -depth -type d -exec rmdir {} +
"""


class Machine:
    """Use it in a `with` statement: it boots at the beginning, and all of its processes and files end with it."""

    def __init__(self, base: pathlib.Path) -> None:
        self.group = f"garth-package-{os.getpid()}"
        self.process = subprocess.Popen(["unshare", "--mount", BOOT, base, self.group], stdin=subprocess.DEVNULL)
        self.first = 0

    def __enter__(self) -> "Machine":
        wait_until(self.has_booted, BOOT_SECONDS, "systemd has not booted")
        return self

    def __exit__(self, *_: object) -> None:
        # Ends the first process too, and with it all others.
        self.process.kill()
        self.process.wait()
        command = ["unshare", "--mount", "sh", "-c", REMOVE_GROUP, "sh", self.group]
        wait_until(lambda: subprocess.call(command, stderr=subprocess.DEVNULL) == 0, 10, "a control group remains")

    def has_booted(self) -> bool:
        assert self.process.poll() is None, "the machine does not start; it needs root, namespaces and control groups (v2)"
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        if not children or pathlib.Path(f"/proc/{children[0]}/comm").read_text().strip() != "systemd":
            return False
        self.first = int(children[0])
        return self.call("systemctl", "is-system-running").stdout.strip() == "running"

    def path(self, path: str) -> pathlib.Path:
        """A file of the machine, as a path on this machine."""
        return pathlib.Path(f"/proc/{self.first}/root") / path.lstrip("/")

    def call(self, *command: str) -> subprocess.CompletedProcess:
        enter = self.enter(*command)
        return subprocess.run(enter, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def start(self, *command: str) -> subprocess.Popen:
        """Starts a command in the machine. It ends with the machine at the latest."""
        return subprocess.Popen(self.enter(*command), env=ENVIRONMENT, text=True, stdout=subprocess.PIPE)

    def enter(self, *command: str) -> list[str]:
        enter = ["nsenter", f"--target={self.first}", "--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup"]
        return [*enter, "--root", "--wdns=/", *command]

    def run(self, *command: str) -> str:
        """Runs a command in the machine, and returns its output. A failure is an error that shows the output."""
        done = self.call(*command)
        assert done.returncode == 0, f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}"
        return done.stdout


def wait_until(condition, seconds: float, problem: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{problem} after {seconds} seconds"
        time.sleep(0.1)
