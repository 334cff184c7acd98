"""The promises of encryption between hosts. A check raises AssertionError if a promise is broken."""

import glob
import json
import os
import signal
import socket
import struct
import threading
import time

import frames
from lab import IPV6_UNDERLAY, inside, ping, received, receiver, shell, underlay, wait_for
from server_checks import log_of, pairs

TEXT = b"the text of a datagram that must not be visible"
TUNNEL_PORTS = range(51820, 51828)


def crossing_pair(lab, hosts=(1, 2)):
    """Two instances of a VPC in the same subnet on two hosts."""
    places = lab.places()
    return next(
        (a, b)
        for a, b in pairs(lab)
        if (places[a.id], places[b.id]) == hosts and a.vpc == b.vpc and a.address[:6] == b.address[:6]
    )


def encryption(lab, *options):
    return json.loads(lab.admin("--json", "host", "encryption", "us-east", *options))


def hosts_without_key(lab):
    return [host["label"] for host in encryption(lab)["hosts"] if host["key_generation"] is None]


def generations(lab, host):
    with open(f"{lab.state(host)}/desired.json") as file:
        underlay_state = json.load(file)["underlay"]
    return underlay_state.get("encryption", {}).get("generations", [])


def is_settled(lab, generation):
    def settled(host):
        report = lab.status(host).get("encryption") or {}
        return report.get("settled_generation") == generation and generations(lab, host) == [generation]

    return all(settled(host) for host in lab.hosts)


class Capture:
    """The frames of the underlay while the block runs."""

    def __enter__(self):
        def listen():
            sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
            sock.bind(("p1", 0))
            sock.setblocking(False)
            return sock

        self.sock = inside("fabric", listen)
        self.frames = []
        return self

    def __exit__(self, *_):
        time.sleep(0.3)
        self.frames = received(self.sock)
        self.sock.close()

    def has_text(self):
        return any(TEXT in frame for frame in self.frames)

    def ports(self):
        """The UDP destination ports of the packets between hosts."""
        kind, protocol, port = (b"\x86\xdd", 20, 56) if IPV6_UNDERLAY else (b"\x08\x00", 23, 36)
        packets = [frame for frame in self.frames if frame[12:14] == kind and frame[protocol] == 17]
        return {struct.unpack("!H", frame[port : port + 2])[0] for frame in packets}


def send_text(sender, target, count=20):
    """Sends datagrams, and returns how many arrived."""
    out, sock = receiver(sender), receiver(target)
    for _ in range(count):
        out.sendto(TEXT, (target.address, 7000))
        time.sleep(0.005)
    time.sleep(0.3)
    arrived = len(received(sock))
    out.close()
    sock.close()
    return arrived


class Flow:
    """Datagrams between two instances in both directions, one every 2 milliseconds."""

    def __init__(self, one, other):
        self.ends = [(receiver(one), other.address), (receiver(other), one.address)]
        self.sent, self.arrivals = 0, [[], []]
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stopped.is_set():
            for out, address in self.ends:
                out.sendto(str(self.sent).encode(), (address, 7000))
            self.sent += 1
            time.sleep(0.002)
            self.collect()

    def collect(self):
        for arrivals, (sock, _) in zip(self.arrivals, self.ends):
            arrivals.extend(time.monotonic() for _ in received(sock))

    def stop(self):
        """Returns the number of sent and of lost datagrams, and the longest gap in seconds."""
        self.stopped.set()
        self.thread.join()
        time.sleep(0.3)
        self.collect()
        for sock, _ in self.ends:
            sock.close()
        lost = 2 * self.sent - sum(len(arrivals) for arrivals in self.arrivals)
        gap = max(after - before for times in self.arrivals for before, after in zip(times, times[1:]))
        return 2 * self.sent, lost, gap


def clear_text_without_encryption(lab):
    """Without encryption, the capture finds the text. So the capture works."""
    sender, target = crossing_pair(lab)
    with Capture() as capture:
        assert send_text(sender, target) == 20
    assert capture.has_text(), "the capture does not find the text"
    assert not encryption(lab)["enabled"]


def host_without_key(lab):
    """A host whose agent has no key gets nothing, and its packets in clear text are dropped."""
    sender, target = crossing_pair(lab)
    lab.kill(2)
    assert encryption(lab, "--on")["enabled"]
    wait_for(lambda: (lab.status(1).get("encryption") or {}).get("keys"), "host 1 has a key")
    wait_for(lambda: hosts_without_key(lab) == ["rack-2"], "host 2 has no key")
    with Capture() as capture:
        assert send_text(sender, target) == 0, "a host without a key got a datagram"
    assert not capture.has_text(), "a datagram for a host without a key was sent in clear text"
    before = lab.counter_in("h1", "clear_text")
    assert send_text(target, sender) == 0, "a datagram in clear text was accepted"
    assert lab.counter_in("h1", "clear_text") >= before + 20, "the dropped datagrams are not counted"
    lab.start(2)
    wait_for(lambda: is_settled(lab, 1), "both hosts use keys of generation 1", 40)
    wait_for(lambda: ping(sender, target.address), "the hosts reach each other")
    for host in lab.hosts:
        mode = os.stat(f"{lab.state(host)}/wireguard-1.key").st_mode & 0o777
        assert mode == 0o600, f"the private key has mode {mode:o}"
    private = open(f"{lab.state(1)}/wireguard-1.key").read()
    assert private not in open(f"{lab.state(1)}/status.json").read(), "the private key is in the report"


