"""A process on a host of the sandbox that can be stopped, killed and started again."""
import os
import pathlib
import signal
import subprocess
import time

import sandbox

STOP_SECONDS = 90


class Service:
    def __init__(self, name: str, host: str, arguments: list, logs: pathlib.Path, **options):
        self.name, self.host, self.arguments = name, host, arguments
        self.log = logs / f"{name}.log"
        self.user, self.binds = options.get("user"), options.get("binds")
        self.environment = clean_environment() | options.get("environment", {})
        self.process = None

    def start(self) -> None:
        command = sandbox.command_on(self.host, self.arguments, self.user, self.binds)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                env=self.environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # A Ctrl-C reaches only the script, which then ends the sandbox.
                start_new_session=True,
            )

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(STOP_SECONDS)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-2000:] if self.log.exists() else ""


def clean_environment() -> dict[str, str]:
    return {name: os.environ[name] for name in ("PATH", "LANG", "TERM") if name in os.environ}


def variables(file: str) -> dict[str, str]:
    """The variables of an environment file."""
    lines = [line for line in file.splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def kill_with_children(process: int) -> None:
    """Kills a process and its children, such as a PostgreSQL server and its sessions."""
    found = [process, *children_of(process)]
    for number in found:
        try:
            os.kill(number, signal.SIGKILL)
        except ProcessLookupError:
            pass


def children_of(parent: int) -> list[int]:
    children = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # The name of the program, in parentheses, can contain spaces.
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[1]) == parent:
                children.append(int(entry.name))
    return children


def wait_until(condition, name: str, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"{name}: not reached after {seconds:g} seconds")
        time.sleep(0.2)
