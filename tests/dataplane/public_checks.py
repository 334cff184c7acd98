"""Instances with 1:1 NAT and public IPv6 networks, and the networks outside of their VPC."""

import socket
import subprocess
import time

from lab import inside, ping, receiver, shell

PUBLIC = "198.51.100.11"
# Host 2 is also a machine outside, with addresses that belong to no host.
OUTSIDE, OUTSIDE_V6 = "203.0.113.2", "2001:db8:aaaa::2"
# Addresses of the hosts 1 and 2, and of a private network behind host 2.
FORBIDDEN = ["192.0.2.1", "10.99.0.1", "192.0.2.2", "172.20.0.2", "100.64.0.2"]
FORBIDDEN_V6 = ["2001:db8:bbbb::1", "fd00:99::2"]


def prepare(lab):
    """Gives the first instance public addresses, and host 2 networks."""
    inner = lab.instances[0]
    if inner.nat:
        return inner
    for command in [
        "nsenter --net=/run/netns/h1 sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1",
        "ip -n h1 addr add 10.99.0.1/32 dev lo",
        "ip -n h1 addr add 2001:db8:bbbb::1/64 dev eth0 nodad",
        "ip -n h2 addr add 2001:db8:bbbb::2/64 dev eth0 nodad",
        f"ip -n h2 addr add {OUTSIDE}/32 dev lo",
        f"ip -n h2 addr add {OUTSIDE_V6}/128 dev lo",
        "ip -n h2 addr add 172.20.0.2/32 dev lo",
        "ip -n h2 addr add 100.64.0.2/32 dev lo",
        "ip -n h2 addr add fd00:99::2/128 dev lo",
        f"ip -n h2 route replace {PUBLIC}/32 via 192.0.2.1",
        f"ip -n h2 route replace {inner.ipv6}/128 via 2001:db8:bbbb::1",
        "ip -n h1 route replace default via 192.0.2.2",
        "ip -n h1 -6 route replace default via 2001:db8:bbbb::2",
    ]:
        shell(command)
    inner.nat, inner.public = PUBLIC, True
    lab.converge()
    return inner


def reaches(namespace, address):
    command = f"nsenter --net=/run/netns/{namespace} ping -n -q -c 1 -W 1 {address}"
    return subprocess.run(command, shell=True, capture_output=True).returncode == 0


def nat(lab):
    """With 1:1 NAT, an instance reaches the outside and is reachable. Its neighbors are not."""
    inner, other = prepare(lab), lab.instances[1]
    assert ping(inner, OUTSIDE), "no egress through NAT"
    assert reaches("h2", PUBLIC), "no ingress through NAT"
    sock, seen = receiver(inner), inside("h2", open_outside)
    sock.sendto(b"hello", (OUTSIDE, 7001))
    time.sleep(0.1)
    source = seen.recvfrom(100)[1][0]
    sock.close()
    seen.close()
    assert source == PUBLIC, f"the source outside is {source}"
    before = lab.counter_in("h1-vpc-1", "no_egress")
    assert not ping(other, OUTSIDE), "egress without NAT"
    counted = lab.counter_in("h1-vpc-1", "no_egress") - before
    assert counted == 1, f"{counted} of 1 packets without NAT were counted"
    before = lab.counter_in("h1-vpc-1", "no_ingress")
    shell("ip -n h1 route replace 10.0.0.0/16 via 169.254.0.2 dev h1-u1 onlink")
    shell("ip -n h2 route replace 10.0.0.0/16 via 192.0.2.1")
    try:
        for address in (inner.address, other.address):
            assert not reaches("h2", address), "a private address is reachable from outside"
        counted = lab.counter_in("h1-vpc-1", "no_ingress") - before
        assert counted == 2, f"{counted} of 2 packets to private addresses were counted"
    finally:
        shell("ip -n h1 route del 10.0.0.0/16; ip -n h2 route del 10.0.0.0/16")


