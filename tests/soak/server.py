"""A server in a temporary folder."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

TOKEN = "0123456789abcdef" * 4
PASSWORD = "correct horse battery staple"
FILES_PER_TICKET = 5
START_SECONDS = 60
STOP_SECONDS = 45


class Server:
    def __init__(self, binary: pathlib.Path, engine: str):
        self.binary, self.engine = binary, engine
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="garth-soak-"))
        self.log = self.folder / "log"
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GARTH_")}
        self.environment = clean | {
            "GARTH_BOOTSTRAP_TOKEN": TOKEN,
            "GARTH_LISTEN": "127.0.0.1:0",
            "GARTH_METRICS_LISTEN": "127.0.0.1:0",
            "GARTH_LOG": "warn",
            "GARTH_ATTACHMENTS_MAX_PER_TICKET": str(FILES_PER_TICKET),
        }
        if engine == "postgres":
            self.environment["GARTH_DATABASE"] = os.environ["GARTH_TEST_DATABASE"]
            # The spool is in this folder. Commands find the store by its database.
            self.serve = ["serve", "--attachments", str(self.folder / "attachments")]
        else:
            self.environment["GARTH_DATA"] = str(self.folder / "data")
            self.serve = ["serve"]

    def __enter__(self) -> "Server":
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [self.binary, *self.serve],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.address = self._wait()
        self.garth("user", "password", "admin", "--password-stdin", stdin=PASSWORD)
        return self

    def __exit__(self, *_) -> None:
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            print(f"the server did not stop within {STOP_SECONDS} seconds")
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def garth(self, *arguments: str, stdin: str = "") -> str:
        """Runs a command while the server runs."""
        command = [self.binary, *arguments]
        result = subprocess.run(
            command, cwd=self.folder, env=self.environment, input=stdin, capture_output=True, text=True, check=True
        )
        return result.stdout

    def store_bytes(self) -> int:
        file = self.folder / "data/garth.db"
        return file.stat().st_size if file.exists() else 0

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-3000:]

    def _wait(self) -> tuple[str, int]:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            found = re.search(r"listening on http://([\d.]+):(\d+) ", self.log.read_text(errors="replace"))
            if found:
                return found[1], int(found[2])
            time.sleep(0.05)
        self.process.kill()
        raise SystemExit(f"the server did not start:\n{self.tail()}")
