"""garth agent capture: the frames of a port."""

import signal
import struct
import subprocess
import time

import frames
from lab import ping, shell, wait_for

HEADER = struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)


def command(lab, instance, *options):
    port = ["capture", str(instance), "--prefix", "h1", *options]
    return ["nsenter", "--net=/run/netns/h1", lab.garth, "agent", *port]


def start(lab, instance, *options):
    return subprocess.Popen(command(lab, instance, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def parse(data):
    """The frames of a file, with their times."""
    assert data[:24] == HEADER, f"the header is {data[:24].hex()}"
    found, rest = [], data[24:]
    while rest:
        seconds, nanoseconds, length, original = struct.unpack("<IIII", rest[:16])
        assert length == original, "a short frame is truncated"
        found.append((seconds + nanoseconds / 1e9, rest[16 : 16 + length]))
        rest = rest[16 + length :]
    return found


def capture(lab):
    """Frames in both directions are captured, and also those that a filter drops. Frames of other ports are not."""
    first, other = lab.instances[0], lab.instances[1]
    assert (first.host, first.vpc) == (other.host, other.vpc)
    running = start(lab, first.id)
    time.sleep(0.5)
    ping(other, lab.instances[3].address)
    forged = frames.ethernet("02:bb:00:00:00:01", first.mac, 0x0800, frames.ipv4("10.0.0.250", "10.0.0.251", b"x" * 30))
    frames.send(first, forged, times=1)
    ping(first, f"10.0.{first.subnet}.1")
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    data, errors = running.communicate(timeout=5)
    captured = parse(data)
    assert running.returncode == 0, errors.decode()
    assert f"{len(captured)} frames captured" in errors.decode(), errors.decode()
    assert forged in [frame for _, frame in captured], "the dropped frame was not captured"
    # The bytes 23 and 34 are the protocol and, of ICMP, the type.
    echo = [(frame[34], frame[6:12] == frames.mac(first.mac)) for _, frame in captured if frame[23] == 1]
    assert echo == [(8, True), (0, False)], f"types of echo messages, and whether the instance sent them: {echo}"
    assert not [frame for _, frame in captured if frames.mac(other.mac) in frame], "a frame of another port"
    assert all(abs(at - time.time()) < 60 for at, _ in captured), "the times are wrong"

    running = start(lab, first.id, "--count", "2")
    time.sleep(0.5)
    frames.send(first, forged, times=5)
    data, errors = running.communicate(timeout=10)
    assert running.returncode == 0 and len(parse(data)) == 2, errors.decode()

    running = start(lab, first.id)
    running.stdout.read(24)
    running.stdout.close()
    wait_for(lambda: running.poll() is not None, "the capture ends with its reader", 5)
    assert running.returncode == 0, running.stderr.read().decode()

    failed = subprocess.run(command(lab, 999), capture_output=True, text=True)
    assert failed.returncode == 1 and not failed.stdout, f"status {failed.returncode}"
    assert "no port of interface 999 (prefix h1)" in failed.stderr, failed.stderr

    running = start(lab, first.id)
    running.stdout.read(24)
    shell(f"ip -n h1-vpc-{first.vpc} link del gi{first.id}")
    running.communicate(timeout=5)
    assert running.returncode == 1, "the capture continues without its port"
    wait_for(lambda: ping(first, f"10.0.{first.subnet}.1"), "the port is repaired")
