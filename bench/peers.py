"""What one might use instead, and how it does the same.

None of them is like Garth: see README.md for what each does and does not do.
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
from machine import ROOT, Server, Trouble
from postgres import free_port
from servers import sample_all, start_garth, vpc_regions
from verdict import AGAIN, BASELINE, EMBEDDED, Goal, Table

MOTO, PRISM = "moto[server,ec2]==5.2.5", "@stoplight/prism-cli@5.14.2"
CLIENTS = 32


def peer(programs, folder, extent):
    place = programs.target / "bench" / "peers"
    place.mkdir(exist_ok=True)
    moto = lambda number: Moto(install_moto(place), folder / f"moto {number}.log")
    prism = lambda number: Prism(install_prism(place), folder / f"prism {number}.log")
    tables = beside(programs, folder, extent, moto, "moto 5.2.5, EC2's VPCs", (100, 40))
    return tables + beside(programs, folder, extent, prism, "Prism, answering from openapi.yaml", (None, None))


def beside(programs, folder, extent, begin, name, goals):
    # Some of them answer so slowly that a second is not enough to count.
    rounds, seconds = extent.rounds, 2
    tables = []
    with ExitStack() as running:
        garth = running.enter_context(start_garth(programs, folder / "peer"))
        peers = [running.enter_context(begin(number)) for number in (1, 2)]
        for other in peers:
            other.warm_up()
        regions = vpc_regions(garth)
        vpc = json.loads(garth.post("/v4/vpcs", {"label": "first", "region": regions[0]}))
        view = lambda: load.put(garth, f"/v4/vpcs/{vpc['id']}", CLIENTS, seconds)
        prefixes = iter(range(10_000))
        create = lambda: load.put(
            garth, "/v4/vpcs", CLIENTS, seconds, "create_vpc.lua", [*regions, f"from={next(prefixes)}"]
        )
        for what, own, goal in (("view", view, goals[0]), ("create", create, goals[1])):
            table = Table(
                EMBEDDED,
                f"peer: {what} a VPC, {CLIENTS} clients; {rounds} rounds of {seconds} s\nbaseline: {name}",
                {"throughput": Goal(">=", goal)} if goal else {},
                contenders=[f"{what}, beside {name.split(',')[0]}"],
            )
            samplers = {BASELINE: getattr(peers[0], what), AGAIN: getattr(peers[1], what), table.contenders[0]: own}
            samplers = {name: run if run is own else (lambda run=run: run(seconds)) for name, run in samplers.items()}
            tables.append(sample_all(table, samplers, rounds))
    shutil.rmtree(folder / "peer")
    return tables


class Peer(Server):
    """A server that says where it listens in words of its own, so it is told where to."""

    def __init__(self, command, log):
        self.port = free_port()
        super().__init__([*command, str(self.port)], log)

    def warm_up(self):
        """The first requests of a program that is compiled while it runs are its slowest."""
        for _ in range(3):
            self.view(2)

    def _wait_until_it_listens(self):
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
                    raise self.trouble("could not start")
                time.sleep(0.1)
        raise self.trouble("did not listen within a minute")


class Moto(Peer):
    """moto's own server: one process, a thread for each request, everything in memory."""

    READY = "/moto-api/data.json"

    def __init__(self, program, log):
        super().__init__([program, "-H", "127.0.0.1", "-p"], log)
        answer = self.ask("CreateVpc", CidrBlock="10.0.0.0/16")
        self.vpc = re.search(r"<vpcId>(vpc-\w+)</vpcId>", answer)[1]

    def ask(self, action, **fields):
        body = urllib.parse.urlencode({"Action": action, "Version": "2016-11-15", **fields}).encode()
        request = urllib.request.Request(self.url, data=body, headers={"Authorization": SIGNED})
        return urllib.request.urlopen(request, timeout=20).read().decode()

    def view(self, seconds):
        return self._put(seconds, f"Action=DescribeVpcs&Version=2016-11-15&VpcId.1={self.vpc}")

    def create(self, seconds):
        return self._put(seconds, "Action=CreateVpc&Version=2016-11-15&CidrBlock=10.0.0.0/16")

    def _put(self, seconds, body):
        arguments = ["POST", body, f"Authorization={SIGNED}", "Content-Type=application/x-www-form-urlencoded"]
        return load.put(self, "/", CLIENTS, seconds, "same.lua", arguments)


# moto reads the region and the service of it and believes the rest.
SIGNED = (
    "AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/ec2/aws4_request, "
    "SignedHeaders=host, Signature=0000000000000000000000000000000000000000000000000000000000000000"
)


class Prism(Peer):
    """Prism in mock mode: checks a request against openapi.yaml and answers with its example; keeps nothing."""

    READY = "/"

    def __init__(self, program, log):
        super().__init__(
            [program, "mock", str(ROOT / "openapi.yaml"), "--host", "127.0.0.1", "--verboseLevel", "warn", "--port"],
            log,
        )

    def view(self, seconds):
        return load.put(self, self.prefix() + "/vpcs/1", CLIENTS, seconds)

    def create(self, seconds):
        body = '{"label":"bench","region":"us-ord","subnets":[{"label":"first","ipv4":"10.0.0.0/24"}]}'
        return load.put(self, self.prefix() + "/vpcs", CLIENTS, seconds, "same.lua", ["POST", body])

    def prefix(self):
        """Prism leaves out what stands in front of the paths."""
        if not hasattr(self, "_prefix"):
            self._prefix = next((prefix for prefix in ("/v4", "") if self._answers(prefix + "/vpcs/1")), None)
            if self._prefix is None:
                raise self.trouble("does not answer")
        return self._prefix

    def _answers(self, path):
        try:
            self.get(path)
            return True
        except Trouble:
            return False


def install_moto(place):
    program = place / "moto" / "bin" / "moto_server"
    if not program.exists():
        print(f"installing {MOTO} from the Python package index", flush=True)
        run([sys.executable, "-m", "venv", place / "moto"])
        run([place / "moto" / "bin" / "pip", "install", "--quiet", MOTO])
    return program


def install_prism(place):
    folder = place / "prism"
    program = folder / "node_modules" / ".bin" / "prism"
    if not program.exists():
        if not shutil.which("npm"):
            raise Trouble("npm is not there: install it (Debian: apt-get install npm)")
        print(f"installing {PRISM} from npm", flush=True)
        folder.mkdir(exist_ok=True)
        (folder / "package.json").write_text("{}")
        run(["npm", "install", "--silent", PRISM], cwd=folder)
    return program


def run(command, **ways):
    ended = subprocess.run(command, capture_output=True, text=True, **ways)
    if ended.returncode != 0:
        raise Trouble(f"{' '.join(map(str, command))} failed:\n{ended.stdout}{ended.stderr}"[-2000:])
