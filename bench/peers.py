"""Alternatives to Garth, compared with the same operations.

None of them is equivalent to Garth: see README.md for the differences.
"""

import json
import re
import shutil
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from contextlib import ExitStack

import load
from machine import ROOT, Server, BenchmarkError
from postgres import free_port
from servers import sample_all, start_garth, vpc_regions
from verdict import AGAIN, BASELINE, EMBEDDED, Goal, Table

MOTO, PRISM = "moto[server,ec2]==5.2.5", "@stoplight/prism-cli@5.14.2"
CLIENTS = 32


def peer(programs, folder, extent):
    cache = programs.target / "bench" / "peers"
    cache.mkdir(exist_ok=True)
    moto = lambda number: Moto(install_moto(cache), folder / f"moto {number}.log")
    prism = lambda number: Prism(install_prism(cache), folder / f"prism {number}.log")
    tables = compare(programs, folder, extent, moto, "moto 5.2.5, EC2's VPCs", (100, 40))
    return tables + compare(programs, folder, extent, prism, "Prism with openapi.yaml", (None, None))


def compare(programs, folder, extent, start, name, goals):
    # Some are so slow that one second is too short for a sample.
    rounds, seconds = extent.rounds, 2
    tables = []
    with ExitStack() as running:
        garth = running.enter_context(start_garth(programs, folder / "peer"))
        peers = [running.enter_context(start(number)) for number in (1, 2)]
        for other in peers:
            other.warm_up()
        regions = vpc_regions(garth)
        vpc = json.loads(garth.post("/v4/vpcs", {"label": "first", "region": regions[0]}))
        view = lambda: load.run(garth, f"/v4/vpcs/{vpc['id']}", CLIENTS, seconds)
        prefixes = iter(range(10_000))
        create = lambda: load.run(
            garth, "/v4/vpcs", CLIENTS, seconds, "create_vpc.lua", [*regions, f"from={next(prefixes)}"]
        )
        for what, sampler, goal in (("view", view, goals[0]), ("create", create, goals[1])):
            table = Table(
                EMBEDDED,
                f"peer: {what} a VPC, {CLIENTS} clients; {rounds} rounds of {seconds} s\nbaseline: {name}",
                {"throughput": Goal(">=", goal)} if goal else {},
                contenders=[f"{what}, compared with {name.split(',')[0]}"],
            )
            samplers = {BASELINE: getattr(peers[0], what), AGAIN: getattr(peers[1], what), table.contenders[0]: sampler}
            samplers = {name: run if run is sampler else (lambda run=run: run(seconds)) for name, run in samplers.items()}
            tables.append(sample_all(table, samplers, rounds))
    shutil.rmtree(folder / "peer")
    return tables


class Peer(Server):
    """A server with another output format, so the port is chosen beforehand."""

    def __init__(self, command, log):
        self.port = free_port()
        super().__init__([*command, str(self.port)], log)

    def warm_up(self):
        """Sends the first requests, which are the slowest with a just-in-time compiler."""
        for _ in range(3):
            self.view(2)

    def _wait_until_listening(self):
        url = f"http://127.0.0.1:{self.port}"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(url + self.READY, timeout=5).read()
                return url
            except urllib.error.HTTPError:
                return url
            except OSError:
                if self.process.poll() is not None:
                    raise self.error("could not start")
                time.sleep(0.1)
        raise self.error("did not listen within a minute")


class Moto(Peer):
    """The server of moto: one process, a thread for each request, all data in memory."""

    READY = "/moto-api/data.json"

    def __init__(self, program, log):
        super().__init__([program, "-H", "127.0.0.1", "-p"], log)
        response = self.query("CreateVpc", CidrBlock="10.0.0.0/16")
        self.vpc = re.search(r"<vpcId>(vpc-\w+)</vpcId>", response)[1]

    def query(self, action, **fields):
        body = urllib.parse.urlencode({"Action": action, "Version": "2016-11-15", **fields}).encode()
        request = urllib.request.Request(self.url, data=body, headers={"Authorization": SIGNED})
        return urllib.request.urlopen(request, timeout=20).read().decode()

    def view(self, seconds):
        return self._run(seconds, f"Action=DescribeVpcs&Version=2016-11-15&VpcId.1={self.vpc}")

    def create(self, seconds):
        return self._run(seconds, "Action=CreateVpc&Version=2016-11-15&CidrBlock=10.0.0.0/16")

    def _run(self, seconds, body):
        arguments = ["POST", body, f"Authorization={SIGNED}", "Content-Type=application/x-www-form-urlencoded"]
        return load.run(self, "/", CLIENTS, seconds, "same.lua", arguments)


# moto reads only the region and the service, and does not verify the signature.
SIGNED = (
    "AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/ec2/aws4_request, "
    "SignedHeaders=host, Signature=0000000000000000000000000000000000000000000000000000000000000000"
)


class Prism(Peer):
    """Prism in mock mode: validates requests against openapi.yaml and returns examples; stores nothing."""

    READY = "/"

    def __init__(self, program, log):
        super().__init__(
            [program, "mock", str(ROOT / "openapi.yaml"), "--host", "127.0.0.1", "--verboseLevel", "warn", "--port"],
            log,
        )

    def view(self, seconds):
        return load.run(self, self.prefix() + "/vpcs/1", CLIENTS, seconds)

    def create(self, seconds):
        body = '{"label":"bench","region":"us-ord","subnets":[{"label":"first","ipv4":"10.0.0.0/24"}]}'
        return load.run(self, self.prefix() + "/vpcs", CLIENTS, seconds, "same.lua", ["POST", body])

    def prefix(self):
        """Prism omits the base path."""
        if not hasattr(self, "_prefix"):
            self._prefix = next((prefix for prefix in ("/v4", "") if self._responds(prefix + "/vpcs/1")), None)
            if self._prefix is None:
                raise self.error("does not respond")
        return self._prefix

    def _responds(self, path):
        try:
            self.get(path)
            return True
        except BenchmarkError:
            return False


def install_moto(cache):
    program = cache / "moto" / "bin" / "moto_server"
    if not program.exists():
        print(f"installing {MOTO} from the Python package index", flush=True)
        run([sys.executable, "-m", "venv", cache / "moto"])
        run([cache / "moto" / "bin" / "pip", "install", "--quiet", MOTO])
    return program


def install_prism(cache):
    folder = cache / "prism"
    program = folder / "node_modules" / ".bin" / "prism"
    if not program.exists():
        if not shutil.which("npm"):
            raise BenchmarkError("npm is not installed: install it (Debian: apt-get install npm)")
        print(f"installing {PRISM} from npm", flush=True)
        folder.mkdir(exist_ok=True)
        (folder / "package.json").write_text("{}")
        run(["npm", "install", "--silent", PRISM], cwd=folder)
    return program


def run(command, **options):
    process = subprocess.run(command, capture_output=True, text=True, **options)
    if process.returncode != 0:
        raise BenchmarkError(f"{' '.join(map(str, command))} failed:\n{process.stdout}{process.stderr}"[-2000:])
