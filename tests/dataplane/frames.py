"""Frames that an instance must not send."""

import socket
import struct

from lab import inside


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(source, target, payload, protocol=17):
    head = struct.pack(
        "!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 1, 0, 64, protocol, 0,
        socket.inet_aton(source), socket.inet_aton(target),
    )
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def udp(source, target, payload):
    return struct.pack("!HHHH", source, target, 8 + len(payload), 0) + payload


def arp(operation, sender_mac, sender, target_mac, target):
    return struct.pack(
        "!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, operation,
        mac(sender_mac), socket.inet_aton(sender), mac(target_mac), socket.inet_aton(target),
    )


def icmpv6(source, target, body):
    """An ICMPv6 message with hop limit 255."""
    source, target = socket.inet_pton(socket.AF_INET6, source), socket.inet_pton(socket.AF_INET6, target)
    pseudo = source + target + struct.pack("!II", len(body), 58)
    body = body[:2] + struct.pack("!H", checksum(pseudo + body)) + body[4:]
    return struct.pack("!IHBB", 6 << 28, len(body), 58, 255) + source + target + body


def ipv6(source, target, protocol, body):
    ends = [socket.inet_pton(socket.AF_INET6, end) for end in (source, target)]
    return struct.pack("!IHBB", 6 << 28, len(body), protocol, 64) + b"".join(ends) + body


def udp_in_ipv6(source, target, datagram):
    """A UDP datagram with a checksum, which IPv6 requires."""
    ends = b"".join(socket.inet_pton(socket.AF_INET6, end) for end in (source, target))
    total = checksum(ends + struct.pack("!II", len(datagram), 17) + datagram)
    return ipv6(source, target, 17, datagram[:6] + struct.pack("!H", total or 0xFFFF) + datagram[8:])


def in_fragments(source, target, datagram):
    """A UDP datagram in two fragments. The first has only the UDP header."""
    content = udp_in_ipv6(source, target, datagram)[40:]
    parts = ((0, 1, content[:8]), (8, 0, content[8:]))
    return [ipv6(source, target, 44, struct.pack("!BBHI", 17, 0, offset | more, 7) + part) for offset, more, part in parts]


def behind_options(source, target, body):
    """An ICMPv6 message behind an extension header with padding."""
    packet = icmpv6(source, target, body)
    head, message = packet[:40], packet[40:]
    options = bytes([58, 0, 1, 4, 0, 0, 0, 0])
    return head[:4] + struct.pack("!HB", len(message) + 8, 60) + head[7:] + options + message


def ethernet(target, source, protocol, payload):
    return mac(target) + mac(source) + struct.pack("!H", protocol) + payload


def send(instance, frame, times=3):
    def transmit():
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
            sock.bind(("eth0", 0))
            for _ in range(times):
                sock.send(frame)
        return True

    inside(instance.namespace, transmit)
