"""A Garth to drive clients against, and its desk."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

import requests

TOKEN = "c1" * 32
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


class Garth:
    """A server on a fresh store; leaving its `with` ends it, by its process id."""

    def __init__(self, binary):
        self.binary = binary
        self.folder = tempfile.TemporaryDirectory(prefix="garth-clients-")
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("GARTH_")}
        self.env |= {"GARTH_BOOTSTRAP_TOKEN": TOKEN, "GARTH_DATA": f"{self.folder.name}/data"}
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--log", "warn"]
        self.process = subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, text=True)
        said = self.process.stdout.readline()
        self.address = re.search(r"http://([\d.]+:\d+)", said)[1]
        self.root = f"http://{self.address}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(30) == 0, "the server did not end well"
        self.folder.cleanup()

    def command(self, *words, stdin=""):
        """What a command of the binary prints, beside the running server."""
        ran = subprocess.run(
            [self.binary, *words], env=self.env, input=stdin, capture_output=True, text=True, timeout=60
        )
        assert ran.returncode == 0, f"garth {' '.join(words)}: {ran.stderr}"
        return ran.stdout.strip()

    def staff(self, username):
        """The token of a new member of the staff."""
        self.command("user", "create", "--staff", "--username", username, "--email", f"{username}@example.com")
        return self.command("token", "create", "--user", username, "--scopes", "desk:read_write")

    def file(self, name, content):
        """A file that a client can upload."""
        path = Path(self.folder.name) / name
        path.write_bytes(content)
        return path


class Desk:
    """The desk, as one of the staff works at it."""

    def __init__(self, garth, username="grace"):
        self.root = f"{garth.root}/v4/desk"
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {garth.staff(username)}"

    def get(self, path):
        return self.ask("GET", path)

    def post(self, path, **body):
        return self.ask("POST", path, body)

    def put(self, path, **body):
        return self.ask("PUT", path, body)

    def ask(self, method, path, body=None):
        answer = self.session.request(method, f"{self.root}{path}", json=body, timeout=60)
        assert answer.status_code == 200, f"{method} /desk{path}: {answer.status_code} {answer.text}"
        return answer.json()

    def bytes(self, path):
        answer = self.session.get(f"{self.root}{path}", timeout=60)
        assert answer.status_code == 200, answer.text
        return answer.content