def smaller_mtu(lab):
    """The MTU of instances has room for all headers: packets of this size arrive unfragmented."""
    sender, target = crossing_pair(lab)
    link = json.loads(shell(f"ip -n {sender.namespace} -j link show eth0"))[0]
    assert link["mtu"] == 1500 - (80 if IPV6_UNDERLAY else 60) - 70, f"the MTU is {link['mtu']}"
    command = f"nsenter --net=/run/netns/{sender.namespace} ping -n -q -c 3 -W 2 -M do"
    with Capture() as capture:
        shell(f"{command} -s {link['mtu'] - 28} {target.address}")
    assert max(len(frame) for frame in capture.frames) <= 1514, "a packet was larger than the MTU of the underlay"
    fragments = [frame for frame in capture.frames if frame[12:14] == b"\x08\x00" and frame[20] & 0x3F]
    fragments += [frame for frame in capture.frames if frame[12:14] == b"\x86\xdd" and frame[20] == 44]
    assert not fragments, "packets were fragmented"


def no_clear_text(lab):
    """With encryption, the text arrives, but no frame of the underlay contains it."""
    sender, target = crossing_pair(lab)
    with Capture() as capture:
        assert send_text(sender, target) == 20
        assert send_text(target, sender) == 20
    assert not capture.has_text(), "the text is visible"
    ports = capture.ports()
    assert ports & set(TUNNEL_PORTS), f"no encrypted packets, but ports {ports}"
    assert 4789 not in ports, "VXLAN packets are visible"


def forge(lab, sender, target, source=None, to=None, fragmented=False):
    """Sends a datagram as a VXLAN packet in clear text from host 1 to host 2, or with other addresses."""
    with open(f"{lab.state(2)}/desired.json") as file:
        vpc = next(vpc for vpc in json.load(file)["vpcs"] if vpc["id"] == target.vpc)
    port = next(port for port in vpc["ports"] if port["instance_id"] == target.id)
    vni = next(subnet["vni"] for subnet in vpc["subnets"] if subnet["id"] == port["subnet_id"])
    datagram = frames.ipv4(sender.address, target.address, frames.udp(7000, 7000, TEXT))
    inner = frames.ethernet(port["mac"], "02:00:00:00:00:99", 0x0800, datagram)
    vxlan = struct.pack("!II", 0x08000000, vni << 8) + inner
    ends, datagram = (source or underlay(1), to or underlay(2)), frames.udp(40000, 4789, vxlan)
    in_packet, protocol = (frames.udp_in_ipv6, 0x86DD) if ":" in ends[0] else (frames.ipv4, 0x0800)
    packets = frames.in_fragments(*ends, datagram) if fragmented else [in_packet(*ends, datagram)]

    def mac(host):
        return json.loads(shell(f"ip -n h{host} -j link show eth0"))[0]["address"]

    sent = [frames.ethernet(mac(2), mac(1), protocol, packet) for packet in packets]

    def transmit():
        # A packet socket is not subject to the filters of host 1.
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
            sock.bind(("eth0", 0))
            for frame in sent * 3:
                sock.send(frame)
        return True

    sock = receiver(target)
    inside("h1", transmit)
    time.sleep(0.3)
    arrived = received(sock)
    sock.close()
    return len(arrived)


def forged_clear_text(lab):
    """A VXLAN packet in clear text is dropped and counted, even if it is from a known host."""
    sender, target = crossing_pair(lab)
    before = lab.counter_in("h2", "clear_text")
    assert forge(lab, sender, target) == 0, "a datagram in clear text was accepted"
    assert lab.counter_in("h2", "clear_text") == before + 3
    if IPV6_UNDERLAY:
        assert forge(lab, sender, target, fragmented=True) == 0, "fragments in clear text were accepted"
        assert lab.counter_in("h2", "clear_text") == before + 6
        # The hosts also have IPv4 addresses, as most hosts with an IPv6 underlay.
        for host in lab.hosts:
            shell(f"ip -n h{host} addr add 198.18.0.{host}/24 dev eth0")
        assert forge(lab, sender, target, "198.18.0.1", "198.18.0.2") == 0, "IPv4 in clear text was accepted"
        assert lab.counter_in("h2", "clear_text") == before + 9, "IPv4 in clear text is not counted"


