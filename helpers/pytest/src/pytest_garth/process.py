"""Starts a server on a free port, with a temporary store."""

from __future__ import annotations

import os
import re
import secrets
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Sequence

from .connection import GarthError
from .server import Server, connect

OLDEST_VERSION = "0.2.0"
START_TIMEOUT_SECONDS = 60
# Runs the server until standard input ends: when the server is stopped, or when the process of the tests ends for any
# reason, even a SIGKILL. The store is temporary, so the server does not have to shut down in an orderly way.
SUPERVISOR = """
trap '' INT HUP
folder=$1
shift
"$@" </dev/null &
server=$!
exec >/dev/null 2>&1
read -r _
kill -KILL $server
wait $server
rm -rf -- "$folder"
"""


def start(binary: str | None = None, arguments: Sequence[str] = ()) -> Server:
    """Starts `garth serve --test-control` with these additional arguments.

    The binary is that of the argument, of the environment variable GARTH_BINARY, or `garth` on the PATH. Settings in
    other environment variables that begin with GARTH_ do not affect the server.
    """
    program = find_binary(binary)
    folder = Path(tempfile.mkdtemp(prefix="garth-test-"))
    token = secrets.token_hex(32)
    env = {name: value for name, value in os.environ.items() if not name.startswith("GARTH_")}
    env["GARTH_BOOTSTRAP_TOKEN"] = token
    command = [program, "serve", "--test-control", "--listen", "127.0.0.1:0", "--data", str(folder / "data")]
    command += ["--log", "warn", *arguments]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            ["/bin/sh", "-c", SUPERVISOR, "garth-supervisor", str(folder), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=env,
        )

    def stop() -> None:
        if not process.stdin.closed:
            process.stdin.close()
            process.wait()
            process.stdout.close()

    try:
        server = connect(read_address(process.stdout, program, folder / "log"), token)
    except BaseException:
        stop()
        raise
    server._stop = stop
    return server


def find_binary(binary: str | None) -> str:
    """The path of the binary. The error names the places that were searched."""
    chosen = binary or os.environ.get("GARTH_BINARY")
    if chosen:
        found = shutil.which(chosen)
        if not found:
            raise GarthError(f"there is no program {chosen}; set --garth-binary or GARTH_BINARY to the path of garth")
        return os.path.abspath(found)
    found = shutil.which("garth")
    if not found:
        raise GarthError("garth is not on the PATH; install it, or set --garth-binary or GARTH_BINARY to its path")
    return os.path.abspath(found)


def read_address(output, program: str, log: Path) -> str:
    """The URL in the first line that the server prints."""
    line, deadline = b"", time.monotonic() + START_TIMEOUT_SECONDS
    while not line.endswith(b"\n"):
        if not select.select([output], [], [], max(0, deadline - time.monotonic()))[0]:
            raise GarthError(f"{program} did not start within {START_TIMEOUT_SECONDS} seconds: {end_of(log)}")
        part = os.read(output.fileno(), 4096)
        if not part:
            raise GarthError(failure(program, log))
        line += part.split(b"\n")[0] + (b"\n" if b"\n" in part else b"")
    found = re.search(rb"http://[^ ]+", line)
    if not found:
        raise GarthError(f"{program} is not Garth {OLDEST_VERSION} or later; it printed {line.decode(errors='replace')!r}")
    return found[0].decode()


def failure(program: str, log: Path) -> str:
    """The reason why a server ended before it was ready."""
    text = end_of(log)
    if "unexpected argument '--test-control'" in text:
        return f"{program} has no option --test-control; install Garth {OLDEST_VERSION} or later"
    return f"{program} did not start: {text or 'it printed nothing'}"


def end_of(log: Path) -> str:
    return log.read_text(errors="replace")[-2000:].strip()
