"""Measures the data plane in network namespaces. `dataplane.py` runs it with unshare.

    dataplane_namespaces.py GARTH traffic ROUNDS SECONDS | convergence ROUNDS | boot ROUNDS
    dataplane_namespaces.py GARTH cold PORTS DRIVER | cold-baseline PORTS DRIVER

Prints one sample per line: a JSON list of the server and its figures.
"""

import json
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "dataplane"))

from lab import Instance, Lab, inside, shell, wait_for
from prepared_batches import Batches, finish, plan
from server_lab import ServerLab

BASELINE, AGAIN, GARTH = "baseline", "baseline again", "Garth"
# The two hosts of each server. Only those of Garth have agents, and filters of the underlay.
HOSTS = {GARTH: (1, 2), BASELINE: (3, 4), AGAIN: (5, 6)}
# In a user namespace, the kernel limits the size of a batch for nft to the filters of about 25 ports.
PORTS_PER_VPC = 20
ECHO_SECONDS = 0.001


def emit(server, figures):
    print(json.dumps([server, figures]), flush=True)


class Pair:
    """Two hosts of one server with a VPC: an instance on each, and one that is added and removed."""

    def __init__(self, lab, server):
        self.lab, self.server, self.hosts = lab, server, HOSTS[server]
        vpc = list(HOSTS).index(server) + 1
        first, second = self.hosts
        self.sender = Instance(vpc * 10, vpc, 0, first, "10.0.0.10")
        self.receiver = Instance(vpc * 10 + 1, vpc, 0, second, "10.0.0.11")
        self.new = Instance(vpc * 10 + 2, vpc, 1, second, "10.0.1.12")
        lab.instances += [self.sender, self.receiver]

    def prepare(self, is_removal=False):
        """The prepared scripts of both hosts for the current desired state."""
        prepared = []
        for host in self.hosts:
            folder = tempfile.mkdtemp(dir=self.lab.folder)
            prepared.append(Batches(self.lab, host, folder, False, plan(self.lab, host), is_removal))
        return prepared

    def apply(self, is_removal=False):
        """Makes the desired state by hand."""
        for batches in self.prepare(is_removal):
            batches.run()


def start_pairs(garth):
    lab = Lab(garth, hosts=6)
    pairs = {server: Pair(lab, server) for server in HOSTS}
    lab.write()
    for host in HOSTS[GARTH]:
        lab.start(host)
    wait_for(lambda: all(lab.is_applied(host) for host in HOSTS[GARTH]), "all ports are up")
    for server in (BASELINE, AGAIN):
        pairs[server].apply()
    for pair in pairs.values():
        wait_for(lambda: first_answer(pair.sender, pair.receiver.address, time.monotonic(), 1), f"{pair.server} works")
    return lab, pairs


def traffic(garth, rounds, seconds):
    _, pairs = start_pairs(garth)
    for _ in range(int(rounds)):
        for server in random.sample(list(pairs), len(pairs)):
            tcp = iperf(pairs[server], seconds)
            udp = iperf(pairs[server], seconds, "--udp", "--bitrate", "0", "--length", "64")
            megabits = tcp["sum_received"]["bits_per_second"] / 1e6
            counted = udp["sum"]
            packets = (counted["packets"] - counted["lost_packets"]) / counted["seconds"]
            emit(server, [megabits, packets])


def iperf(pair, seconds, *options):
    """Sender and receiver have a core each, because the path of a packet is the work of the sender's core."""
    at = lambda instance, core: ["nsenter", f"--net=/run/netns/{instance.namespace}", "taskset", "-c", str(core), "iperf3"]
    last = max(os.sched_getaffinity(0))
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([*at(pair.receiver, last), "--server", "--one-off"], **quiet) as server:
        wait_for(lambda: ":5201 " in shell(f"ss -N {pair.receiver.namespace} -Hltn"), "iperf3 listens")
        command = [*at(pair.sender, min(os.sched_getaffinity(0))), "--client", pair.receiver.address, "--json"]
        client = subprocess.run([*command, "--time", seconds, *options], capture_output=True, text=True)
        server.wait(10)
    found = json.loads(client.stdout)
    assert client.returncode == 0, f"iperf3: {found.get('error')}"
    return found["end"]


