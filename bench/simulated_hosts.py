"""Many simulated hosts of one server: the cost of a change must not depend on the hosts that it does not concern."""

import http.client
import json
import re
import selectors
import socket
import threading
import time
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import urlsplit

from machine import TOKEN, BenchmarkError, allow_many_connections, exact_cpu_seconds, output_of
from servers import sample_all, start_garth
from verdict import AGAIN, BASELINE, EMBEDDED, GARTH, Column, Goal, Table

REGION = "us-east"
# The hosts of a VPC, and the instances on each host.
HOSTS_PER_VPC = 5
INSTANCES_PER_HOST = 40
FEW_HOSTS = 10
# Each instance has a public address.
PUBLIC_RANGE = ["--compute-public-ranges", "198.18.0.0/15"]
CLIENTS = 8
WAIT_SECONDS = 60
MESSAGE = re.compile(rb'"type":"\w+",(?:"protocol":\d+,)?"revision":(\d+)')

Cost = namedtuple("Cost", "cpu_micros")


def changes(programs, folder, extent):
    """Tables of two kinds of changes, with few and with many hosts."""
    allow_many_connections(extent.hosts + 1_000)
    sizes = {BASELINE: FEW_HOSTS, AGAIN: FEW_HOSTS, GARTH: extent.hosts}
    goal, columns = {"CPU": Goal("<=", 1.5)}, (Column("CPU", "CPU us/change", "cpu_micros"),)
    interfaces = extent.hosts * INSTANCES_PER_HOST
    title = (
        f"dataplane: {{}} in a VPC on {HOSTS_PER_VPC} hosts, with {extent.hosts} hosts and {interfaces:,} interfaces; "
        f"{extent.rounds} rounds\nbaseline: the same with {FEW_HOSTS} hosts and {FEW_HOSTS * INSTANCES_PER_HOST} interfaces"
    )
    kinds = {"a changed range of an interface": Region.change_ranges, "a shutdown and a boot": Region.reboot}
    with ExitStack() as running:
        regions = {}
        for server, hosts in sizes.items():
            print(f"adding {hosts} hosts and {hosts * INSTANCES_PER_HOST:,} instances …", flush=True)
            name = folder / f"hosts {server}"
            garth = running.enter_context(start_garth(programs, name, *PUBLIC_RANGE))
            regions[server] = running.enter_context(Region(programs, name, garth, hosts))
        for kind, change in kinds.items():
            table = Table(EMBEDDED, title.format(kind), goal, columns, label=f"{extent.hosts} hosts, {kind}")
            samplers = {server: lambda region=region: region.cost(change, extent.changes) for server, region in regions.items()}
            yield sample_all(table, samplers, extent.rounds)


