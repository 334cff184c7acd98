"""The promises of the data plane to a virtual machine. A check raises AssertionError if a promise is broken."""

import hashlib
import http.server
import json
import os
import threading
import time

from guest import Guest
from lab import inside, ping, shell, wait_for
from server_lab import ServerLab

# Host 1 runs virtual machines, host 2 namespaces.
DRIVERS = {1: "tap", 2: "netns"}
OTHER_MAC = "02:bb:00:00:00:01"
DOWNLOAD_BYTES = 8 << 20


class MachineLab(ServerLab):
    """Two hosts of a server: the first has a virtual machine, the second an instance as a namespace."""

    def command(self, host, *arguments):
        return [*super().command(host, *arguments), "--driver", DRIVERS[host]]

    def boot(self, kernel, initial):
        self.join_hosts()
        # The first host has room for one instance only, and the second is not used yet.
        self.admin("host", "set", "rack-1", "--instances", "1")
        self.admin("host", "drain", "rack-2")
        vpc = self.send("POST", "/vpcs", {
            "label": "one", "region": "us-east", "ipv6": [{"range": "/52"}],
            "subnets": [
                {"label": f"net-{number}", "ipv4": f"10.0.{number}.0/24", "ipv6": [{"range": "auto"}]}
                for number in range(2)
            ],
        })
        subnets = [subnet["id"] for subnet in vpc["subnets"]]
        self.virtual = self.place(1, vpc["id"], subnets[0])
        self.admin("host", "undrain", "rack-2")
        self.peers = [self.place(2, vpc["id"], subnet) for subnet in subnets]
        self.at = f"h1-vpc-{vpc['id']}"
        port = self.port_state()
        self.tap, self.mac = f"gi{port['interface_id']}", port["mac"]
        self.guest = Guest(kernel, initial, self.at, self.tap, self.mac, f"{self.folder}/qemu.log")

    def place(self, host, vpc, subnet):
        machine = self.boot_instance(vpc, subnet)
        is_running = lambda: self.send("GET", f"/linode/instances/{machine.id}")["status"] == "running"
        wait_for(is_running, f"instance {machine.id} runs", 60)
        self.read_addresses(machine)
        assert self.places()[machine.id] == host, f"instance {machine.id} is on another host"
        return machine

    def port_state(self):
        with open(f"{self.state(1)}/desired.json") as file:
            return json.load(file)["vpcs"][0]["ports"][0]

    def drops(self):
        """The drop counters of the virtual machine in the last report of its agent."""
        return self.status(1)["ports"][0]["drops"]

    def close(self):
        if hasattr(self, "guest"):
            self.guest.stop()

    def logs(self):
        path = f"{self.folder}/qemu.log"
        return (open(path).read() if os.path.exists(path) else "") + super().logs()


def is_forwarding(lab):
    """The kernel notices the carrier of an opened tap with a delay."""
    return "state forwarding" in shell(f"bridge -n {lab.at} link show dev {lab.tap}")


def lease(guest, attempts=10):
    """Whether the machine gets an address by DHCP."""
    return guest.succeeds(f"udhcpc -i eth0 -f -n -q -t {attempts} -T 1 -O mtu -s /dhcp", 60)


def addresses(lab):
    """The machine gets its addresses, its gateways and its MTU by DHCP and SLAAC. With another hardware address, DHCP
    does not answer."""
    guest = lab.guest
    guest.run("ip link set eth0 up")
    wait_for(lambda: is_forwarding(lab), "the bridge forwards frames of the tap")
    guest.run(f"ip link set eth0 down; ip link set eth0 address {OTHER_MAC}; ip link set eth0 up")
    assert not lease(guest, attempts=2), "another hardware address got a lease"
    guest.run(f"ip link set eth0 down; ip link set eth0 address {lab.mac}; ip link set eth0 up")
    assert lease(guest), "the machine got no lease"
    found = guest.run("ip addr show dev eth0")[1]
    assert f"inet {lab.virtual.address}/24 " in found, f"another address than {lab.virtual.address}: {found}"
    assert "mtu 1450 " in found, f"another MTU than 1450: {found}"
    routes = guest.run("ip route")[1]
    assert "default via 10.0.0.1 dev eth0" in routes, f"another default route: {routes}"
    wait_for_slaac(lab)


def wait_for_slaac(lab):
    """The machine gets its IPv6 address, its default route and its MTU from router advertisements."""
    with open(f"{lab.state(1)}/desired.json") as file:
        subnets = json.load(file)["vpcs"][0]["subnets"]
    gateway = link_local(next(subnet["gateway_mac"] for subnet in subnets if subnet["id"] == lab.port_state()["subnet_id"]))
    has_address = lambda: f"inet6 {lab.virtual.ipv6}/64 " in lab.guest.run("ip -6 addr show dev eth0 scope global")[1]
    wait_for(has_address, f"the machine has {lab.virtual.ipv6} by SLAAC", 60)
    routes = lab.guest.run("ip -6 route")[1]
    assert f"default via {gateway} dev eth0" in routes, f"another IPv6 default route than {gateway}: {routes}"
    mtu = lab.guest.run("cat /proc/sys/net/ipv6/conf/eth0/mtu")[1]
    assert mtu.strip() == "1450", f"another IPv6 MTU than 1450: {mtu}"