def forged_fragments(lab):
    """The filter of an IPv6 underlay sees reassembled packets. IPv4 packets are always reassembled before it."""
    if not IPV6_UNDERLAY:
        return
    sender, target = crossing_pair(lab)
    assert forge(lab, sender, target, fragmented=True) == 3, "fragments of a known host did not arrive"
    unknown, other = "2001:db8:ffff::99", "2001:db8:ffff::150"
    shell(f"ip -n h2 addr add {other}/64 dev eth0 nodad")
    before = lab.counter_in("h2", "unknown_endpoint")
    for to in (underlay(2), other):
        for fragmented in (False, True):
            arrived = forge(lab, sender, target, unknown, to, fragmented)
            assert arrived == 0, f"{arrived} packets of an unknown endpoint to {to} (fragmented: {fragmented})"
    shell(f"ip -n h2 addr del {other}/64 dev eth0")
    assert lab.counter_in("h2", "unknown_endpoint") == before + 12


def rotation(lab):
    """New keys replace the old ones without a loss of packets, and without warnings."""
    offsets = {host: len(log_of(lab, host)) for host in lab.hosts}
    flow = Flow(*crossing_pair(lab))
    time.sleep(0.5)
    started = time.monotonic()
    assert encryption(lab, "--rotate")["rotation"]
    wait_for(lambda: is_settled(lab, 2), "both hosts use keys of generation 2", 40)
    seconds = time.monotonic() - started
    time.sleep(1)
    sent, lost, gap = flow.stop()
    print(f"   rotation in {seconds:.1f} s: {lost} of {sent} datagrams lost, longest gap {gap:.3f} s")
    assert lost == 0, f"{lost} of {sent} datagrams were lost"
    assert gap < 1, f"the longest gap was {gap:.3f} s"
    state = encryption(lab)
    assert not state["rotation"] and state["generation"] == 2, f"the rotation has not ended: {state}"
    for host in lab.hosts:
        assert not os.path.exists(f"{lab.state(host)}/wireguard-1.key"), "the old key remains"
        wait_for(lambda: f"h{host}-w1" not in shell(f"ip -n h{host} link"), "the old tunnel is removed")
    wait_for(lambda: len(tunnel_processes()) == len(lab.hosts), "the processes of the old tunnels have ended")
    for host, offset in offsets.items():
        lines = log_of(lab, host)[offset:].splitlines()
        problems = [line for line in lines if " INFO " not in line]
        assert not problems, f"host {host}: {problems}"


def tunnel_processes():
    """The processes of tunnels, with their command lines."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path) as file:
                words = file.read().split("\0")
        except OSError:
            continue
        if words[1:3] == ["agent", "tunnel"]:
            found[int(path.split("/")[2])] = words
    return found


def restart_of_agents(lab):
    """The agents are killed and restart: the tunnels continue, and no packet is lost."""
    before = tunnel_processes()
    assert len(before) == len(lab.hosts), f"{len(before)} tunnel processes run"
    flow = Flow(*crossing_pair(lab))
    for host in lab.hosts:
        lab.kill(host)
        time.sleep(1)
        lab.start(host)
        time.sleep(3)
    sent, lost, gap = flow.stop()
    print(f"   {lost} of {sent} datagrams lost, longest gap {gap:.3f} s")
    assert lost == 0, f"{lost} of {sent} datagrams were lost"
    assert tunnel_processes().keys() == before.keys(), "the tunnels were started again"


def repair(lab):
    """The agent repairs a tunnel whose process or link is removed. Meanwhile, nothing is sent in clear text."""
    sender, target = crossing_pair(lab)
    with Capture() as capture:
        for process in tunnel_processes():
            os.kill(process, signal.SIGKILL)
        reporting = set()

        def is_reported():
            warnings = {host: lab.status(host)["warnings"] for host in lab.hosts}
            is_restart = lambda warning: "was started again" in warning["text"]
            reporting.update(host for host, found in warnings.items() if any(map(is_restart, found)))
            return reporting == set(lab.hosts)

        wait_for(is_reported, "the agents report that the processes ended", 20)
        wait_for(lambda: ping(sender, target.address), "the hosts reach each other with new processes", 40)
        shell("ip -n h1 link delete h1-w2")
        send_text(sender, target)
        wait_for(lambda: ping(sender, target.address), "the hosts reach each other with a new link", 40)
    assert not capture.has_text() and 4789 not in capture.ports(), "packets were sent in clear text"


def switch_off(lab):
    """Without encryption, hosts send in clear text again, and nothing of the tunnels remains."""
    sender, target = crossing_pair(lab)
    assert not encryption(lab, "--off")["enabled"]
    for host in lab.hosts:
        wait_for(lambda: f"h{host}-w" not in shell(f"ip -n h{host} link"), "the tunnels are removed")
    wait_for(lambda: ping(sender, target.address), "the hosts reach each other", 40)
    with Capture() as capture:
        wait_for(lambda: send_text(sender, target) == 20, "datagrams arrive")
    assert capture.has_text(), "the text is not visible"
    assert forge(lab, sender, target) == 3, "the forged packet is not valid, so its check proves nothing"
    for host in lab.hosts:
        assert not glob.glob(f"{lab.state(host)}/wireguard-*"), "a key remains"
    wait_for(lambda: not tunnel_processes(), "the processes of the tunnels have ended")
