"""Router advertisements, as an instance receives them."""

import ipaddress
import socket
import struct
import time
from dataclasses import dataclass, field

import frames
from lab import inside, link_local

ALL_ROUTERS = "33:33:00:00:00:02"


@dataclass
class Advertisement:
    """The fields of a received message."""

    source: str
    target: str
    target_mac: str
    hop_limit: int
    flags: int
    router_lifetime: int
    mtu: int = None
    prefixes: list = field(default_factory=list)
    resolvers: list = field(default_factory=list)


def listen(namespace, link="eth0"):
    """A socket that receives the frames of an instance."""

    def bind():
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x86DD))
        sock.bind((link, 0x86DD))
        return sock

    return inside(namespace, bind)


def solicit(sock, mac, source=None):
    message = struct.pack("!BBHI", 133, 0, 0, 0)
    packet = frames.icmpv6(source or link_local(mac), "ff02::2", message)
    sock.send(frames.ethernet(ALL_ROUTERS, mac, 0x86DD, packet))


def received(sock, seconds=2):
    """The first advertisement within the time, or None."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        sock.settimeout(left)
        try:
            frame = sock.recv(2000)
        except TimeoutError:
            break
        if frame[20] == 58 and frame[54] == 134:
            return parse(frame)
    return None


def parse(frame):
    head, body = frame[14:54], frame[54:]
    found = Advertisement(
        source=str(ipaddress.IPv6Address(head[8:24])),
        target=str(ipaddress.IPv6Address(head[24:40])),
        target_mac=frame[:6].hex(":"),
        hop_limit=head[7],
        flags=body[5],
        router_lifetime=int.from_bytes(body[6:8]),
    )
    rest = body[16:]
    while rest:
        option, rest = rest[: rest[1] * 8], rest[rest[1] * 8 :]
        match option[0]:
            case 3:
                prefix = ipaddress.IPv6Network((option[16:32], option[2]))
                found.prefixes.append((str(prefix), option[3]))
            case 5:
                found.mtu = int.from_bytes(option[4:8])
            case 25:
                addresses = range(8, len(option), 16)
                found.resolvers += [str(ipaddress.IPv6Address(option[at : at + 16])) for at in addresses]
    return found