def link_local(mac):
    """The address that Linux derives from a hardware address (RFC 4291)."""
    parts = [int(part, 16) for part in mac.split(":")]
    parts[0] ^= 2
    parts[3:3] = [0xFF, 0xFE]
    return "fe80::" + ":".join(f"{parts[at] << 8 | parts[at + 1]:x}" for at in range(0, 8, 2))


def reachability(lab):
    """The machine and instances on another host reach each other: same and other subnet, both families."""
    for peer in lab.peers:
        for address in (peer.address, peer.ipv6):
            # A new IPv6 address is tentative for a moment.
            reached = lambda: lab.guest.succeeds(f"ping -c 1 -W 1 {address}")
            wait_for(reached, f"the machine reaches instance {peer.id} at {address}")
        for address in (lab.virtual.address, lab.virtual.ipv6):
            wait_for(lambda: ping(peer, address), f"instance {peer.id} reaches the machine at {address}")
    assert lab.guest.succeeds("ping -c 1 -W 1 10.0.0.1"), "the machine does not reach its gateway"
    assert not lab.guest.succeeds("ping -c 1 -W 1 192.0.2.2"), "the machine reaches the underlay"


def large_transfers(lab):
    """A packet of the full MTU and a TCP stream arrive unchanged: offloads of the machine and the tunnel agree."""
    peer = lab.peers[0]
    assert lab.guest.succeeds(f"ping -c 1 -W 1 -s 1422 {peer.address}"), "a packet of the full MTU is lost"
    content = os.urandom(DOWNLOAD_BYTES)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = inside(peer.namespace, lambda: http.server.HTTPServer((peer.address, 8000), Handler))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        found = lab.guest.run(f"wget -q -O - http://{peer.address}:8000/ | sha256sum", 60)[1]
    finally:
        server.shutdown()
        server.server_close()
    assert hashlib.sha256(content).hexdigest() in found, f"the machine received other bytes: {found}"


def spoofing(lab):
    """Packets with another address are dropped, and the report of the agent counts them."""
    peer, guest = lab.peers[0], lab.guest
    peer_mac = json.loads(shell(f"ip -j -n {peer.namespace} link show eth0"))[0]["address"]
    restore = f"ip link set eth0 down; ip link set eth0 address {lab.mac}; ip link set eth0 up"
    restore += "; ip route replace default via 10.0.0.1 dev eth0"
    cases = {
        # Without an ARP request, which would also be dropped.
        "ip": (f"arp -s {peer.address} {peer_mac}; ip addr add 10.0.0.250/24 dev eth0",
               f"ping -c 3 -W 1 -I 10.0.0.250 {peer.address}",
               f"ip addr del 10.0.0.250/24 dev eth0; arp -d {peer.address}"),
        # The machine refuses to send ARP requests with an address that it does not have.
        "arp": ("ip addr add 10.0.0.250/24 dev eth0",
                f"arping -c 3 -f -I eth0 -s 10.0.0.250 {peer.address}",
                "ip addr del 10.0.0.250/24 dev eth0"),
        "mac": (f"ip link set eth0 down; ip link set eth0 address {OTHER_MAC}; ip link set eth0 up",
                f"ping -c 3 -W 1 {peer.address}", restore),
    }
    for reason, (change, send, undo) in cases.items():
        before = lab.drops()[reason]
        guest.run(change)
        assert not guest.succeeds(send), f"{reason}: a forged packet was answered"
        guest.run(undo)
        wait_for(lambda: lab.drops()[reason] >= before + 3, f"{reason}: 3 forged packets are counted")
    wait_for(lambda: guest.succeeds(f"ping -c 1 -W 1 {peer.address}"), "the machine reaches others again")


def restart_without_loss(lab):
    """The agent of the machine is killed and restarted: no packet is lost, and the tap remains open."""
    def restart():
        time.sleep(1)
        lab.kill(1)
        time.sleep(1)
        lab.start(1)

    thread = threading.Thread(target=restart)
    thread.start()
    found = lab.guest.run(f"ping -c 10 -W 1 {lab.peers[0].address}", 60)[1]
    thread.join()
    assert " 10 packets received" in found, f"packets were lost: {found[-200:]}"


def shutdown(lab):
    """A machine that the API stops is not reachable, even if its process still runs, and its tap is deleted."""
    lab.send("POST", f"/linode/instances/{lab.virtual.id}/shutdown")
    wait_for(lambda: not ping(lab.peers[0], lab.virtual.address), "a stopped machine is not reachable")
    wait_for(lambda: "h1-vpc" not in shell("ls /run/netns"), "the host has no networks")
    assert not lab.guest.succeeds(f"ping -c 1 -W 1 {lab.peers[0].address}"), "a stopped machine reaches others"
