"""Measures the data plane in its own namespaces. `dataplane.py` starts it.

    dataplane_lab.py GARTH KIND ROUNDS AMOUNT

Prints the samples of each server as one line of JSON.
"""

import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "dataplane"))

from lab import Instance, Lab, inside, shell, wait_for
from verdict import AGAIN, BASELINE, GARTH, SERVERS

STREAM_PORT, DATAGRAM_PORT = 7100, 7101
CHUNK_BYTES = 1 << 20
# Names in the tunnel that is made by hand.
BY_HAND = "hand"


def main():
    garth, kind, rounds, amount = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    samplers = {"stream": packets(stream), "datagrams": packets(datagrams), "change": changes, "ports": ports}
    lab = Lab(os.path.abspath(garth), hosts=2)
    try:
        samples = samplers[kind](lab, rounds, amount)
    except BaseException:
        print(lab.logs(), file=sys.stderr)
        raise
    shutil.rmtree(lab.folder)
    print(json.dumps(samples))


def sampled(rounds, samplers):
    samples = {server: [] for server in SERVERS}
    for _ in range(rounds):
        for server in random.sample(SERVERS, len(SERVERS)):
            samples[server].append(samplers[server]())
    return samples


def packets(measure):
    def run(lab, rounds, seconds):
        lab.instances = [Instance(11, 1, 0, 1, "10.0.0.11"), Instance(12, 1, 0, 2, "10.0.0.12")]
        for host in lab.hosts:
            lab.start(host)
        lab.converge()
        make_by_hand()
        ends = {GARTH: ("gi-11", "gi-12")} | {name: (f"{BY_HAND}1", f"{BY_HAND}2") for name in (BASELINE, AGAIN)}
        wait_for(lambda: all(reaches(*pair) for pair in ends.values()), "both tunnels carry packets")
        samplers = {name: lambda pair=pair: measure(*pair, seconds) for name, pair in ends.items()}
        for sample in samplers.values():
            sample()
        return sampled(rounds, samplers)

    return run


def make_by_hand():
    """The tunnel that an operator would make: a bridge, a VXLAN device and a pair on each host."""
    for host, other in ((1, 2), (2, 1)):
        name, at = f"{BY_HAND}{host}", f"h{host}"
        mac = lambda number: f"02:cc:00:00:00:{number:02x}"
        lines = [
            f"ip netns add {name}",
            f"ip -n {at} link add hb type bridge",
            f"ip -n {at} link add hv mtu 1450 type vxlan id 77 local 192.0.2.{host} dstport 4789 nolearning",
            f"ip -n {at} link add hp mtu 1450 type veth peer name eth0 address {mac(host)} mtu 1450 netns {name}",
            f"ip -n {at} link set hv master hb up",
            f"ip -n {at} link set hp master hb up",
            f"ip -n {at} link set hb up",
            f"ip -n {name} addr add 10.0.0.1{host}/24 dev eth0",
            f"ip -n {name} link set eth0 up",
            f"ip -n {name} neigh replace 10.0.0.1{other} lladdr {mac(other)} dev eth0 nud permanent",
            f"bridge -n {at} fdb replace {mac(other)} dev hv master static",
            f"bridge -n {at} fdb replace {mac(other)} dev hv dst 192.0.2.{other} self permanent",
        ]
        for line in lines:
            shell(line)


def reaches(sender, _):
    command = f"nsenter --net=/run/netns/{sender} ping -q -c 1 -W 1 10.0.0.12"
    return subprocess.run(command, shell=True, capture_output=True).returncode == 0


def receiving(namespace, kind, port, work):
    """Runs a receiver in another process; returns a function that waits for its result."""
    sock = inside(namespace, lambda: socket.socket(socket.AF_INET, kind))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    sock.bind(("10.0.0.12", port))
    if kind == socket.SOCK_STREAM:
        sock.listen()
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, str(work(sock)).encode())
        os._exit(0)
    os.close(writer)
    sock.close()

    def result():
        value = os.read(reader, 100)
        os.close(reader)
        os.waitpid(child, 0)
        return int(value)

    return result


