"""The database hosts: an etcd member, Patroni and PostgreSQL on each."""
import os
import pathlib
import re
import shutil
import subprocess

import http_json
import packages
import sandbox
from service import Service, clean_environment, kill_with_children, variables, wait_until

HOSTS = tuple(f"db-{site}" for site in sandbox.SITES)
PASSWORDS = {"superuser": "superuser-password", "replication": "replication-password", "restapi": "restapi-password"}
GARTH_PASSWORD = "garth-password"
# For each mode, the settings of Patroni that differ from patroni.yaml, and the resulting synchronous_standby_names.
REPLICATION_MODES = {
    "synchronous": ({}, r"\S"),
    "quorum": ({"synchronous_mode": "quorum"}, r"ANY 1 "),
    "asynchronous": ({"synchronous_mode": False, "synchronous_mode_strict": False}, r"$"),
}
SYNCHRONOUS_ROLES = ("sync_standby", "quorum_standby")
START_SECONDS = 180
SWITCHOVER_SECONDS = 120
# A failover needs up to `ttl` seconds, and a former primary has to be rewound.
RECOVERY_SECONDS = 240


class Databases:
    def __init__(self, settings: pathlib.Path, folder: pathlib.Path, logs: pathlib.Path, patroni: list):
        self.settings, self.folder, self.logs = settings, folder, logs
        self.patroni_command = patroni
        self.version = packages.postgres_version()
        self.programs = pathlib.Path(f"/usr/lib/postgresql/{self.version}/bin")
        self.etcd = {host: self._etcd(host) for host in HOSTS}
        self.patroni = {host: self._patroni(host) for host in HOSTS}

    def start(self) -> None:
        for member in self.etcd.values():
            member.start()
        for host in HOSTS:
            self.wait_for_etcd(host)
        for patroni in self.patroni.values():
            patroni.start()
        self.wait_until_healthy(START_SECONDS)

    def create_database(self) -> None:
        self.run_sql(f"CREATE ROLE garth LOGIN PASSWORD '{GARTH_PASSWORD}'")
        self.run_sql("CREATE DATABASE garth OWNER garth TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")

    def set_replication(self, mode: str) -> None:
        """Changes the mode of replication. In the asynchronous mode, a failover can lose acknowledged writes."""
        change, expected = REPLICATION_MODES[mode]
        if change:
            url = f"http://{self.primary()}:8008/config"
            status, _ = http_json.send("PATCH", url, change, password=self._restapi_user())
            assert status == 200, f"Patroni returned {status}"
        is_set = lambda: re.match(expected, self.run_sql("SHOW synchronous_standby_names"))
        wait_until(is_set, f"{mode} replication", START_SECONDS)
        self.wait_until_healthy()

    def wait_for_etcd(self, host: str) -> None:
        url = f"http://{host}:2379/health"
        wait_until(lambda: http_json.send("GET", url)[1] == {"health": "true"}, f"etcd on {host}", START_SECONDS)

    def members(self, hosts: tuple[str, ...] = HOSTS) -> list[dict]:
        """The members of the cluster, according to the first host that responds."""
        for host in hosts:
            status, cluster = http_json.send("GET", f"http://{host}:8008/cluster", timeout=3)
            if status == 200 and cluster:
                return cluster["members"]
        return []

    def primary(self, hosts: tuple[str, ...] = HOSTS) -> str | None:
        """The host that holds the leader key, if its server accepts writes."""
        leaders = [member["name"] for member in self.members(hosts) if member["role"] == "leader"]
        for host in leaders:
            if http_json.send("GET", f"http://{host}:8008/primary", timeout=3)[0] == 200:
                return host
        return None

    def synchronous_replica(self) -> str | None:
        found = [member["name"] for member in self.members() if member["role"] in SYNCHRONOUS_ROLES]
        return found[0] if found else None

    def is_healthy(self) -> bool:
        """All hosts run on one timeline, and the replicas have all writes."""
        members = self.members()
        is_current = all(
            member["state"] in ("running", "streaming") and member.get("lag", 0) == 0 for member in members
        )
        timelines = {member.get("timeline") for member in members}
        is_complete = is_current and len(members) == len(HOSTS) and len(timelines) == 1
        is_safe = self._is_asynchronous() or self.synchronous_replica() is not None
        return is_complete and is_safe and self.primary() is not None

    def wait_until_healthy(self, seconds: float = RECOVERY_SECONDS) -> None:
        try:
            wait_until(self.is_healthy, "three healthy databases", seconds)
        except TimeoutError as error:
            raise TimeoutError(f"{error}: {self.members()}") from None

    def switch_over(self) -> None:
        """Makes a replica the primary: the synchronous one, if there is one."""
        primary = self.primary()
        replicas = [member["name"] for member in self.members() if member["role"] != "leader"]
        candidate = self.synchronous_replica() or replicas[0]
        change = {"leader": primary, "candidate": candidate}
        url = f"http://{primary}:8008/switchover"
        status, answer = http_json.send("POST", url, change, password=self._restapi_user(), timeout=60)
        assert status == 200, f"the switchover returned {status} {answer}"
        wait_until(lambda: self.primary() == candidate, f"switchover to {candidate}", SWITCHOVER_SECONDS)

    def kill(self, host: str) -> None:
        """Kills Patroni and PostgreSQL, as a crash of the host would."""
        self.patroni[host].kill()
        kill_with_children(self._postmaster(host))

    def run_sql(self, sql: str) -> str:
        host = self.primary()
        command = [self.programs / "psql", "-h", host, "-U", "postgres", "-d", "postgres", "-XAtqc", sql]
        environment = clean_environment() | {"PGPASSWORD": PASSWORDS["superuser"], "PGCONNECT_TIMEOUT": "5"}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()

    def _is_asynchronous(self) -> bool:
        for host in HOSTS:
            status, config = http_json.send("GET", f"http://{host}:8008/config", timeout=3)
            if status == 200 and config:
                return not config.get("synchronous_mode")
        return False

    def _postmaster(self, host: str) -> int:
        file = self.folder / host / f"postgresql/{self.version}/main/postmaster.pid"
        return int(file.read_text().split("\n", 1)[0])

    def _etcd(self, host: str) -> Service:
        environment = variables(self._fill("etcd.env", host))
        binds = {self._data(host, "etcd", "etcd"): "/var/lib/etcd"}
        options = {"user": "etcd", "binds": binds, "environment": environment}
        return Service(f"etcd-{host}", host, ["etcd"], self.logs, **options)

    def _patroni(self, host: str) -> Service:
        config = self.folder / f"patroni-{host}.yaml"
        config.write_text(self._fill("patroni.yaml", host))
        binds = {
            self._data(host, "postgresql", "postgres"): "/var/lib/postgresql",
            self._data(host, "run", "postgres"): "/run/postgresql",
        }
        environment = {f"PATRONI_{name.upper()}_PASSWORD": password for name, password in PASSWORDS.items()}
        options = {"user": "postgres", "binds": binds, "environment": environment}
        return Service(f"patroni-{host}", host, [*self.patroni_command, config], self.logs, **options)

    def _fill(self, file: str, host: str) -> str:
        text = (self.settings / file).read_text()
        return text.replace("@HOST@", host).replace("@VERSION@", self.version)

    def _data(self, host: str, name: str, user: str) -> pathlib.Path:
        path = self.folder / host / name
        os.makedirs(path)
        shutil.chown(path, user, user)
        return path

    @staticmethod
    def _restapi_user() -> str:
        return f"patroni:{PASSWORDS['restapi']}"
