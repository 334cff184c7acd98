"""A Garth server with LMTP, and the addresses of its tickets."""
import hashlib
import hmac
import http.client
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from free_port import free_port

ADDRESS = "support@desk.example.net"
AUTHSERV_ID = "mx.example.net"


class Desk:
    """The end of its `with` statement stops it."""

    def __init__(self, binary):
        self.binary = os.path.abspath(binary)
        self.folder = tempfile.TemporaryDirectory(prefix="garth-desk-")
        self.lmtp_port = free_port()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("GARTH_")}
        self.environment |= {
            "GARTH_BOOTSTRAP_TOKEN": "a1" * 32,
            "GARTH_DATA": f"{self.folder.name}/data",
            "GARTH_MAIL_REPLY_ADDRESS": ADDRESS,
            "GARTH_MAIL_AUTHSERV_ID": AUTHSERV_ID,
            "GARTH_MAIL_LMTP_LISTEN": f"127.0.0.1:{self.lmtp_port}",
        }
        self.users = {}

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()

    def start(self):
        command = [self.binary, "serve", "--listen", "127.0.0.1:0", "--log", "warn"]
        self.process = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True)
        address = re.search(r"http://([\d.]+):(\d+)", self.process.stdout.readline())
        assert address, "the server did not start"
        self.host, self.port = address[1], int(address[2])

    def stop(self):
        self.process.terminate()
        self.process.wait(60)
        self.process.stdout.close()

    def run(self, *arguments):
        """The JSON that a command prints."""
        command = [self.binary, "--json", *arguments]
        result = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=300)
        assert result.returncode == 0, f"{arguments}: {result.stdout}{result.stderr}"
        return json.loads(result.stdout) if result.stdout.strip() else None

    def add_user(self, email):
        """Creates a user with this address. Returns the user's token."""
        if email not in self.users:
            name = re.sub(r"[^a-z0-9]+", "-", email.split("@")[0]) + str(len(self.users))
            self.run("user", "create", "--account", "1", "--username", name, "--email", email)
            token = self.run("token", "create", "--user", name)["token"]
            number = self.query("SELECT id FROM app_user WHERE username = ?", name)
            self.users[email] = (number, token)
        return self.users[email][1]

    def send(self, token, method, path, body=None):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request(method, f"/v4{path}", None if body is None else json.dumps(body), headers)
        reply = connection.getresponse()
        status, text = reply.status, reply.read()
        connection.close()
        assert status == 200, f"{method} {path}: {status} {text}"
        return json.loads(text)

    def query(self, sql, *values):
        database = sqlite3.connect(f"file:{self.folder.name}/data/garth.db?mode=ro", uri=True)
        try:
            row = database.execute(sql, values).fetchone()
        finally:
            database.close()
        return row[0] if row else None

    def reply_address(self, ticket, email):
        """The signed address of a user for a ticket, computed here a second time (docs/decisions/0032-mail.md)."""
        key = self.query("SELECT value FROM server_secret WHERE name = 'reply_address'")
        text = f"{ticket}-{self.users[email][0]}"
        signature = hmac.new(key.encode(), b"reply address " + text.encode(), hashlib.sha256).hexdigest()[:24]
        local, domain = ADDRESS.split("@")
        return f"{local}+{text}-{signature}@{domain}"