def stream(sender, receiver, seconds):
    """The throughput of one TCP stream, in Mbit/s."""

    def count(sock):
        connection, _ = sock.accept()
        buffer, total = bytearray(CHUNK_BYTES), 0
        while read := connection.recv_into(buffer):
            total += read
        return total

    result = receiving(receiver, socket.SOCK_STREAM, STREAM_PORT, count)
    sock = inside(sender, lambda: socket.create_connection(("10.0.0.12", STREAM_PORT)))
    chunk, started = bytes(CHUNK_BYTES), time.monotonic()
    while time.monotonic() < started + seconds:
        sock.sendall(chunk)
    sock.close()
    total = result()
    return total * 8 / 1e6 / (time.monotonic() - started)


def datagrams(sender, receiver, seconds):
    """The received datagrams per second of one sender. An empty datagram is the end."""

    def count(sock):
        total = 0
        while sock.recv(100):
            total += 1
        return total

    result = receiving(receiver, socket.SOCK_DGRAM, DATAGRAM_PORT, count)
    sock = inside(sender, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    sock.connect(("10.0.0.12", DATAGRAM_PORT))
    payload, started = bytes(64), time.monotonic()
    while time.monotonic() < started + seconds:
        for _ in range(100):
            sock.send(payload)
    elapsed = time.monotonic() - started
    time.sleep(0.2)
    for _ in range(10):
        sock.send(b"")
    sock.close()
    return result() / elapsed


def changes(lab, rounds, _):
    """The time from a new instance in the desired state of two hosts to its first packet, in ms."""
    peer = Instance(11, 1, 0, 1, "10.0.0.11")
    lab.instances = [peer]
    for host in lab.hosts:
        lab.start(host)
    lab.converge()
    number = iter(range(20, 250))

    def new():
        added = next(number)
        lab.instances.append(Instance(added, 1, 0, 2, f"10.0.0.{added}"))
        return lab.instances[-1]

    def by_garth():
        added = new()
        states = prepare(lab)
        started = time.monotonic()
        for host, state in states.items():
            os.rename(state, f"{lab.state(host)}/desired.json")
        return first_packet(peer, added, started)

    def by_batches():
        for host in lab.hosts:
            lab.kill(host)
        added = new()
        for host, state in prepare(lab).items():
            os.rename(state, f"{lab.state(host)}/desired.json")
        batches = [planned(lab, host) for host in lab.hosts]
        started = time.monotonic()
        for batch in batches:
            run_batches(batch)
        elapsed = first_packet(peer, added, started)
        for host in lab.hosts:
            lab.start(host)
        lab.converge()
        return elapsed

    return sampled(rounds, {GARTH: by_garth, BASELINE: by_batches, AGAIN: by_batches})


def prepare(lab):
    """Writes the desired states into other files than those that the agents read."""
    lab.revision += 1
    states = {}
    for host in lab.hosts:
        states[host] = f"{lab.state(host)}/desired.json.test"
        with open(states[host], "w") as file:
            json.dump(lab.desired(host), file)
    return states


def first_packet(peer, added, started):
    def probe():
        return socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)

    shell(f"nsenter --net=/run/netns/{peer.namespace} sysctl -qw net.ipv4.ping_group_range='0 0'")
    with inside(peer.namespace, probe) as sock:
        sock.setblocking(False)
        deadline = started + 30
        while time.monotonic() < deadline:
            try:
                sock.sendto(b"\x08\0\0\0\0\1\0\1", (added.address, 0))
            except OSError:
                pass
            time.sleep(0.002)
            try:
                sock.recv(100)
                return (time.monotonic() - started) * 1000
            except OSError:
                pass
    raise RuntimeError(f"no packet reached instance {added.id}")


