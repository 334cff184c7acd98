"""A Garth server for client tests, on either engine, and a client for its desk."""

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

# The ID of requests that a test sends itself, and not the client.
TEST_HEADERS = {"X-Request-Id": "sent-by-test"}

# The environment of a client: requests to the public service fail.
NO_NETWORK = {"HTTPS_PROXY": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}


class Database:
    """A fresh database on the server that `tests/postgres` started."""

    numbers = itertools.count()

    def __init__(self):
        self.server = os.environ["GARTH_TEST_DATABASE"]
        self.name = f"garth_clients_{os.getpid()}_{next(self.numbers)}"
        self.url = f"{self.server.rsplit('/', 1)[0]}/{self.name}"
        self.execute(f"CREATE DATABASE {self.name}")

    def execute(self, statement):
        program = f"{os.environ['GARTH_TEST_POSTGRES']}/psql"
        command = [program, "--quiet", "--no-psqlrc", "--dbname", self.server, "--command", statement]
        subprocess.run(command, check=True, capture_output=True, timeout=60)

    def drop(self):
        self.execute(f"DROP DATABASE {self.name}")


class Garth:
    """A server on a fresh store. The end of its `with` statement stops it."""

    # Additional arguments of all servers.
    arguments: list[str] = []

    def __init__(self, binary):
        self.binary = binary
        self.folder = tempfile.TemporaryDirectory(prefix="garth-clients-")
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("GARTH_")}
        self.env |= {"GARTH_BOOTSTRAP_TOKEN": TOKEN, "GARTH_DATA": f"{self.folder.name}/data"}
        self.database = Database() if os.environ.get("GARTH_TEST_ENGINE") == "postgres" else None
        if self.database:
            self.env["GARTH_DATABASE"] = self.database.url
        self.log = Path(self.folder.name) / "log"
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--log", "info", "--log-format", "json", *self.arguments]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, stderr=log, text=True)
        output = self.process.stdout.readline()
        assert output, f"the server did not start: {self.log.read_text()}"
        self.address = re.search(r"http://([\d.]+:\d+)", output)[1]
        self.root = f"http://{self.address}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        code = self.process.wait(30)
        self.process.stdout.close()
        self.requests = [line for line in map(json.loads, self.log.open()) if line["message"] == "request"]
        if self.database:
            self.database.drop()
        self.folder.cleanup()
        assert code == 0, f"the server exited with {code}"

    def called_operations(self, always_refused):
        """The operations that the client called successfully, or that are always refused. The server must have stopped."""
        failed = [request for request in self.requests if request["status"] >= 500]
        assert not failed, f"the server failed: {failed}"
        of_client = [request for request in self.requests if request["id"] != TEST_HEADERS["X-Request-Id"]]
        is_refused = lambda request: request["status"] == 400 and request["operation"] in always_refused
        return {request["operation"] for request in of_client if request["status"] < 400 or is_refused(request)}

    def command(self, *arguments, stdin=""):
        """Runs a command of the binary and returns its output."""
        result = subprocess.run(
            [self.binary, *arguments], env=self.env, input=stdin, capture_output=True, text=True, timeout=60
        )
        assert result.returncode == 0, f"garth {' '.join(arguments)}: {result.stderr}"
        return result.stdout.strip()

    def staff(self, username):
        """Creates a staff user and returns a token."""
        self.command("user", "create", "--staff", "--username", username, "--email", f"{username}@example.com")
        return self.command("token", "create", "--user", username, "--scopes", "desk:read_write hosts:read_write provider:read_write")

    def file(self, name, content):
        """A file that a client can upload."""
        path = Path(self.folder.name) / name
        path.write_bytes(content)
        return path


class Desk:
    """A client for the desk."""

    def __init__(self, garth, username="grace"):
        self.root = f"{garth.root}/v4/desk"
        self.session = requests.Session()
        self.session.headers.update({"Authorization": f"Bearer {garth.staff(username)}", **TEST_HEADERS})

    def get(self, path):
        return self.send("GET", path)

    def post(self, path, **body):
        return self.send("POST", path, body)

    def put(self, path, **body):
        return self.send("PUT", path, body)

    def send(self, method, path, body=None):
        response = self.session.request(method, f"{self.root}{path}", json=body, timeout=60)
        assert response.status_code == 200, f"{method} /desk{path}: {response.status_code} {response.text}"
        return response.json()

    def bytes(self, path):
        response = self.session.get(f"{self.root}{path}", timeout=60)
        assert response.status_code == 200, response.text
        return response.content
