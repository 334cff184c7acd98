"""Hosts as network namespaces on one machine, joined by a bridge. Everything is in namespaces of the test."""

import ctypes
import ipaddress
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
MTU = 1500
# An option of the tests that have a server.
IPV6_UNDERLAY = "--ipv6-underlay" in sys.argv


def shell(command, check=True):
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    if check and done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.strip()}")
    return done.stdout


def inside(namespace, work):
    """Calls a function on a thread in a network namespace."""
    result, errors = [], []

    def enter():
        try:
            with open(f"/run/netns/{namespace}") as file:
                if LIBC.setns(file.fileno(), CLONE_NEWNET):
                    raise OSError(ctypes.get_errno(), f"setns {namespace}")
            result.append(work())
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return result[0]


def wait_for(condition, what, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {what}")


@dataclass
class Instance:
    id: int
    vpc: int
    subnet: int
    host: int
    address: str
    nat: str = None
    public: bool = False
    ranges: list = field(default_factory=list)

    @property
    def namespace(self):
        return f"gi-{self.id}"

    @property
    def mac(self):
        return f"02:aa:00:00:{self.vpc:02x}:{self.id:02x}"

    @property
    def prefix(self):
        """Each interface has its own prefix."""
        return f"2001:db8:{self.subnet}:{self.id:x}::/64"

    @property
    def ipv6(self):
        return slaac_address(self.prefix, self.mac)

    def port(self):
        port = {
            "interface_id": self.id,
            "instance_id": self.id,
            "index": 0,
            "subnet_id": self.vpc * 10 + self.subnet,
            "mac": self.mac,
            "ipv4": self.address,
            "slaac": {"range": self.prefix, "address": self.ipv6},
            "ranges": self.ranges,
            "primary": True,
            "ipv6_public": self.public,
        }
        return port | ({"nat_1_1": self.nat} if self.nat else {})

    def endpoint(self):
        keys = ("subnet_id", "mac", "ipv4", "ranges")
        port = self.port()
        return {key: port[key] for key in keys} | {"ipv6": self.ipv6, "host": underlay(self.host)}


def slaac_address(prefix, mac):
    """The address that an interface derives from its hardware address (RFC 4291, appendix A)."""
    octets = bytearray.fromhex(mac.replace(":", ""))
    octets[0] ^= 2
    identifier = int.from_bytes(octets[:3] + b"\xff\xfe" + octets[3:])
    return str(ipaddress.IPv6Network(prefix)[identifier])


def link_local(mac):
    return slaac_address("fe80::/64", mac)


def underlay(host):
    return f"2001:db8:ffff::{host}" if IPV6_UNDERLAY else f"192.0.2.{host}"


def underlay_network(host):
    """The address for `ip addr add`. Without detection of duplicates, an IPv6 address works immediately."""
    return f"{underlay(host)}/64 nodad" if IPV6_UNDERLAY else f"{underlay(host)}/24"


class Lab:
    def __init__(self, garth, hosts):
        self.garth = garth
        self.hosts = range(1, hosts + 1)
        self.instances = []
        self.resolvers = ["192.0.2.53", "2001:db8:53::53"]
        self.agents = {}
        self.revision = 0
        self.folder = tempfile.mkdtemp(prefix="garth-dataplane-")
        shell("mount -t tmpfs run /run && mkdir /run/netns && ip link set lo up")
        shell("ip netns add fabric && ip -n fabric link add fabric type bridge && ip -n fabric link set fabric up")
        for host in self.hosts:
            shell(
                f"ip netns add h{host}"
                f" && ip -n h{host} link set lo up"
                f" && ip link add p{host} netns fabric type veth peer name eth0 netns h{host}"
                f" && ip -n fabric link set p{host} master fabric up"
                f" && ip -n h{host} addr add {underlay_network(host)} dev eth0"
                f" && ip -n h{host} link set eth0 up"
            )

    def desired(self, host):
        vpcs = []
        for vpc in sorted({instance.vpc for instance in self.instances if instance.host == host}):
            members = [instance for instance in self.instances if instance.vpc == vpc]
            vpcs.append({
                "id": vpc,
                "subnets": [self.subnet(vpc, subnet) for subnet in (0, 1)],
                "ports": [member.port() for member in members if member.host == host],
                "endpoints": [member.endpoint() for member in members if member.host != host],
            })
        hosts = [underlay(other) for other in self.hosts if other != host]
        return {
            "protocol": 1,
            "revision": self.revision,
            "host_id": host,
            "underlay": {"address": underlay(host), "mtu": MTU, "hosts": hosts, "resolvers": self.resolvers},
            "vpcs": vpcs,
        }

    @staticmethod
    def subnet(vpc, subnet):
        return {
            "id": vpc * 10 + subnet,
            "vni": 1000 + vpc * 10 + subnet,
            "gateway_mac": f"02:00:00:00:{vpc:02x}:{subnet:02x}",
            "ipv4": {"range": f"10.0.{subnet}.0/24", "gateway": f"10.0.{subnet}.1"},
            "ipv6": {"range": f"2001:db8:{subnet}::/48", "gateway": f"2001:db8:{subnet}::1"},
        }

    def state(self, host):
        path = f"{self.folder}/h{host}"
        os.makedirs(path, exist_ok=True)
        return path

    def write(self):
        """Writes the desired state of every host, as the server would send it."""
        self.revision += 1
        for host in self.hosts:
            path = f"{self.state(host)}/desired.json"
            with open(path + ".test", "w") as file:
                json.dump(self.desired(host), file)
            os.rename(path + ".test", path)

    def command(self, host, *arguments):
        options = ["--state", self.state(host), "--prefix", f"h{host}"]
        return ["nsenter", f"--net=/run/netns/h{host}", self.garth, "agent", *arguments, *options]

    def start(self, host, *options):
        log = open(f"{self.folder}/h{host}.log", "a")
        command = self.command(host, "run", "--resync-seconds", "2", *options)
        self.agents[host] = subprocess.Popen(command, stderr=log, stdout=log)

    def other(self, host, command, driver):
        """A command of a second agent on the host, with another prefix."""
        options = ["--state", f"{self.folder}/t{host}", "--prefix", f"t{host}", "--driver", driver]
        return ["nsenter", f"--net=/run/netns/h{host}", self.garth, "agent", command, *options]

    def write_other(self, host, state):
        path = f"{self.folder}/t{host}/desired.json"
        with open(path + ".test", "w") as file:
            json.dump(state, file)
        os.rename(path + ".test", path)

    def start_other(self, host, driver, state, options=()):
        os.makedirs(f"{self.folder}/t{host}", exist_ok=True)
        self.write_other(host, state)
        log = open(f"{self.folder}/t{host}.log", "a")
        return subprocess.Popen([*self.other(host, "run", driver), *options], stderr=log, stdout=log)

    def kill(self, host, number=signal.SIGKILL):
        agent = self.agents.pop(host)
        agent.send_signal(number)
        agent.wait()

    def remove(self):
        """Ends the agents, which still write to the folder, and removes it."""
        for host in list(self.agents):
            self.kill(host)
        shutil.rmtree(self.folder)

    def status(self, host):
        try:
            with open(f"{self.state(host)}/status.json") as file:
                return json.load(file)
        except FileNotFoundError:
            return {"applied_revision": 0, "ports": []}

    def converge(self):
        self.write()
        wait_for(lambda: all(self.is_applied(host) for host in self.hosts), "all ports are up")
        wait_for(self.is_forwarding, "all bridge ports forward frames")

    def is_forwarding(self):
        """The kernel notices a new carrier with a delay, and then checks link-local addresses for duplicates."""
        places = {f"h{instance.host}-vpc-{instance.vpc}" for instance in self.instances}
        ports = [shell(f"bridge -n {place} link show") for place in places]
        ends = [shell(f"ip -n {instance.namespace} addr show eth0") for instance in self.instances]
        is_ready = all("state UP" in end and "tentative" not in end for end in ends)
        return is_ready and not any("state disabled" in port for port in ports)

    def is_applied(self, host):
        status = self.status(host)
        return status["applied_revision"] == self.revision and all(
            port["status"] == "up" for port in status["ports"]
        )

    def counter(self, instance, name):
        """The value of a counter of the kernel."""
        namespace = f"h{instance.host}-vpc-{instance.vpc}"
        return self.counter_in(namespace, f"p{instance.id}_{name}")

    def counter_in(self, namespace, name):
        text = shell(f"nsenter --net=/run/netns/{namespace} nft -j list counters")
        entries = [entry["counter"] for entry in json.loads(text)["nftables"] if "counter" in entry]
        return next(entry["packets"] for entry in entries if entry["name"] == name)

    def logs(self):
        logs = sorted(name for name in os.listdir(self.folder) if name.endswith(".log"))
        return "".join(f"--- {name}\n" + open(f"{self.folder}/{name}").read()[-3000:] for name in logs)


def ping(instance, address, count=1, wait=1):
    family = "-6" if ":" in address else "-4"
    command = f"nsenter --net=/run/netns/{instance.namespace} ping {family} -n -q -i 0.2 -c {count} -W {wait} {address}"
    return subprocess.run(command, shell=True, capture_output=True).returncode == 0


def receiver(instance, family=socket.AF_INET):
    """A UDP socket in the namespace of an instance, which stays there."""

    def bind():
        found = socket.socket(family, socket.SOCK_DGRAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        found.bind((instance.address if family == socket.AF_INET else instance.ipv6, 7000))
        found.setblocking(False)
        return found

    return inside(instance.namespace, bind)


def received(sock):
    messages = []
    while True:
        try:
            messages.append(sock.recv(2000))
        except BlockingIOError:
            return messages
