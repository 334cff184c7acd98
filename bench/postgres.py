"""A PostgreSQL of the run's own, what Garth sends to it, and pgbench sending the same."""

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
from machine import START_SECONDS, STOP_SECONDS, Trouble, cpu_seconds

USER = "garth"
# As Garth readies its own sessions: src/store/postgres/address.rs.
SESSION = {
    "statement_timeout": "15s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "30s",
    "enable_seqscan": "off",
    "jit": "off",
}
# What a session was sent: alone (`simple`), or prepared and with arguments; `line` is where the log has it.
Statement = namedtuple("Statement", "sql arguments simple line")


class Postgres:
    """A server with a folder of its own, empty or from an earlier one. Leaving its `with` ends it, by its process id."""

    def __init__(self, folder, again=False):
        self.programs = find_programs()
        # It refuses to run as root; Debian's package brings a user for it.
        self._user = []
        if os.geteuid() == 0:
            self._user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]
        self.port = free_port()
        self.folder = folder / "data"
        if not again:
            folder.mkdir()
            self._make_reachable(folder)
            initdb = ["initdb", "--pgdata", self.folder, "--auth=trust", f"--username={USER}"]
            self._run([*self._user, *self._program(initdb), "--locale=C", "--encoding=UTF8"])
        settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            # A commit is on the disk when it is answered.
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
            ways = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": out}
            self.process = subprocess.Popen([*self._user, *self._program(command)], cwd=folder, **ways)
        try:
            self._wait_until_it_answers()
        except BaseException:
            self.end()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        # "Fast": whoever is connected is sent away.
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

    def make(self, name, like="template0"):
        self.ask("postgres", f"CREATE DATABASE {name} TEMPLATE {like}")

    def drop(self, name):
        self.ask("postgres", f"DROP DATABASE {name} WITH (FORCE)")

    def ask(self, name, sql):
        return self._run(self._program(["psql", "-XAtq", "-c", sql]), name).strip()

    def cpu_seconds(self):
        """User and system time of all its processes so far, with those that have ended."""
        # A session that ends is counted with its children as soon as it is gone.
        time.sleep(0.2)
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        own = cpu_seconds(self.process.pid, with_ended_children=True)
        return own + sum(cpu_seconds(int(child)) for child in children)

    def sent(self, name):
        """What each session on a database has been sent, as far as it is logged: lists of statements."""
        sessions = {}
        log = (self.folder / "log" / "server.json").read_text()
        # The last line may not be whole yet.
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
        """Keeps the database busy for a while; every transaction must come to a good end."""
        file = self.folder.parent / "script.sql"
        file.write_text(script.text)
        command = ["pgbench", "--no-vacuum", "--protocol=prepared", "--max-tries=0", f"--file={file}"]
        command += [f"--client={connections}", f"--jobs={os.cpu_count()}", f"--time={seconds}"]
        command += [word for constant in script.constants.items() for word in ("-D", "=".join(constant))]
        options = " ".join(f"-c {setting}={value}" for setting, value in SESSION.items())
        before, own_before = self.cpu_seconds(), os.times()
        said = self._run(self._program(command), name, {"PGOPTIONS": options})
        own_after, after = os.times(), self.cpu_seconds()

        failed = int(re.search(r"number of failed transactions: (\d+)", said)[1])
        done = int(re.search(r"number of transactions actually processed: (\d+)", said)[1])
        if failed or not done:
            raise Trouble(f"pgbench did not bring every transaction to a good end:\n{said}")
        retries = int(re.search(r"total number of retries: (\d+)", said)[1])
        # Nothing but pgbench has ended in between.
        cpu = own_after.children_user + own_after.children_system
        cpu -= own_before.children_user + own_before.children_system
        throughput = float(re.search(r"^tps = ([\d.]+)", said, re.MULTILINE)[1])
        return Sample(throughput, cpu * 1e6 / done, done, (after - before) * 1e6 / done, retries / done)

    def _program(self, command):
        return [self.programs / command[0], *command[1:]]

    def _run(self, command, name="postgres", env=None):
        where = {"PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGUSER": USER, "PGDATABASE": name}
        run = subprocess.run(
            command, env={**os.environ, **where, **(env or {})}, capture_output=True, text=True, cwd="/"
        )
        if run.returncode != 0:
            raise Trouble(f"{' '.join(map(str, command))} failed:\n{run.stdout}{run.stderr}")
        return run.stdout

    def _make_reachable(self, folder):
        if not self._user:
            return
        shutil.chown(folder, "postgres", "postgres")
        folder.parent.chmod(0o711)
        if subprocess.run([*self._user, "test", "-w", folder]).returncode != 0:
            raise Trouble(f"the user postgres may not write to {folder}: set CARGO_TARGET_DIR to a folder it may enter")

    def _wait_until_it_answers(self):
        deadline = time.monotonic() + START_SECONDS
        ready = [*self._program(["pg_isready"]), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        while subprocess.run(ready).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                said = (self.folder.parent / "log").read_text(errors="replace")
                raise Trouble(f"PostgreSQL did not start. It said:\n{said}")
            time.sleep(0.05)


class Script:
    """A transaction of Garth's, as pgbench repeats it.

    `known` has the values that are not the same every time, and the names of pgbench's variables for them;
    `head` is what pgbench does before each transaction to set them.
    """

    def __init__(self, statements, known, head=""):
        self._known = known
        self.constants = {}
        sent = [(self._translate(statement), statement.simple) for statement in statements]
        first = next(at for at, (_, simple) in enumerate(sent) if not simple)
        last = max(at for at, (_, simple) in enumerate(sent) if not simple)
        lines = [head] if head else []
        # A lock must have been waited for before the transaction begins, and pgbench before version 17 has
        # no other way to make sure of that than to wait for the answer.
        locks = [command for command, _ in sent[:first] if "lock" in command]
        begin = [command for command, _ in sent[:first] if "lock" not in command]
        lines += locks
        # Garth sends the beginning along with the first statement, and all of the end together.
        lines += together([*begin, sent[first][0]])
        lines += [command for command, _ in sent[first + 1 : last + 1]]
        lines += together([command for command, _ in sent[last + 1 :]])
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
        # pgbench has variables for neither of these.
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


def together(commands):
    commands = [command for command in commands if command]
    if len(commands) == 1 and "\n" not in commands[0]:
        return commands
    return ["\\startpipeline", *commands, "\\endpipeline"]


def captured(postgres, name, marker):
    """The last transaction on a database that had this argument, from its lock to the lock's end."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        marked = [
            (statement.line, at, statements)
            for statements in postgres.sent(name)
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
    raise Trouble(f"PostgreSQL's log has no transaction with {marker}")


def find_programs():
    def newest():
        found = Path("/usr/lib/postgresql").glob("*/bin/pgbench")
        return max((file.parent for file in found), key=lambda folder: int(folder.parent.name), default=None)

    programs = newest()
    if programs or os.geteuid() != 0 or not shutil.which("apt-get"):
        if not programs:
            raise Trouble("PostgreSQL is not there: install it (Debian: apt-get install postgresql)")
        return programs
    print("PostgreSQL is not there: installing it with apt-get", flush=True)
    for command in (["update", "--quiet"], ["install", "--yes", "--quiet", "postgresql"]):
        subprocess.run(["apt-get", *command], stdout=subprocess.DEVNULL)
    programs = newest()
    if not programs:
        raise Trouble("apt-get could not install PostgreSQL; its messages are above")
    return programs


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
