"""A Garth to drive clients against, on either engine; what it was asked; and its desk."""

import itertools
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

import requests

TOKEN = "c1" * 32
PASSWORD = "correct horse battery staple"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))

# The id of requests that a test sends by itself, beside the client it drives: they are not the client's.
OWN = {"X-Request-Id": "by-the-test-itself"}

# For a client's environment: what would leave for the public service over https goes nowhere instead.
NOWHERE = {"HTTPS_PROXY": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}


class Database:
    """A fresh database on the server that `tests/postgres` started."""

    numbers = itertools.count()

    def __init__(self):
        self.server = os.environ["GARTH_TEST_DATABASE"]
        self.name = f"garth_clients_{os.getpid()}_{next(self.numbers)}"
        self.url = f"{self.server.rsplit('/', 1)[0]}/{self.name}"
        self.order(f"CREATE DATABASE {self.name}")

    def order(self, statement):
        program = f"{os.environ['GARTH_TEST_POSTGRES']}/psql"
        command = [program, "--quiet", "--no-psqlrc", "--dbname", self.server, "--command", statement]
        subprocess.run(command, check=True, capture_output=True, timeout=60)

    def drop(self):
        self.order(f"DROP DATABASE {self.name}")


class Garth:
    """A server on a fresh store; leaving its `with` ends it, by its process id."""

    def __init__(self, binary):
        self.binary = binary
        self.folder = tempfile.TemporaryDirectory(prefix="garth-clients-")
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("GARTH_")}
        self.env |= {"GARTH_BOOTSTRAP_TOKEN": TOKEN, "GARTH_DATA": f"{self.folder.name}/data"}
        self.database = Database() if os.environ.get("GARTH_TEST_ENGINE") == "postgres" else None
        if self.database:
            self.env["GARTH_DATABASE"] = self.database.url
        self.log = Path(self.folder.name) / "log"
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--log", "info", "--log-format", "json"]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, stderr=log, text=True)
        said = self.process.stdout.readline()
        assert said, f"the server did not start: {self.log.read_text()}"
        self.address = re.search(r"http://([\d.]+:\d+)", said)[1]
        self.root = f"http://{self.address}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        ended = self.process.wait(30)
        self.process.stdout.close()
        self.requests = [line for line in map(json.loads, self.log.open()) if line["message"] == "request"]
        if self.database:
            self.database.drop()
        self.folder.cleanup()
        assert ended == 0, "the server did not end well"

    def driven(self):
        """The operations that the client asked for with success, once the server has ended."""
        broken = [request for request in self.requests if request["status"] >= 500]
        assert not broken, f"the server failed: {broken}"
        theirs = [request for request in self.requests if request["id"] != OWN["X-Request-Id"]]
        return {request["operation"] for request in theirs if request["status"] < 400}

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
        self.session.headers.update({"Authorization": f"Bearer {garth.staff(username)}", **OWN})

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
