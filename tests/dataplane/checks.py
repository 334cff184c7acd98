"""The promises of the data plane. A check raises AssertionError if a promise is broken."""

import random
import socket
import struct
import time

import frames
import router_advertisements
from lab import Instance, inside, link_local, ping, received, receiver, shell, wait_for

BROADCAST = "ff:ff:ff:ff:ff:ff"


def populate(lab):
    """Two VPCs with the same ranges. Most addresses exist in both, some in one only."""
    number = 10
    for vpc in (1, 2):
        for host in lab.hosts:
            for subnet in (0, 1):
                number += 1
                last = 10 + host + (5 * vpc if host == 3 else 0)
                address = f"10.0.{subnet}.{last}"
                lab.instances.append(Instance(number, vpc, subnet, host, address))
    # A second instance on the same host in the same subnet.
    lab.instances.append(Instance(number + 1, 1, 0, 1, "10.0.0.20"))
    # The first range is outside of all subnets, the others are inside of the subnet of the instance.
    lab.instances[0].ranges = ["172.16.5.0/24", "10.0.0.64/28", "2001:db8:0:ff::/64"]


def of_vpc(lab, vpc):
    return [instance for instance in lab.instances if instance.vpc == vpc]


def reachability(lab, pairs=10_000):
    """A datagram reaches the instance with its address in the sender's VPC, and no other instance."""
    for family in (socket.AF_INET, socket.AF_INET6):
        sockets = {instance.id: receiver(instance, family) for instance in lab.instances}
        try:
            send_pairs(lab, family, sockets, pairs)
        finally:
            for sock in sockets.values():
                sock.close()


def send_pairs(lab, family, sockets, pairs):
    address = (lambda instance: instance.address) if family == socket.AF_INET else (lambda instance: instance.ipv6)
    expected, arrived = {}, {}
    chance = random.Random(7)

    def collect():
        for number, sock in sockets.items():
            for message in received(sock):
                arrived.setdefault(int(message), []).append(number)

    for number in range(pairs):
        sender, target = chance.choice(lab.instances), chance.choice(lab.instances)
        own = [other for other in of_vpc(lab, sender.vpc) if address(other) == address(target)]
        expected[number] = [other.id for other in own]
        try:
            sockets[sender.id].sendto(str(number).encode(), (address(target), 7000))
        except OSError:
            pass
        if number % 200 == 199:
            time.sleep(0.01)
            collect()
    time.sleep(0.3)
    collect()
    wrong = {number for number in expected if arrived.get(number, []) != expected[number]}
    leaked = {number for number in wrong if set(arrived.get(number, [])) - set(expected[number])}
    assert not leaked, f"{len(leaked)} datagrams reached another instance"
    assert not wrong, f"{len(wrong)} of {pairs} datagrams did not arrive"


def gateways(lab):
    """Instances reach the gateway of their subnet, and a routed range reaches its instance from everywhere."""
    owner = lab.instances[0]
    addresses = own_ranges(owner)
    for instance in of_vpc(lab, 1):
        assert ping(instance, f"10.0.{instance.subnet}.1"), f"{instance.id} does not reach its gateway"
        forget_neighbors(instance)
        for address in addresses:
            assert instance is owner or ping(instance, address), f"{instance.id} does not reach {address}"
    for instance in of_vpc(lab, 2)[:2]:
        for address in addresses:
            assert not ping(instance, address, wait=0.3), f"{address} of another VPC is reachable"
    assert not ping(lab.instances[1], "192.0.2.2", wait=0.3), "the underlay is reachable from an instance"


def own_ranges(owner):
    """Gives an instance an address in each of its ranges. As a router would, it does not answer ARP for them."""
    shell(f"nsenter --net=/run/netns/{owner.namespace} sysctl -qw net.ipv4.conf.all.arp_ignore=1")
    addresses = ["172.16.5.9", "10.0.0.70", "2001:db8:0:ff::9"]
    for address in addresses:
        shell(f"ip -n {owner.namespace} addr replace {address}/{128 if ':' in address else 32} dev lo")
    return addresses


def forget_neighbors(instance):
    """An instance resolves addresses again."""
    shell(f"ip -n {instance.namespace} neigh flush dev eth0")


def unused_addresses(lab):
    """The gateway answers ARP for ranges inside of a subnet, but for no other address of the subnet."""
    for instance in of_vpc(lab, 1)[:3:2]:
        # After an earlier request without an answer, the kernel would wait for a second.
        forget_neighbors(instance)
        assert not ping(instance, "10.0.0.200", wait=0.3), "an unused address answers"
        neighbor = shell(f"ip -n {instance.namespace} neigh show 10.0.0.200")
        assert "lladdr" not in neighbor, f"ARP for an unused address was answered: {neighbor}"