def open_outside():
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((OUTSIDE, 7001))
    sock.settimeout(1)
    return sock


def public_ipv6(lab):
    """With public IPv6 networks, an instance reaches the outside and is reachable."""
    inner = prepare(lab)
    assert ping(inner, OUTSIDE_V6), "no way out with public IPv6 networks"
    assert reaches("h2", inner.ipv6), "no way in with public IPv6 networks"


def hosts_are_protected(lab):
    """Instances with public addresses reach no host and no private network. Hosts reach them."""
    inner = prepare(lab)
    for address in FORBIDDEN + FORBIDDEN_V6:
        # Host 1 itself reaches all of them, so only the filter can drop the packet.
        assert reaches("h1", address), f"the host does not reach {address}"
        before = lab.counter_in("h1", "not_public")
        assert not ping(inner, address), f"an instance reaches {address}"
        counted = lab.counter_in("h1", "not_public") - before
        assert counted == 1, f"{counted} of 1 packets to {address} were counted"
    for host in ("h1", "h2"):
        for address in (PUBLIC, inner.ipv6):
            assert reaches(host, address), f"no response from {address} to {host}"


def tunnels_are_not_tracked(lab):
    """The filter of uplinks uses the state of connections. The kernel does not track those of the tunnels."""
    sender = prepare(lab)
    target = next(other for other in lab.instances if other.vpc == sender.vpc and other.host != sender.host)
    nft = "nsenter --net=/run/netns/h1 nft"
    try:
        for table, condition in (("all_packets", ""), ("tracked", "ct state != untracked")):
            for hook in ("input", "output"):
                rule = f"udp dport 4789 {condition} counter name {hook}"
                chain = f"chain {hook} {{ type filter hook {hook} priority 0; {rule}; }}"
                shell(f"{nft} 'table inet {table} {{ counter {hook} {{ }}; {chain}; }}'")
        assert ping(sender, target.address)
        for table, expected in (("all_packets", True), ("tracked", False)):
            for name in ("input", "output"):
                listed = shell(f"{nft} list counter inet {table} {name}")
                assert ("packets 0 " not in listed) == expected, f"{table}: {listed}"
    finally:
        for table in ("all_packets", "tracked"):
            shell(f"{nft} delete table inet {table}", check=False)


def allowed_networks(lab):
    """The operator of a host allows private networks, but not the host itself."""
    inner = prepare(lab)
    lab.kill(1)
    networks = ("172.16.0.0/12", "172.20.0.0/16", "10.99.0.0/16")
    lab.start(1, *[word for network in networks for word in ("--allow-network", network)])
    lab.converge()
    assert ping(inner, "172.20.0.2"), "an allowed network is not reachable"
    for address in ("100.64.0.2", "10.99.0.1", "192.0.2.1", "192.0.2.2"):
        assert not ping(inner, address), f"an instance reaches {address}"
    lab.kill(1)
    lab.start(1)
    lab.converge()
    assert not ping(inner, "172.20.0.2"), "a network is reachable that is not allowed any more"


def resolvers(lab):
    """Instances reach the DNS servers of their region, also in a private network, at port 53."""
    inner, earlier = prepare(lab), lab.resolvers
    lab.resolvers = [*earlier, "172.20.0.2"]
    lab.converge()
    try:
        for port, expected in ((53, [b"query"]), (54, [])):
            server = inside("h2", lambda: bound("172.20.0.2", port))
            sock = receiver(inner)
            sock.sendto(b"query", ("172.20.0.2", port))
            time.sleep(0.2)
            found = []
            try:
                found.append(server.recv(100))
            except BlockingIOError:
                pass
            sock.close()
            server.close()
            assert found == expected, f"port {port}: {found}"
    finally:
        lab.resolvers = earlier
        lab.converge()


def bound(address, port):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((address, port))
    sock.setblocking(False)
    return sock