def convergence(garth, rounds):
    lab, pairs = start_pairs(garth)
    for _ in range(int(rounds)):
        for server in random.sample(list(pairs), len(pairs)):
            pair = pairs[server]
            lab.instances.append(pair.new)
            emit(server, add_instance(lab, pair))
            lab.instances.remove(pair.new)
            write_state(lab, pair)
            if server == GARTH:
                is_applied = lambda: all(lab.is_applied(host) for host in pair.hosts)
                wait_for(is_applied, "the instance is removed")
            else:
                pair.apply(is_removal=True)
            time.sleep(0.5)


def write_state(lab, pair):
    """Writes the desired state of the hosts of a pair only."""
    lab.revision += 1
    for host in pair.hosts:
        path = f"{lab.state(host)}/desired.json"
        with open(path + ".test", "w") as file:
            json.dump(lab.desired(host), file)
        os.rename(path + ".test", path)


def add_instance(lab, pair):
    """The milliseconds until a new instance answers."""
    prepared = None
    if pair.server != GARTH:
        write_state(lab, pair)
        prepared = pair.prepare()
    echo = Echo(pair.sender, pair.new.address)
    time.sleep(0.2)
    started = time.monotonic()
    if prepared:
        for process in [batches.start() for batches in prepared]:
            finish(process)
    else:
        write_state(lab, pair)
    return echo.wait(started)


def boot(garth, rounds):
    """The milliseconds from the response of the API to the first answer of an instance that boots."""
    lab = ServerLab(garth, hosts=2)
    lab.join_hosts()
    # The first host is full with one instance, so that the other instance boots on the second.
    lab.admin("host", "set", "rack-1", "--instances", "1")
    lab.admin("host", "drain", "rack-2")
    subnets = [{"label": f"net-{number}", "ipv4": f"10.0.{number}.0/24"} for number in range(2)]
    body = {"label": "one", "region": "us-east", "ipv6": [{"range": "/52"}]}
    body["subnets"] = [subnet | {"ipv6": [{"range": "auto"}]} for subnet in subnets]
    vpc = lab.send("POST", "/vpcs", body)
    sender = lab.boot_instance(vpc["id"], vpc["subnets"][0]["id"])
    lab.wait_until_running()
    lab.admin("host", "undrain", "rack-2")
    other = lab.boot_instance(vpc["id"], vpc["subnets"][0]["id"])
    target = lab.boot_instance(vpc["id"], vpc["subnets"][1]["id"])
    lab.wait_until_running()
    assert lab.places() == {sender.id: 1, other.id: 2, target.id: 2}, f"other places: {lab.places()}"
    for _ in range(int(rounds)):
        lab.send("POST", f"/linode/instances/{target.id}/shutdown")
        status = lambda: lab.send("GET", f"/linode/instances/{target.id}")["status"]
        wait_for(lambda: status() == "offline" and target.id not in lab.places(), "the instance is stopped")
        wait_for(lambda: not os.path.exists(f"/run/netns/{target.namespace}"), "the instance is removed")
        time.sleep(0.5)
        echo = Echo(sender, target.address)
        time.sleep(0.2)
        lab.send("POST", f"/linode/instances/{target.id}/boot")
        emit(GARTH, echo.wait(time.monotonic()))
        wait_for(lambda: status() == "running", "the instance runs")


