"""The promises of the data plane when a host fails or is drained. A check raises AssertionError if one is broken."""

import json
import threading
import time

from lab import ping, received, receiver, shell, underlay, wait_for
from server_checks import pairs

# A host without a report for a minute is offline.
OFFLINE_SECONDS = 90


class Flow:
    """Packets from one instance to another, without pause until `end`."""

    def __init__(self, sender, target):
        self.out, self.sock, self.address = receiver(sender), receiver(target), target.address
        self.sent, self.arrived, self.is_ended = 0, 0, False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.is_ended:
            self.out.sendto(str(self.sent).encode(), (self.address, 7000))
            self.sent += 1
            self.arrived += len(received(self.sock))
            time.sleep(0.002)

    def end(self):
        """Returns the numbers of sent and received packets."""
        self.is_ended = True
        self.thread.join()
        time.sleep(0.3)
        self.arrived += len(received(self.sock))
        self.out.close()
        self.sock.close()
        return self.sent, self.arrived


def on_host(lab, host):
    places = lab.places()
    return [machine for machine in lab.machines if places[machine.id] == host]


def in_one_vpc(lab, first, second):
    """Two instances of a VPC on these hosts."""
    targets = on_host(lab, second)
    return next((one, other) for one in on_host(lab, first) for other in targets if one.vpc == other.vpc)


def endpoints_to(lab, host, on):
    """The forwarding entries of a host that lead to another host."""
    names = [name for name in shell("ls /run/netns").split() if name.startswith(f"h{on}-vpc-")]
    tables = "".join(shell(f"bridge -n {name} fdb show") for name in names)
    return tables.count(f"dst {underlay(host)} ")


def host_dies(lab):
    """The server reports a host that died and its instances. Other hosts retain their endpoints, and lose no packet."""
    victims = on_host(lab, 1)
    sender, victim = in_one_vpc(lab, 2, 1)
    before = {other: endpoints_to(lab, 1, other) for other in (2, 3)}
    assert all(before.values()), f"other hosts have no endpoints: {before}"
    flow = Flow(*in_one_vpc(lab, 2, 3))
    lab.kill(1)
    shell("ip -n fabric link set p1 down")
    assert not ping(sender, victim.address), "a host without network is reachable"
    wait_for(lambda: lab.host(1)["status"] == "offline", "the host is reported as offline", OFFLINE_SECONDS)
    assert lab.host(1)["instances"] == len(victims), f"{lab.host(1)} does not have {len(victims)} instances"
    for machine in victims:
        status = lab.send("GET", f"/linode/instances/{machine.id}")["status"]
        assert status == "running", f"an instance of a failed host is {status}"
    after = {other: endpoints_to(lab, 1, other) for other in (2, 3)}
    assert after == before, f"endpoints were removed: {before} became {after}"
    # Only the network had failed: packets flow again, although no agent runs there and no host has changed anything.
    shell("ip -n fabric link set p1 up")
    wait_for(lambda: ping(sender, victim.address), "the instances are reachable when the network returns")
    sent, arrived = flow.end()
    assert arrived == sent, f"{sent - arrived} of {sent} packets between other hosts were lost"
    new = lab.boot_instance(sender.vpc, subnet_of(lab, sender))
    lab.wait_until_running()
    assert lab.places()[new.id] != 1, "a new instance was placed on a failed host"
    assert ping(sender, new.address), "a new instance is not reachable"


def subnet_of(lab, machine):
    config = lab.send("GET", f"/linode/instances/{machine.id}/configs")["data"][0]
    return config["interfaces"][0]["subnet_id"]


def failed_host_is_drained(lab):
    """The instances of a lost host move. Afterwards no host has an endpoint to it, even when it returns."""
    victims = on_host(lab, 1)
    shell("ip -n fabric link set p1 down")
    lose_kernel_state(lab, 1)
    lab.admin("host", "drain", "rack-1")
    wait_for(lambda: lab.host(1)["instances"] == 0, "all instances have moved", 60)
    lab.wait_until_running()
    places = lab.places()
    assert all(places[machine.id] != 1 for machine in victims), "an instance has not moved"
    reach_all(lab)
    for other in (2, 3):
        wait_for(lambda: not endpoints_to(lab, 1, other), f"host {other} has no endpoints to the lost host")
    # The machine starts again with the state that it had before.
    shell("ip -n fabric link set p1 up")
    lab.start(1)
    wait_for(lambda: not json.load(open(f"{lab.state(1)}/desired.json"))["vpcs"], "the host has no instances", 40)
    expect_nothing(lab, 1)
    reach_all(lab)


def lose_kernel_state(lab, host):
    """A machine that is off has no namespaces, links or filters."""
    for machine in on_host(lab, host):
        shell(f"ip netns del {machine.namespace}")
    for name in shell("ls /run/netns").split():
        if name.startswith(f"h{host}-vpc-"):
            shell(f"ip netns del {name}")
    shell(f"nsenter --net=/run/netns/h{host} nft flush ruleset")


def reach_all(lab):
    for sender, target in pairs(lab):
        if sender.vpc == target.vpc:
            wait_for(lambda: ping(sender, target.address), f"{sender.id} reaches {target.id}")


def drain(lab):
    """Draining a running host moves all instances, and leaves nothing behind on any host."""
    lab.admin("host", "undrain", "rack-1")
    lab.admin("host", "drain", "rack-2")
    wait_for(lambda: lab.host(2)["instances"] == 0, "all instances have moved", 60)
    lab.wait_until_running()
    assert 2 not in lab.places().values(), "an instance has not moved"
    expect_nothing(lab, 2)
    reach_all(lab)
    for other in (1, 3):
        wait_for(lambda: not endpoints_to(lab, 2, other), f"host {other} has no endpoints to the drained host")
    lab.admin("host", "remove", "rack-2")
    filters = lambda other: shell(f"nsenter --net=/run/netns/h{other} nft list ruleset")
    for other in (1, 3):
        wait_for(lambda: underlay(2) not in filters(other), f"host {other} accepts no tunnel packets of the removed host")


def expect_nothing(lab, host):
    """Only the filter of the tunnels remains on a host without instances."""
    wait_for(lambda: f"h{host}-vpc" not in shell("ls /run/netns"), f"host {host} has no networks")
    tables = lambda: shell(f"nsenter --net=/run/netns/h{host} nft list tables").split("\n")
    wait_for(lambda: tables() == [f"table inet h{host}", ""], f"host {host} has only the filter of the tunnels")
    links = {link["ifname"] for link in json.loads(shell(f"ip -j -n h{host} link show"))}
    assert links == {"lo", "eth0"}, f"links remain: {links}"
    routes = shell(f"ip -n h{host} route show proto 71")
    assert not routes, f"routes remain: {routes}"