def large_packets(lab):
    """A packet of the full MTU reaches another host."""
    sender = lab.instances[0]
    target = next(other for other in of_vpc(lab, 1) if other.host != sender.host)
    command = f"nsenter --net=/run/netns/{sender.namespace} ping -q -c 1 -W 1 -M do -s 1422 {target.address}"
    shell(command)


def spoofing(lab):
    """Forged frames are dropped and counted."""
    attacker = lab.instances[0]
    victim = next(other for other in of_vpc(lab, 1) if other.subnet == attacker.subnet and other is not attacker)
    gateway, gateway_mac = f"10.0.{attacker.subnet}.1", f"02:00:00:00:{attacker.vpc:02x}:{attacker.subnet:02x}"
    datagram = frames.udp(7000, 7000, b"999999")
    own, other = attacker.mac, "02:bb:00:00:00:01"
    advertisement = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 1800, 0, 0)
    neighbor = struct.pack("!BBHI", 136, 0, 0, 0x20000000) + socket.inet_pton(socket.AF_INET6, victim.ipv6)
    option = b"\x02\x01" + frames.mac(own)
    cases = {
        "mac": (victim.mac, other, 0x0800, frames.ipv4(attacker.address, victim.address, datagram)),
        "ip": (victim.mac, own, 0x0800, frames.ipv4("10.0.0.250", victim.address, datagram)),
        "arp": (BROADCAST, own, 0x0806, frames.arp(2, own, gateway, victim.mac, victim.address)),
        "dhcp": (BROADCAST, own, 0x0800, frames.ipv4(attacker.address, "255.255.255.255", frames.udp(67, 68, b"x" * 240))),
        "ra": ("33:33:00:00:00:01", own, 0x86DD, frames.icmpv6(link_local(own), "ff02::1", advertisement)),
        "nd": (victim.mac, own, 0x86DD, frames.icmpv6(attacker.ipv6, victim.ipv6, neighbor + option)),
        "protocol": (victim.mac, own, 0x88CC, b"\0" * 60),
    }
    cases_of = [(name, frames.ethernet(*parts)) for name, parts in cases.items()]
    sender = frames.arp(1, other, attacker.address, "00:00:00:00:00:00", victim.address)
    cases_of.append(("arp", frames.ethernet(BROADCAST, own, 0x0806, sender)))
    six = frames.icmpv6("2001:db8:0:bad::1", victim.ipv6, struct.pack("!BBHHH", 128, 0, 0, 1, 1))
    cases_of.append(("ip", frames.ethernet(gateway_mac, own, 0x86DD, six)))
    # The message is behind a header with destination options.
    hidden = frames.behind_options(link_local(own), "ff02::1", advertisement)
    cases_of.append(("ra", frames.ethernet("33:33:00:00:00:01", own, 0x86DD, hidden)))
    announcement = frames.arp(1, own, gateway, "00:00:00:00:00:00", gateway)
    cases_of.append(("arp", frames.ethernet(BROADCAST, own, 0x0806, announcement)))
    target = socket.inet_pton(socket.AF_INET6, link_local(gateway_mac))
    neighbor = struct.pack("!BBHI", 136, 0, 0, 0x20000000) + target + option
    six = frames.icmpv6(link_local(own), victim.ipv6, neighbor)
    cases_of.append(("nd", frames.ethernet(victim.mac, own, 0x86DD, six)))
    tagged = struct.pack("!HH", 7, 0x0800) + frames.ipv4(attacker.address, victim.address, datagram)
    cases_of.append(("protocol", frames.ethernet(victim.mac, own, 0x8100, tagged)))
    server = struct.pack("!HHHH", 547, 546, 12, 0) + b"\x07\0\0\0"
    six = frames.ipv6(attacker.ipv6, victim.ipv6, 17, server)
    cases_of.append(("dhcp", frames.ethernet(gateway_mac, own, 0x86DD, six)))
    sock = receiver(victim)
    try:
        for name, frame in cases_of:
            before = lab.counter(attacker, name)
            frames.send(attacker, frame)
            counted = lab.counter(attacker, name) - before
            assert counted == 3, f"{name}: {counted} of 3 forged frames were counted"
        assert not received(sock), "a forged frame was delivered"
    finally:
        sock.close()
    frame = frames.ethernet(victim.mac, own, 0x0800, frames.ipv4(attacker.address, victim.address, datagram))
    check_sent(attacker, victim, frame)


