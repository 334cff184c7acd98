"""A Garth server that receives mail by LMTP and sends mail by SMTP, and the signed addresses of its tickets."""
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

    def __init__(self, binary, smtp_port):
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
            "GARTH_MAIL_SMTP_URL": f"smtp://127.0.0.1:{smtp_port}",
            "GARTH_MAIL_FROM": ADDRESS,
            "GARTH_PUBLIC_URL": "https://garth.example.net",
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

    def add_staff(self, email):
        """Creates a member of staff. Returns the token."""
        self.run("user", "create", "--staff", "--role", "support", "--username", "grace", "--email", email)
        return self.run("token", "create", "--user", "grace")["token"]

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

    # The signed addresses are computed here a second time (docs/decisions/0032-mail.md).

    def reply_address(self, ticket, email):
        """The address of a user for a ticket."""
        text = f"{ticket}-{self.users[email][0]}"
        return self.signed_address(f"{text}-{self.signature('reply address', text)}")

    def bounce_address(self, mail):
        """The address for reports on a mail."""
        return self.signed_address(f"b-{mail}-{self.signature('bounce address', str(mail))}")

    def signed_address(self, extension):
        local, domain = ADDRESS.split("@")
        return f"{local}+{extension}@{domain}"

    def signature(self, purpose, text):
        key = self.query("SELECT value FROM server_secret WHERE name = 'reply_address'")
        return hmac.new(key.encode(), f"{purpose} {text}".encode(), hashlib.sha256).hexdigest()[:24]