class Region:
    """A server with simulated hosts, whose instances all run."""

    def __init__(self, programs, folder, server, count):
        self.server = server
        command = lambda *arguments: output_of([programs.garth, "--data", folder, *arguments]).strip()
        command("user", "create", "--staff", "--username", "operator", "--email", "operator@example.com")
        self.staff = command("token", "create", "--user", "operator", "--scopes", "hosts:read_write")
        self.local = threading.local()
        self.is_stopped = False
        self.pool = ThreadPoolExecutor(CLIENTS)
        self.hosts = [self.join(number) for number in range(count)]
        for first in range(0, count, HOSTS_PER_VPC):
            self.fill(self.hosts[first : first + HOSTS_PER_VPC], first)
        self.follow()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_stopped = True
        self.follower.join()
        self.pool.shutdown()
        for host in self.hosts:
            host.stream.close()

    def send(self, method, path, body=None, token=TOKEN):
        """Sends a request on the connection of this thread."""
        if not hasattr(self.local, "connection"):
            self.local.connection = http.client.HTTPConnection(urlsplit(self.server.url).netloc, timeout=WAIT_SECONDS)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body)
        self.local.connection.request(method, f"/v4{path}", data, headers)
        reply = self.local.connection.getresponse()
        content = reply.read()
        if reply.status != 200:
            raise BenchmarkError(f"{method} {path}: {reply.status} {content[:500]!r}")
        return json.loads(content)

    def join(self, number):
        address = f"10.200.{number >> 8}.{number & 255}"
        body = {"label": f"host-{number}", "region": REGION, "underlay_address": address, "capacity": INSTANCES_PER_HOST}
        created = self.send("POST", "/hosts", body, self.staff)
        token = self.send("POST", f"/hosts/{created['id']}/join-token", {}, self.staff)["token"]
        joined = self.send("POST", "/agent/join", {"protocol": 1, "token": token, "agent_version": "bench"})
        return Host(joined["credential"])

    def fill(self, hosts, number):
        """Boots instances of one VPC on these hosts. All other hosts are full, or have no report yet."""
        for host in hosts:
            self.report(host, 0)
        subnet = {"label": "net", "ipv4": "10.0.0.0/16", "ipv6": [{"range": "auto"}]}
        body = {"label": f"vpc-{number}", "region": REGION, "ipv6": [{"range": "/52"}], "subnets": [subnet]}
        vpc = self.send("POST", "/vpcs", body)
        interface = {"purpose": "vpc", "subnet_id": vpc["subnets"][0]["id"], "ipv6": {"slaac": [{"range": "auto"}]}}
        body = {"type": "g6-nanode-1", "region": REGION, "booted": True, "interfaces": [interface]}
        create = lambda _: self.send("POST", "/linode/instances", body)
        created = list(self.pool.map(create, range(len(hosts) * INSTANCES_PER_HOST)))
        for host in hosts:
            state = self.state_of(host)
            host.revision = state["revision"]
            host.ports = [port["interface_id"] for vpc in state["vpcs"] for port in vpc["ports"]]
            self.report(host, host.revision)
        if number == 0:
            self.touched, self.instance = hosts, created[0]["id"]

    def state_of(self, host):
        """The snapshot of a host: the first line of its stream."""
        stream = self.open_stream(host, "")
        with stream.makefile("rb") as file:
            while line := file.readline():
                if line.startswith(b"{"):
                    stream.close()
                    return json.loads(line)
        raise self.server.error("closed a stream of desired states")

    def open_stream(self, host, query):
        stream = socket.create_connection((urlsplit(self.server.url).hostname, urlsplit(self.server.url).port))
        head = f"GET /v4/agent/state{query} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {host.credential}\r\n\r\n"
        stream.sendall(head.encode())
        return stream

    def follow(self):
        """Opens the streams of all hosts. Each new revision is reported, as an agent does after it was applied."""
        selector = selectors.DefaultSelector()
        for host in self.hosts:
            host.stream = self.open_stream(host, f"?after={host.revision}")
            selector.register(host.stream, selectors.EVENT_READ, host)

        def read():
            while not self.is_stopped:
                for key, _ in selector.select(0.1):
                    host, data = key.data, key.fileobj.recv(1 << 18)
                    host.tail += data
                    found = max((int(one) for one in MESSAGE.findall(host.tail)), default=0)
                    host.tail = host.tail[-100:]
                    if found > host.revision:
                        host.revision = found
                        self.pool.submit(self.report, host, found)

        self.follower = threading.Thread(target=read, daemon=True)
        self.follower.start()

    def report(self, host, revision):
        ports = [{"interface_id": port, "status": "up"} for port in host.ports]
        body = {"protocol": 1, "applied_revision": revision, "agent_version": "bench", "underlay_mtu": 1500, "ports": ports}
        self.send("POST", "/agent/status", body, host.credential)
        host.reported = max(host.reported, revision)

    def wait_for_reports(self, before):
        """Waits until all hosts of the VPC have reported a newer revision."""
        self.wait(lambda: all(host.reported > old for host, old in zip(self.touched, before)), "all hosts have reported")

    def wait(self, condition, what):
        deadline = time.monotonic() + WAIT_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise self.server.error(f"not within {WAIT_SECONDS} s: {what}")
            time.sleep(0.001)

    def revisions(self):
        return [host.reported for host in self.touched]

    def change_ranges(self, number):
        """Routes a range to an interface, or removes it."""
        if not hasattr(self, "interface"):
            config = self.send("GET", f"/linode/instances/{self.instance}/configs")["data"][0]
            interface = config["interfaces"][0]["id"]
            self.interface = f"/linode/instances/{self.instance}/configs/{config['id']}/interfaces/{interface}"
        before = self.revisions()
        self.send("PUT", self.interface, {"ip_ranges": [] if number % 2 else ["10.0.200.0/28"]})
        self.wait_for_reports(before)

    def reboot(self, _):
        status = lambda: self.send("GET", f"/linode/instances/{self.instance}")["status"]
        for action, expected in (("shutdown", "offline"), ("boot", "running")):
            before = self.revisions()
            self.send("POST", f"/linode/instances/{self.instance}/{action}")
            self.wait_for_reports(before)
            self.wait(lambda: status() == expected, f"the instance is {expected}")

    def cost(self, change, count):
        """The CPU time of the server for a change, without the time that it needs when idle."""
        # Hosts without a report for a minute are offline.
        list(self.pool.map(lambda host: self.report(host, host.revision), self.hosts))
        time.sleep(0.5)
        cpu = lambda: exact_cpu_seconds(self.server.process.pid)
        started, before = time.monotonic(), cpu()
        for number in range(count):
            change(self, number)
        seconds, used = time.monotonic() - started, cpu() - before
        before = cpu()
        time.sleep(max(seconds, 1))
        idle = (cpu() - before) / max(seconds, 1)
        return Cost((used - idle * seconds) / count * 1e6)


class Host:
    """A simulated host: its credential, its ports, and the revisions that it has received and reported."""

    def __init__(self, credential):
        self.credential, self.ports, self.revision, self.reported = credential, [], 0, 0
        self.tail, self.stream = b"", None
