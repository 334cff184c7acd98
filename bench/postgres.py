"""A temporary PostgreSQL, the statements that Garth sends to it, and pgbench with the same statements."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections import namedtuple
from pathlib import Path
from urllib.parse import quote

from load import Sample
from machine import START_SECONDS, STOP_SECONDS, BenchmarkError, cpu_seconds

USER = "garth"
# The session settings of Garth: src/store/postgres/address.rs.
SESSION = {
    "statement_timeout": "15s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "30s",
    "enable_seqscan": "off",
    "jit": "off",
}
# A statement of a session: simple, or prepared with arguments. `line` is its line in the log.
Statement = namedtuple("Statement", "sql arguments simple line")


class Postgres:
    """A server with its own folder, new or reused. The end of its `with` statement stops it."""

    def __init__(self, folder, reuse=False):
        self.programs = find_programs()
        # The server refuses to run as root. Debian's package creates a user for it.
        self._user = []
        if os.geteuid() == 0:
            self._user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]
        self.port = free_port()
        self.folder = folder / "data"
        if not reuse:
            folder.mkdir()
            self._allow_access(folder)
            initdb = ["initdb", "--pgdata", self.folder, "--auth=trust", f"--username={USER}"]
            self._run([*self._user, *self._program(initdb), "--locale=C", "--encoding=UTF8"])
        settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            # A commit is on the disk when it is acknowledged.
            "fsync": "on",
            "synchronous_commit": "on",
            "full_page_writes": "on",
            "logging_collector": "on",
            "log_destination": "jsonlog",
            "log_filename": "server.log",
        }
        command = ["postgres", "-D", self.folder, "-p", str(self.port)]
        command += [word for setting in settings.items() for word in ("-c", "=".join(setting))]
        with open(folder / "log", "wb") as out:
            streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": out}
            self.process = subprocess.Popen([*self._user, *self._program(command)], cwd=folder, **streams)
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        # Fast shutdown: it disconnects all sessions.
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()

    def url(self, name, **settings):
        options = " ".join(f"-c {setting}={value}" for setting, value in settings.items())
        url = f"postgres://{USER}@127.0.0.1:{self.port}/{name}"
        return f"{url}?options={quote(options)}" if options else url

    def create_database(self, name, like="template0"):
        self.query("postgres", f"CREATE DATABASE {name} TEMPLATE {like}")

    def drop_database(self, name):
        self.query("postgres", f"DROP DATABASE {name} WITH (FORCE)")

    def query(self, name, sql):
        return self._run(self._program(["psql", "-XAtq", "-c", sql]), name).strip()

    def cpu_seconds(self):
        """User and system time of all its processes so far, including exited ones."""
        # The time of an exited session is added to its parent with a delay.
        time.sleep(0.2)
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        server = cpu_seconds(self.process.pid, with_exited_children=True)
        return server + sum(cpu_seconds(int(child)) for child in children)

    def statements(self, name):
        """The logged statements of each session on a database, as lists."""
        sessions = {}
        log = (self.folder / "log" / "server.json").read_text()
        # The last line may be incomplete.
        for number, line in enumerate(log.split("\n")[:-1]):
            entry = json.loads(line)
            found = re.match(r"(statement|execute \w+): (.*)", entry.get("message", ""), re.DOTALL)
            if entry.get("dbname") == name and found:
                arguments = re.findall(r"\$\d+ = (NULL|'(?:[^']|'')*')", entry.get("detail", ""))
                arguments = [None if value == "NULL" else value[1:-1] for value in arguments]
                statement = Statement(found[2], arguments, found[1] == "statement", number)
                sessions.setdefault(entry["session_id"], []).append(statement)
        return sessions.values()

    def pgbench(self, name, script, connections, seconds):
        """Runs pgbench for some seconds. All transactions must succeed."""
        file = self.folder.parent / "script.sql"
        file.write_text(script.text)
        command = ["pgbench", "--no-vacuum", "--protocol=prepared", "--max-tries=0", f"--file={file}"]
        command += [f"--client={connections}", f"--jobs={os.cpu_count()}", f"--time={seconds}"]
        command += [word for constant in script.constants.items() for word in ("-D", "=".join(constant))]
        options = " ".join(f"-c {setting}={value}" for setting, value in SESSION.items())
        before, children_before = self.cpu_seconds(), os.times()
        output = self._run(self._program(command), name, {"PGOPTIONS": options})
        children_after, after = os.times(), self.cpu_seconds()

        failed = int(re.search(r"number of failed transactions: (\d+)", output)[1])
        done = int(re.search(r"number of transactions actually processed: (\d+)", output)[1])
        if failed or not done:
            raise BenchmarkError(f"pgbench had failed transactions:\n{output}")
        retries = int(re.search(r"total number of retries: (\d+)", output)[1])
        # pgbench is the only child process that has exited in between.
        cpu = children_after.children_user + children_after.children_system
        cpu -= children_before.children_user + children_before.children_system
        throughput = float(re.search(r"^tps = ([\d.]+)", output, re.MULTILINE)[1])
        return Sample(throughput, cpu * 1e6 / done, done, (after - before) * 1e6 / done, retries / done)

    def _program(self, command):
        return [self.programs / command[0], *command[1:]]

    def _run(self, command, name="postgres", env=None):
        connection = {"PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGUSER": USER, "PGDATABASE": name}
        run = subprocess.run(
            command, env={**os.environ, **connection, **(env or {})}, capture_output=True, text=True, cwd="/"
        )
        if run.returncode != 0:
            raise BenchmarkError(f"{' '.join(map(str, command))} failed:\n{run.stdout}{run.stderr}")
        return run.stdout

    def _allow_access(self, folder):
        if not self._user:
            return
        shutil.chown(folder, "postgres", "postgres")
        folder.parent.chmod(0o711)
        if subprocess.run([*self._user, "test", "-w", folder]).returncode != 0:
            raise BenchmarkError(f"the user postgres cannot write to {folder}: set CARGO_TARGET_DIR")

    def _wait_until_ready(self):
        deadline = time.monotonic() + START_SECONDS
        ready = [*self._program(["pg_isready"]), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        while subprocess.run(ready).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                output = (self.folder.parent / "log").read_text(errors="replace")
                raise BenchmarkError(f"PostgreSQL did not start. Its output:\n{output}")
            time.sleep(0.05)


class Script:
    """A transaction of Garth as a script for pgbench.

    `known` maps the variable values to the names of pgbench's variables. `head` has the commands that set
    them before each transaction.
    """

    def __init__(self, statements, known, head=""):
        self._known = known
        self.constants = {}
        sent = [(self._translate(statement), statement.simple) for statement in statements]
        first = next(at for at, (_, simple) in enumerate(sent) if not simple)
        last = max(at for at, (_, simple) in enumerate(sent) if not simple)
        lines = [head] if head else []
        # The lock must be held before the transaction begins. pgbench before version 17 can only ensure that by
        # waiting for the response.
        locks = [command for command, _ in sent[:first] if "lock" in command]
        begin = [command for command, _ in sent[:first] if "lock" not in command]
        lines += locks
        # Garth pipelines BEGIN with the first statement, and all statements of the end.
        lines += pipelined([*begin, sent[first][0]])
        lines += [command for command, _ in sent[first + 1 : last + 1]]
        lines += pipelined([command for command, _ in sent[last + 1 :]])
        self.text = "\n".join(lines) + "\n"

    def _translate(self, statement):
        sql = re.sub(r"\s+", " ", statement.sql).strip()
        if statement.simple:
            lock = re.search(r"pg_advisory_lock\((\d+)\)", sql)
            sql = sql.replace(lock[1], ":lock") if lock else sql
            return re.sub(r"; ?", ";\n", sql) + ";"
        sql = re.sub(r"\$(\d+)", lambda found: self._argument(statement.arguments[int(found[1]) - 1]), sql)
        table = re.match(r"INSERT INTO (\w+) .* RETURNING id$", sql)
        return f"{sql}\n\\gset {table[1]}_" if table else f"{sql};"

    def _argument(self, value):
        # pgbench variables cannot hold these values.
        if value is None or value == "":
            return "NULL" if value is None else "''"
        if value in self._known:
            return f":{self._known[value]}"
        for name, constant in self.constants.items():
            if constant == value:
                return f":{name}"
        name = f"c{len(self.constants) + 1}"
        self.constants[name] = value
        return f":{name}"


def pipelined(commands):
    commands = [command for command in commands if command]
    if len(commands) == 1 and "\n" not in commands[0]:
        return commands
    return ["\\startpipeline", *commands, "\\endpipeline"]


def captured(postgres, name, marker):
    """The last transaction on a database with this argument, including its lock and unlock."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        marked = [
            (statement.line, at, statements)
            for statements in postgres.statements(name)
            for at, statement in enumerate(statements)
            if marker in statement.arguments
        ]
        if marked:
            _, begin, statements = max(marked, key=lambda found: found[0])
            end = begin
            while not statements[begin].simple or statements[begin - 1].sql.startswith("SELECT pg_advisory_lock"):
                begin -= 1
            while end < len(statements) and not re.search(r"COMMIT|ROLLBACK", statements[end].sql):
                end += 1
            if end + 1 < len(statements) and "unlock" in statements[end + 1].sql:
                end += 1
            if end < len(statements):
                return statements[begin : end + 1]
        time.sleep(0.1)
    raise BenchmarkError(f"PostgreSQL's log has no transaction with {marker}")


def find_programs():
    def newest():
        found = Path("/usr/lib/postgresql").glob("*/bin/pgbench")
        return max((file.parent for file in found), key=lambda folder: int(folder.parent.name), default=None)

    programs = newest()
    if programs or os.geteuid() != 0 or not shutil.which("apt-get"):
        if not programs:
            raise BenchmarkError("PostgreSQL is not installed: install it (Debian: apt-get install postgresql)")
        return programs
    print("PostgreSQL is not installed: installing it with apt-get", flush=True)
    for command in (["update", "--quiet"], ["install", "--yes", "--quiet", "postgresql"]):
        subprocess.run(["apt-get", *command], stdout=subprocess.DEVNULL)
    programs = newest()
    if not programs:
        raise BenchmarkError("apt-get could not install PostgreSQL; its messages are above")
    return programs


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