class Echo:
    """Sends an echo request per millisecond from an instance, and notices the first answer."""

    def __init__(self, sender, address):
        self.address, self.answered, self.is_ended = address, None, False
        self.sock = inside(sender.namespace, lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
        self.sock.settimeout(ECHO_SECONDS)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        head = struct.pack("!BBHHH", 8, 0, 0, 7, 7)
        total = sum(struct.unpack("!4H", head))
        request = head[:2] + struct.pack("!H", ~total & 0xFFFF) + head[4:]
        while not self.is_ended:
            try:
                self.sock.sendto(request, (self.address, 0))
            except OSError:
                # The gateway has no route or no neighbor yet.
                time.sleep(ECHO_SECONDS)
            try:
                packet, sender = self.sock.recvfrom(2000)
            except OSError:
                continue
            if sender[0] == self.address and packet[20] == 0:
                self.answered = time.monotonic()
                return

    def wait(self, started, seconds=30):
        self.thread.join(seconds)
        self.is_ended = True
        self.sock.close()
        assert self.answered, f"{self.address} did not answer within {seconds} s"
        return (self.answered - started) * 1000


def first_answer(sender, address, started, seconds):
    try:
        return Echo(sender, address).wait(started, seconds) is not None
    except AssertionError:
        return False


def many_ports(lab, ports):
    """A desired state with many ports on one host."""
    vpcs = []
    for first in range(0, ports, PORTS_PER_VPC):
        vpc = first // PORTS_PER_VPC + 1
        numbers = range(first, min(first + PORTS_PER_VPC, ports))
        subnet = lab.subnet(vpc, 0) | {"id": vpc, "vni": 1000 + vpc}
        vpcs.append({"id": vpc, "subnets": [subnet], "ports": [port(vpc, number) for number in numbers]})
    return {
        "protocol": 1, "revision": 1, "host_id": 1,
        "underlay": {"address": "192.0.2.1", "mtu": 1500, "hosts": ["192.0.2.2"]},
        "vpcs": vpcs,
    }


def port(vpc, number):
    return {
        "interface_id": number + 1, "instance_id": number + 1, "index": 0, "subnet_id": vpc,
        "mac": f"02:aa:00:{vpc:02x}:{number >> 8:02x}:{number & 255:02x}",
        "ipv4": f"10.0.0.{number % PORTS_PER_VPC + 10}",
        "slaac": {"range": f"2001:db8:0:{number:x}::/64", "address": f"2001:db8:0:{number:x}::5"},
        "primary": True,
    }


def cold(garth, ports, driver):
    lab = Lab(garth, hosts=1)
    with open(f"{lab.state(1)}/desired.json", "w") as file:
        json.dump(many_ports(lab, int(ports)), file)
    started = time.monotonic()
    log = open(f"{lab.folder}/agent.log", "w")
    agent = subprocess.Popen([*lab.command(1, "run"), "--driver", driver], stdout=log, stderr=log)
    while not is_up(lab, int(ports)):
        assert agent.poll() is None, "the agent ended"
        assert time.monotonic() < started + 600, f"not all ports are up: {Path(log.name).read_text()[-2000:]}"
        time.sleep(0.01)
    emit(GARTH, (time.monotonic() - started) * 1000)
    agent.kill()
    agent.wait()


def is_up(lab, ports):
    """The first report is written after the first pass."""
    if not os.path.exists(f"{lab.state(1)}/status.json"):
        return False
    reports = lab.status(1)["ports"]
    return len(reports) == ports and all(report["status"] == "up" for report in reports)


def cold_baseline(garth, ports, driver):
    lab = Lab(garth, hosts=1)
    with open(f"{lab.state(1)}/desired.json", "w") as file:
        json.dump(many_ports(lab, int(ports)), file)
    folder = tempfile.mkdtemp(dir=lab.folder)
    batches = Batches(lab, 1, folder, True, plan(lab, 1, "--driver", driver))
    started = time.monotonic()
    batches.run()
    emit(BASELINE, (time.monotonic() - started) * 1000)
    left = plan(lab, 1, "--driver", driver)
    # The agent cannot know the filters of another program. Everything else is as desired.
    assert all(program == "nft" for _, program, _ in left), f"the baseline lacks {len(left)} steps: {left[:5]}"


MODES = {"traffic": traffic, "convergence": convergence, "boot": boot, "cold": cold, "cold-baseline": cold_baseline}
garth, mode, *arguments = sys.argv[1:]
MODES[mode](garth, *arguments)
