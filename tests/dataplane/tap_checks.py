"""The driver tap: virtual machines."""

import fcntl
import json
import select
import struct
import threading
import time
from contextlib import contextmanager, suppress

import frames
from lab import Instance, inside, link_local, received, receiver, shell, wait_for


@contextmanager
def tap_hosts(lab, vpc, number):
    """A virtual machine on host 1 and an instance on host 2, with their own agents."""
    machine, peer = Instance(number, vpc, 0, 1, "10.0.0.95"), Instance(number + 1, vpc, 0, 2, "10.0.0.96")
    lab.instances += [machine, peer]
    lab.revision += 1
    states = {number: lab.desired(number) for number in (1, 2)}
    for state in states.values():
        state["vpcs"] = [found for found in state["vpcs"] if found["id"] == vpc]
    lab.instances = lab.instances[:-2]
    agents, drivers = [], ((1, "tap"), (2, "netns"))
    try:
        for number, driver in drivers:
            agents.append(lab.start_other(number, driver, states[number]))
        for number, driver in drivers:
            command = " ".join(lab.other(number, "plan", driver))
            wait_for(lambda: not shell(command), f"host {number} is as desired")
        with inside(f"t1-vpc-{vpc}", lambda: open_tap(f"gi{machine.id}")) as tap:
            # The kernel notices the new carrier with a delay.
            show = f"bridge -n t1-vpc-{vpc} link show dev gi{machine.id}"
            wait_for(lambda: "state forwarding" in shell(show), "the bridge forwards frames of the tap")
            yield machine, peer, tap
        assert not shell(" ".join(lab.other(1, "plan", "tap"))), "an open tap is not as desired"
    finally:
        for agent in agents:
            agent.kill()
            agent.wait()
        for number, driver in drivers:
            shell(" ".join(lab.other(number, "purge", driver)))


def taps(lab):
    """With the driver tap, a program that opens the device reaches instances on other hosts, and cannot forge."""
    with tap_hosts(lab, 5, 95) as (machine, peer, tap):
        sock = receiver(peer)
        for source, expected in ((machine.address, 3), ("10.0.0.250", 0)):
            payload = frames.ipv4(source, peer.address, frames.udp(7000, 7000, b"1"))
            for _ in range(3):
                tap.write(frames.ethernet(peer.mac, machine.mac, 0x0800, payload))
            time.sleep(0.2)
            arrived = len(received(sock))
            assert arrived == expected, f"{arrived} of {expected} frames from {source} arrived"
        sock.close()


def slaac(lab):
    """The kernel of a virtual machine, with default settings, gets the address of the desired state by SLAAC."""
    with tap_hosts(lab, 6, 97) as (machine, peer, tap), guest(machine, tap) as namespace:
        def addresses():
            text = shell(f"ip -n {namespace} -6 -j addr show dev eth0 scope global -tentative")
            # ip prints empty objects in place of addresses that do not match.
            found = [info for link in json.loads(text) for info in link.get("addr_info", []) if info]
            return [(info["local"], info["prefixlen"]) for info in found]

        wait_for(addresses, "the machine has an address")
        assert addresses() == [(machine.ipv6, 64)], f"{addresses()} instead of {machine.ipv6}"
        routes = shell(f"ip -n {namespace} -6 route show")
        gateway = link_local(f"02:00:00:00:{machine.vpc:02x}:00")
        assert f"default via {gateway} dev eth0 proto ra" in routes, f"routes: {routes}"
        assert machine.prefix not in routes, f"the prefix is on-link: {routes}"
        mtu = shell(f"nsenter --net=/run/netns/{namespace} cat /proc/sys/net/ipv6/conf/eth0/mtu").strip()
        assert mtu == "1450", f"the MTU is {mtu}"
        command = f"nsenter --net=/run/netns/{namespace} ping -6 -q -c 1 -W 1 {peer.ipv6}"
        wait_for(lambda: "1 received" in shell(command, check=False), "the machine reaches another host")


@contextmanager
def guest(machine, tap):
    """A network namespace in place of a virtual machine: its frames pass through the tap."""
    name = f"guest-{machine.id}"
    shell(f"ip netns add {name}")
    inner = inside(name, lambda: open_tap("eth0"))
    stop = threading.Event()

    def copy(source, target):
        while not stop.is_set():
            if select.select([source], [], [], 0.1)[0]:
                frame = source.read(65536)
                # The kernel refuses frames while the device of the machine is down.
                with suppress(OSError):
                    target.write(frame)

    threads = [threading.Thread(target=copy, args=ends) for ends in ((tap, inner), (inner, tap))]
    for thread in threads:
        thread.start()
    try:
        shell(f"ip -n {name} link set eth0 address {machine.mac} up")
        yield name
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        inner.close()
        shell(f"ip netns del {name}")


def open_tap(name):
    tap = open("/dev/net/tun", "r+b", buffering=0)
    fcntl.ioctl(tap, 0x400454CA, struct.pack("16sH22x", name.encode(), 0x1002))
    return tap
