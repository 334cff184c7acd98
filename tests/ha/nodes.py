"""The Garth hosts, each with a HAProxy for the database, and the HAProxy in front of them."""
import json
import pathlib
import subprocess

import databases
import http_json
import sandbox
from databases import GARTH_PASSWORD
from service import Service, clean_environment, variables, wait_until

HOSTS = tuple(f"node-{site}" for site in sandbox.SITES)
PROXY_URL = "http://proxy:8080"
START_SECONDS = 120
ACCOUNTS = 4
MANY = "1000000"


class Nodes:
    def __init__(self, binary: pathlib.Path, settings: pathlib.Path, folder: pathlib.Path, logs: pathlib.Path):
        self.binary, self.settings = binary, settings
        password = folder / "database-password"
        password.write_text(GARTH_PASSWORD)
        self.environment = variables((settings / "garth.env").read_text()) | {
            "GARTH_DATABASE_PASSWORD_FILE": str(password),
            "GARTH_QUOTA_VPCS_PER_REGION": MANY,
        }
        self.garth = {host: self._node(host, folder, logs) for host in HOSTS}
        self.database_proxy = {host: self._proxy(host, "database", logs) for host in HOSTS}
        self.proxy = self._proxy("proxy", "nodes", logs)
        self.tokens: list[str] = []

    def connect_directly(self) -> None:
        """Lists all databases in the URL, so that Garth itself finds the primary. Call it before the start."""
        url = self.environment["GARTH_DATABASE"].replace("127.0.0.1:5432", ",".join(databases.HOSTS))
        for variables_of_process in (self.environment, *(node.environment for node in self.garth.values())):
            variables_of_process["GARTH_DATABASE"] = url

    def start(self) -> None:
        for proxy in self.database_proxy.values():
            proxy.start()
        # A node exits if it cannot reach the primary at its start.
        for host in HOSTS:
            wait_until(lambda: self._reaches_primary(host), f"the primary from {host}", START_SECONDS)
        for node in self.garth.values():
            node.start()
        self.proxy.start()
        self.wait_until_ready()
        self.tokens = [self._create_account(number) for number in range(ACCOUNTS)]

    def is_ready(self, url: str) -> bool:
        return http_json.send("GET", f"{url}/readyz", timeout=3)[0] == 200

    def wait_for(self, host: str) -> None:
        wait_until(lambda: self.is_ready(f"http://{host}:8080"), host, START_SECONDS)

    def wait_until_ready(self) -> None:
        for host in HOSTS:
            self.wait_for(host)
        wait_until(lambda: self.is_ready(PROXY_URL), "the proxy", START_SECONDS)

    def check_store(self) -> tuple[bool, str]:
        """Runs `garth check`. Returns whether the store is sound, and the output."""
        result = self._command("check")
        return result.returncode == 0, (result.stdout + result.stderr).strip()

    def _reaches_primary(self, host: str) -> bool:
        """Whether several connections all lead to the primary. HAProxy uses all databases until its first checks."""
        return all(self._is_connected_to_primary(host) for _ in databases.HOSTS)

    def _is_connected_to_primary(self, host: str) -> bool:
        url = self.environment["GARTH_DATABASE"]
        sql = "SELECT pg_is_in_recovery()"
        environment = clean_environment() | {"PGPASSWORD": GARTH_PASSWORD, "PGCONNECT_TIMEOUT": "5"}
        command = sandbox.command_on(host, ["psql", url, "-XAtqc", sql])
        return subprocess.run(command, env=environment, capture_output=True, text=True).stdout.strip() == "f"

    def _create_account(self, number: int) -> str:
        """Creates an account with a user. Returns a token of the user."""
        name = f"load-{number}"
        email = f"{name}@example.com"
        account = self._json("account", "create", "--email", email)["id"]
        self._json("user", "create", "--account", str(account), "--username", name, "--email", email)
        return self._json("token", "create", "--user", name)["token"]

    def _json(self, *arguments: str) -> dict:
        result = self._command("--json", *arguments)
        assert result.returncode == 0, f"{' '.join(arguments)}: {result.stderr}"
        return json.loads(result.stdout)

    def _command(self, *arguments: str) -> subprocess.CompletedProcess:
        command = sandbox.command_on(HOSTS[0], [self.binary, *arguments])
        environment = clean_environment() | self.environment
        return subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False)

    def _node(self, host: str, folder: pathlib.Path, logs: pathlib.Path) -> Service:
        environment = self.environment | {"GARTH_DATA": str(folder / host), "GARTH_LOG": "warn,garth::store=info"}
        return Service(f"garth-{host}", host, [self.binary, "serve"], logs, environment=environment)

    def _proxy(self, host: str, config: str, logs: pathlib.Path) -> Service:
        file = self.settings / f"haproxy-{config}.cfg"
        return Service(f"haproxy-{host}", host, ["/usr/sbin/haproxy", "-db", "-f", file], logs)
