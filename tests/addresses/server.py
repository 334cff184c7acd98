"""A server on a fresh store, and a client with a keep-alive connection."""
import http.client
import json
import os
import re
import subprocess
import tempfile

TOKEN = "a1" * 32
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}


class Server:
    """The end of its `with` statement stops it."""

    def __init__(self, binary, pool, retention_hours):
        self.binary = binary
        self.folder = tempfile.TemporaryDirectory(prefix="garth-addresses-")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("GARTH_")}
        self.environment |= {
            "GARTH_BOOTSTRAP_TOKEN": TOKEN,
            "GARTH_DATA": f"{self.folder.name}/data",
            "GARTH_NETWORK_IPV6_POOL": pool,
            "GARTH_NETWORK_IPV6_RETENTION_HOURS": str(retention_hours),
        }

    def __enter__(self):
        command = [self.binary, "serve", "--listen", "127.0.0.1:0", "--log", "error"]
        self.process = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True)
        address = re.search(r"http://([\d.]+):(\d+)", self.process.stdout.readline())
        assert address, "the server did not start"
        self.client = Client(address[1], int(address[2]))
        return self

    def __exit__(self, *_):
        self.client.connection.close()
        self.process.terminate()
        self.process.wait(30)
        self.process.stdout.close()
        self.folder.cleanup()

    def check(self):
        """Runs `garth check`."""
        command = [self.binary, "check"]
        result = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=300)
        assert result.returncode == 0, f"garth check: {result.stdout}{result.stderr}"


class Client:
    def __init__(self, host, port):
        self.connection = http.client.HTTPConnection(host, port, timeout=60)

    def send(self, method, path, body=None):
        """The status and the body of the response."""
        data = None if body is None else json.dumps(body)
        self.connection.request(method, f"/v4{path}", data, HEADERS)
        reply = self.connection.getresponse()
        return reply.status, json.loads(reply.read())

    def get(self, path):
        status, body = self.send("GET", path)
        assert status == 200, f"{path}: {status} {body}"
        return body

    def pages(self, path):
        """The items of all pages of a list."""
        number, pages = 1, 1
        while number <= pages:
            page = self.get(f"{path}?page={number}&page_size=500")
            yield from page["data"]
            number, pages = number + 1, page["pages"]