def ports(lab, rounds, count):
    """The time until a host without any network has all ports, in ms."""
    numbers = range(count)
    state = lab.desired(1)
    state["revision"] = 1
    state["vpcs"] = [vpc_with_ports(lab, vpc, [n for n in numbers if n % 10 == vpc]) for vpc in range(10)]

    def by_garth():
        folder = f"{lab.folder}/t1"
        shutil.rmtree(folder, ignore_errors=True)
        started = time.monotonic()
        agent = lab.start_other(1, "tap", state)
        try:
            wait_for(lambda: is_up(folder, count), "all ports are up", 300)
            return (time.monotonic() - started) * 1000
        finally:
            agent.kill()
            agent.wait()
            shell(" ".join(lab.other(1, "purge", "tap")))

    def by_batches():
        folder = f"{lab.folder}/t1"
        os.makedirs(folder, exist_ok=True)
        lab.write_other(1, state)
        batches = parse_plan(shell(" ".join(lab.other(1, "plan", "tap"))), "h1")
        started = time.monotonic()
        run_batches(batches)
        elapsed = (time.monotonic() - started) * 1000
        shell(" ".join(lab.other(1, "purge", "tap")))
        return elapsed

    return sampled(rounds, {GARTH: by_garth, BASELINE: by_batches, AGAIN: by_batches})


def vpc_with_ports(lab, vpc, numbers):
    def port(number):
        low, high = number & 0xFF, number >> 8
        return {
            "interface_id": number + 1,
            "instance_id": number + 1,
            "index": 0,
            "subnet_id": vpc * 10 + 10,
            "mac": f"02:aa:00:{vpc:02x}:{high:02x}:{low:02x}",
            "ipv4": f"10.{vpc}.{high}.{max(low, 2)}" if low > 1 else f"10.{vpc}.{high + 100}.{low + 2}",
            "primary": True,
        }

    subnet = {
        "id": vpc * 10 + 10,
        "vni": 2000 + vpc,
        "gateway_mac": "02:00:00:00:00:01",
        "ipv4": {"range": f"10.{vpc}.0.0/16", "gateway": f"10.{vpc}.0.1"},
    }
    return {"id": vpc + 1, "subnets": [subnet], "ports": [port(number) for number in numbers], "endpoints": []}


def is_up(folder, count):
    try:
        report = json.loads(Path(f"{folder}/status.json").read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return False
    return sum(port["status"] == "up" for port in report["ports"]) == count


def planned(lab, host):
    return parse_plan(shell(" ".join(lab.command(host, "plan"))), f"h{host}")


def parse_plan(text, host):
    """The commands of a plan as batches: (namespace, program, lines), in an order that the kernel accepts."""
    entries, place = [], None
    for line in text.splitlines():
        if found := re.match(r"(the host|[a-z0-9-]+): (ip|bridge|nft|sysctl) (.*)", line):
            place, program, rest = found.groups()
            entries.append([place, program, [rest]])
        elif line.startswith("ip "):
            entries.append([place, "ip", [line[3:]]])
        else:
            entries[-1][2].append(line)
    phases = {}
    for place, program, lines in entries:
        place = host if place == "the host" else place
        if program == "ip" and re.match(r"netns add|link add", lines[0]):
            phase, place = (0 if lines[0].startswith("netns") else 2), host
        elif program == "nft":
            phase, lines = 1, lines[1:]
        elif program == "sysctl":
            # Settings of a link exist only after it.
            phase = 2.5 if re.search(r"/(conf|neigh)/(?!all/|default/)", lines[0]) else 1
        else:
            phase = {"ip": 3, "bridge": 4}[program]
        phases.setdefault((phase, place, program), []).extend(lines)
    batches = []
    for (_, place, program), lines in sorted(phases.items(), key=lambda entry: entry[0][0]):
        path = f"/run/batch-{len(batches)}-{place}"
        Path(path).write_text("\n".join(lines) + "\n")
        batches.append((place, program, path))
    return batches


def run_batches(batches):
    for place, program, path in batches:
        enter = f"nsenter --net=/run/netns/{place}"
        command = {
            "ip": f"{enter} ip -force -batch {path}",
            "bridge": f"{enter} bridge -force -batch {path}",
            "nft": f"{enter} nft -f {path}",
            "sysctl": f"{enter} sysctl -q -p {path}",
        }[program]
        subprocess.run(command, shell=True, check=True, capture_output=True)


main()