def check_sent(attacker, victim, frame):
    """The same frame with its own addresses arrives, so the check would notice a forged one."""
    sock = receiver(victim)
    frames.send(attacker, frame)
    time.sleep(0.1)
    assert len(received(sock)) == 3, "frames with the right source did not arrive"
    sock.close()


def neighbor_of(lab, instance):
    """Another instance on the same host, in the same subnet."""
    place = (instance.host, instance.subnet)
    others = (other for other in of_vpc(lab, instance.vpc) if other is not instance)
    return next(other for other in others if (other.host, other.subnet) == place)


def unknown_frames(lab):
    """Frames to a hardware address that no instance has reach no instance."""
    sender = lab.instances[0]
    neighbor = neighbor_of(lab, sender)
    packet = frames.ipv4(sender.address, neighbor.address, frames.udp(7000, 7000, b"999999"))
    targets = ("02:cc:00:00:00:01", neighbor.mac)
    unknown, known = (frames.ethernet(target, sender.mac, 0x0800, packet) for target in targets)
    sniffer, seen = inside(neighbor.namespace, open_sniffer), []

    def have_arrived():
        seen.extend(received(sniffer))
        return seen.count(known) == 3

    try:
        # Frames are delivered in order, so the unknown ones would arrive first.
        frames.send(sender, unknown)
        frames.send(sender, known)
        wait_for(have_arrived, "frames to the neighbor arrive", seconds=5)
    finally:
        sniffer.close()
    assert unknown not in seen, "frames to an unknown address were flooded"


def open_sniffer():
    """Receives all frames of a namespace, also those for others."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sock.setblocking(False)
    return sock


def unknown_endpoint(lab):
    """Tunnel packets from an address that is no host are dropped and counted."""
    victim = lab.instances[0]
    inner = frames.ethernet(
        victim.mac, "02:bb:00:00:00:01", 0x0800,
        frames.ipv4("10.0.0.99", victim.address, frames.udp(7000, 7000, b"999999")),
    )
    vni = 1000 + victim.vpc * 10 + victim.subnet
    packet = struct.pack("!II", 0x08000000, vni << 8) + inner
    sock = receiver(victim)

    def transmit(source, target):
        def send():
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
                sender.bind((source, 0))
                for _ in range(3):
                    sender.sendto(packet, (target, 4789))
            return True

        inside("h2", send)
        time.sleep(0.1)

    host, address = f"h{victim.host}", f"192.0.2.{victim.host}"
    shell(f"ip -n {host} addr replace 192.0.2.150/24 dev eth0")
    shell("ip -n h2 addr replace 192.0.2.200/24 dev eth0")
    shell("ip -n h2 route replace default dev eth0")
    try:
        # A known host uses only the underlay addresses of other hosts.
        others = ("192.0.2.150", "192.0.2.255", "255.255.255.255", "224.0.0.1")
        pairs = [(source, other) for source in ("192.0.2.200", "192.0.2.2") for other in others]
        for source, target in [("192.0.2.200", address), *pairs]:
            before = lab.counter_in(host, "unknown_endpoint")
            transmit(source, target)
            counted = lab.counter_in(host, "unknown_endpoint") - before
            assert not received(sock), f"a tunnel packet from {source} to {target} was delivered"
            assert counted == 3, f"{counted} of 3 tunnel packets from {source} to {target} were counted"
        transmit("192.0.2.2", address)
        assert len(received(sock)) == 3, "tunnel packets of a known host did not arrive"
    finally:
        sock.close()
        shell("ip -n h2 route del default dev eth0; ip -n h2 addr del 192.0.2.200/24 dev eth0")
        shell(f"ip -n {host} addr del 192.0.2.150/24 dev eth0")


def dhcp(lab):
    """An instance gets its own address by DHCP. Another hardware address gets no answer."""
    client = lab.instances[0]
    offer = exchange(client, client.mac, [53, 1, 1])
    assert offer[16:20] == socket.inet_aton(client.address), "the offer has another address"
    options = options_of(offer)
    assert options[53] == b"\x02" and options[1] == b"\xff\xff\xff\0", "no offer with a mask"
    assert options[26] == struct.pack("!H", 1450), "the offer has another MTU"
    assert options[3] == socket.inet_aton(f"10.0.{client.subnet}.1"), "the offer has another gateway"
    requested = list(socket.inet_aton(client.address))
    assert options_of(exchange(client, client.mac, [53, 1, 3, 50, 4, *requested]))[53] == b"\x05", "no ACK"
    assert options_of(exchange(client, client.mac, [53, 1, 3, 50, 4, 10, 0, 0, 99]))[53] == b"\x06", "no NAK"
    assert exchange(client, "02:bb:00:00:00:01", [53, 1, 1]) is None, "an unknown client got an answer"


def exchange(client, mac, options):
    """Sends a DHCP message and returns the answer, both as an instance without an address would."""
    head = bytes([1, 1, 6, 0]) + b"abcd" + b"\0" * 20 + frames.mac(mac) + b"\0" * 202 + bytes([99, 130, 83, 99])
    message = frames.ipv4("0.0.0.0", "255.255.255.255", frames.udp(68, 67, head + bytes([*options, 255])))

    def transact():
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800)) as sock:
            sock.bind(("eth0", 0x0800))
            sock.send(frames.ethernet(BROADCAST, client.mac, 0x0800, message))
            deadline = time.monotonic() + 1
            while (left := deadline - time.monotonic()) > 0:
                sock.settimeout(left)
                try:
                    frame = sock.recv(2000)
                except TimeoutError:
                    break
                if frame[23] == 17 and frame[34:38] == struct.pack("!HH", 67, 68):
                    return [frame[42:]]
        return [None]

    return inside(client.namespace, transact)[0]


def options_of(message):
    found, rest = {}, message[240:]
    while rest and rest[0] != 255:
        found[rest[0]] = rest[2 : 2 + rest[1]]
        rest = rest[2 + rest[1] :]
    return found


def router_advertisement(lab):
    """Each instance gets its own prefix, when it asks and when its settings change."""
    client, neighbor = lab.instances[0], lab.instances[-1]
    assert (client.host, client.vpc, client.subnet) == (neighbor.host, neighbor.vpc, neighbor.subnet)
    gateway = link_local(f"02:00:00:00:{client.vpc:02x}:{client.subnet:02x}")
    sockets = {instance.id: router_advertisements.listen(instance.namespace) for instance in (client, neighbor)}
    sock, other = sockets.values()
    router_advertisements.solicit(sock, client.mac)
    check_advertisement(router_advertisements.received(sock), client, gateway, lab.resolvers)
    # The kernel of the other instance can also request its own advertisement.
    found = router_advertisements.received(other, 0.3)
    assert not found or found.prefixes == [(neighbor.prefix, 0x40)], "another instance got the advertisement"
    router_advertisements.solicit(sock, client.mac, source="::")
    for instance in (client, neighbor):
        found = router_advertisements.received(sockets[instance.id], 5)
        check_advertisement(found, instance, gateway, lab.resolvers)
    lab.resolvers = ["192.0.2.53", "2001:db8:53::54"]
    lab.converge()
    check_advertisement(router_advertisements.received(sock), client, gateway, lab.resolvers)
    for used in sockets.values():
        used.close()


def check_advertisement(found, instance, gateway, resolvers):
    assert found, f"instance {instance.id} got no advertisement"
    assert (found.source, found.hop_limit) == (gateway, 255), f"from {found.source} with hop limit {found.hop_limit}"
    assert found.target_mac == instance.mac, f"sent to {found.target_mac}"
    # The instance derives its address from the prefix, which is not on-link. There is no DHCPv6.
    assert found.prefixes == [(instance.prefix, 0x40)], f"prefixes {found.prefixes}"
    assert (found.flags, found.mtu) == (0, 1450), f"flags {found.flags}, MTU {found.mtu}"
    assert found.router_lifetime > 3600, f"a router for {found.router_lifetime} s"
    expected = [resolver for resolver in resolvers if ":" in resolver]
    assert found.resolvers == expected, f"resolvers {found.resolvers}"


def restart_without_loss(lab):
    """A killed agent and its restart lose no packet of a running flow."""
    sender = lab.instances[0]
    target = next(other for other in of_vpc(lab, 1) if other.host != sender.host and other.subnet != sender.subnet)
    out, sock = receiver(sender), receiver(target)
    sent, arrived = 0, []

    def flow(seconds):
        nonlocal sent
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            out.sendto(str(sent).encode(), (target.address, 7000))
            sent += 1
            time.sleep(0.001)
        arrived.extend(received(sock))

    flow(0.5)
    for host in (sender.host, target.host):
        lab.kill(host)
        flow(0.5)
        lab.start(host)
        flow(3)
    time.sleep(0.2)
    arrived.extend(received(sock))
    out.close()
    sock.close()
    assert len(arrived) == sent, f"{sent - len(arrived)} of {sent} packets were lost"
