"""The promises of the data plane with a server. A check raises AssertionError if a promise is broken."""

import json
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

import router_advertisements
from lab import ping, received, receiver, shell, slaac_address, wait_for


def pairs(lab):
    for sender in lab.machines:
        for target in lab.machines:
            if sender is not target:
                yield sender, target


def reachability(lab):
    """Instances of a VPC reach each other: same and other subnet, same and other host, both families."""
    places = lab.places()
    assert set(places.values()) == set(lab.hosts), f"all instances are on the same host: {places}"
    crossed = 0
    for sender, target in pairs(lab):
        if sender.vpc == target.vpc:
            crossed += places[sender.id] != places[target.id]
            for address in (target.address, target.ipv6):
                assert ping(sender, address), f"instance {sender.id} does not reach {target.id} at {address}"
    assert crossed, "no pair crosses hosts"


def isolation(lab):
    """Instances do not reach the IPv6 addresses of another VPC. IPv4 addresses are the same in both VPCs."""
    first, other = lab.machines[0], next(machine for machine in lab.machines if machine.vpc != lab.machines[0].vpc)
    assert not ping(first, other.ipv6), "another VPC is reachable"
    sock, out = receiver(other), receiver(first)
    twin = next(machine for machine in lab.machines if machine.vpc == first.vpc and machine.address == other.address)
    target = receiver(twin) if twin is not first else out
    out.sendto(b"1", (other.address, 7000))
    time.sleep(0.3)
    assert not received(sock), "a datagram reached another VPC"
    for used in {sock, out, target}:
        used.close()


def slaac_addresses(lab):
    """The advertised prefix and the hardware address of an instance give the address that the API shows."""
    for machine in lab.machines:
        link = json.loads(shell(f"ip -n {machine.namespace} -j link show eth0"))[0]
        mac = link["address"]
        sock = router_advertisements.listen(machine.namespace)
        router_advertisements.solicit(sock, mac)
        found = router_advertisements.received(sock)
        sock.close()
        assert found and len(found.prefixes) == 1, f"instance {machine.id} got {found}"
        derived = slaac_address(found.prefixes[0][0], mac)
        assert derived == machine.ipv6, f"the address is {derived}, but the API shows {machine.ipv6}"
        assert found.resolvers, "no resolver"


def trace(lab, sender, address):
    """The predicted outcome, and the cause of a drop."""
    command = [lab.garth, "--json", "trace", str(sender.id), address]
    done = subprocess.run(command, env=lab.environment, capture_output=True, text=True)
    assert done.returncode in (0, 1) and done.stdout, f"{command}: {done.stderr}"
    found = json.loads(done.stdout)
    return found["outcome"], found["cause"]


def traces(lab):
    """`garth trace` predicts whether an address is reachable."""
    places = lab.places()
    senders = [next(machine for machine in lab.machines if places[machine.id] == host) for host in lab.hosts]
    other = {sender.vpc: next(machine for machine in lab.machines if machine.vpc != sender.vpc) for sender in senders}
    stopped = next(machine for machine in lab.machines if machine not in senders)
    lab.send("POST", f"/linode/instances/{stopped.id}/shutdown")
    wait_for(lambda: stopped.id not in lab.places(), "the agent has removed the port")
    delivered = 0
    for sender in senders:
        targets = [machine for machine in lab.machines if machine.vpc == sender.vpc]
        addresses = [address for machine in targets for address in (machine.address, machine.ipv6)]
        addresses += ["10.0.0.1", "10.0.1.1", "10.0.0.200", "10.9.9.9", "198.51.100.9", other[sender.vpc].ipv6]
        for address in addresses:
            wait_for(lambda: trace(lab, sender, address)[0] != "uncertain", "the agents have reported")
            outcome, cause = trace(lab, sender, address)
            is_reachable = ping(sender, address)
            assert is_reachable == (outcome == "delivered"), (
                f"{sender.id} to {address}: ping {is_reachable}, trace {outcome} {cause}"
            )
            delivered += is_reachable
    assert delivered > 4, f"only {delivered} addresses are reachable"
    lab.send("POST", f"/linode/instances/{stopped.id}/boot")
    lab.wait_until_running()


def outage_without_loss(lab):
    """The server is killed, the agents restart without it, and the server returns: no packet is lost."""
    places = lab.places()
    sender, target = next(
        (a, b) for a, b in pairs(lab) if a.vpc == b.vpc and places[a.id] != places[b.id]
    )
    families = (socket.AF_INET, socket.AF_INET6)
    flows = [(receiver(sender, family), receiver(target, family)) for family in families]
    destinations = [(target.address, 7000), (target.ipv6, 7000)]
    sent, arrived = [0, 0], [0, 0]

    def flow(seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for at, (out, _) in enumerate(flows):
                out.sendto(str(sent[at]).encode(), destinations[at])
                sent[at] += 1
            time.sleep(0.002)
        collect()

    def collect():
        for at, (_, sock) in enumerate(flows):
            arrived[at] += len(received(sock))

    flow(0.5)
    lab.kill_server()
    flow(0.5)
    for host in lab.hosts:
        lab.kill(host)
        flow(0.5)
        lab.start(host)
        flow(3)
    lab.start_server()
    flow(3)
    wait_for(lambda: all(lab.host(host)["status"] == "online" for host in lab.hosts), "all hosts are online", 60)
    flow(1)
    time.sleep(0.3)
    collect()
    for out, sock in flows:
        out.close()
        sock.close()
    assert arrived == sent, f"{sent} packets were sent, and {arrived} arrived"


def changes_through_the_api(lab):
    """A range, a shutdown, a deletion and a new instance take effect on all hosts."""
    first = lab.machines[0]
    neighbors = [machine for machine in lab.machines if machine.vpc == first.vpc and machine is not first]
    neighbor = next(machine for machine in neighbors if machine.address.startswith("10.0.1."))
    config = lab.send("GET", f"/linode/instances/{first.id}/configs")["data"][0]
    interface = config["interfaces"][0]["id"]
    path = f"/linode/instances/{first.id}/configs/{config['id']}/interfaces/{interface}"
    lab.send("PUT", path, {"ip_ranges": ["10.0.0.64/28"]})
    shell(f"ip -n {first.namespace} addr replace 10.0.0.70/32 dev lo")
    for machine in neighbors:
        wait_for(lambda: ping(machine, "10.0.0.70"), f"instance {machine.id} reaches the range")
    lab.send("POST", f"/linode/instances/{first.id}/shutdown")
    wait_for(lambda: not ping(neighbor, first.address), "a stopped instance is not reachable")
    lab.send("POST", f"/linode/instances/{first.id}/boot")
    lab.wait_until_running()
    wait_for(lambda: ping(neighbor, first.address), "a booted instance is reachable")


def log_of(lab, host):
    with open(f"{lab.folder}/h{host}.log") as file:
        return file.read()


def first_revision(lab, host, offset):
    """The revision of the first pass that has changed the kernel, in the log after an offset."""
    found = re.search(r"kernel changed.*?revision=(\d+)|revision=(\d+).*?kernel changed", log_of(lab, host)[offset:])
    return found and int(found[1] or found[2])


def lose_power(lab, host):
    """Ends the agent of a host and removes its network. Its folder remains as it is."""
    lab.kill(host)
    stored = desired_file(lab, host).read_text()
    shell(" ".join(lab.command(host, "purge")))
    desired_file(lab, host).write_text(stored)


def power_loss(lab):
    """After a power loss, an agent installs the state of the server. It uses the stored state if there is no server."""
    lost = next(machine for machine in lab.machines if lab.places()[machine.id] == 1)
    lose_power(lab, 1)
    with open(f"{lab.state(1)}/desired.json") as file:
        stored = json.load(file)["revision"]
    lab.send("POST", f"/linode/instances/{lost.id}/shutdown")
    offset = len(log_of(lab, 1))
    lab.start(1)
    wait_for(lambda: first_revision(lab, 1, offset), "the agent has restored the network")
    first = first_revision(lab, 1, offset)
    assert first > stored, f"the agent has installed revision {first}, and {stored} is the stored one"
    assert f"gi-{lost.id}" not in shell("ls /run/netns").split(), "a stopped instance was restored"
    lab.send("POST", f"/linode/instances/{lost.id}/boot")
    lab.wait_until_running()

    lab.kill_server()
    lose_power(lab, 1)
    offset = len(log_of(lab, 1))
    lab.start(1)
    started = time.monotonic()
    wait_for(lambda: f"gi-{lost.id}" in shell("ls /run/netns").split(), "the stored state is restored")
    assert time.monotonic() - started > 2, "the agent did not wait for the server"
    assert "the stored state is used" in log_of(lab, 1)[offset:]
    lab.start_server()
    wait_for(lambda: lab.host(1)["status"] == "online", "the host is online", 60)
    lab.wait_until_running()


def conditions_of_the_host(lab):
    """An underlay address that the host does not have, and forwarding that is off, are warnings of the host."""
    def warnings():
        return " ".join(lab.host(1)["warnings"])

    def has(text, expected=True):
        wait_for(lambda: (text in warnings()) == expected, f"{text} in the warnings: {expected}", 30)

    own = lab.host(1)["underlay_address"]
    wrong = "2001:db8:ffff::99" if ":" in own else "192.0.2.99"
    lab.admin("host", "set", "rack-1", "--underlay", wrong)
    has(f"no interface of this host has the underlay address {wrong}")
    assert "problem of the host" in log_of(lab, 1), "the warning is not in the log"
    lab.admin("host", "set", "rack-1", "--underlay", own)
    has("no interface of this host", False)

    machine = next(machine for machine in lab.machines if lab.places()[machine.id] == 1)
    config = lab.send("GET", f"/linode/instances/{machine.id}/configs")["data"][0]
    path = f"/linode/instances/{machine.id}/configs/{config['id']}/interfaces/{config['interfaces'][0]['id']}"
    shell("nsenter --net=/run/netns/h1 sysctl -qw net.ipv4.ip_forward=0")
    assert "ip_forward" not in warnings(), "no instance needs forwarding"
    lab.send("PUT", path, {"ipv4": {"nat_1_1": "any"}})
    has("net.ipv4.ip_forward is 0")
    shell("nsenter --net=/run/netns/h1 sysctl -qw net.ipv4.ip_forward=1")
    has("ip_forward", False)
    outcome, cause = trace(lab, machine, "198.51.100.9")
    assert (outcome, cause) == ("leaves_the_vpc", None), f"{outcome} {cause}"
    lab.send("PUT", path, {"ipv4": {"nat_1_1": None}})
    lab.wait_until_running()


def revocation(lab):
    """Other hosts drop the endpoints of a host whose credential is revoked, until it joins again."""
    places = lab.places()
    sender, target = next(
        (a, b) for a, b in pairs(lab) if a.vpc == b.vpc and (places[a.id], places[b.id]) == (1, 2)
    )
    assert ping(sender, target.address)
    token = lab.admin("host", "join-token", "rack-2", "--revoke")
    wait_for(lambda: not ping(sender, target.address), "the endpoints of a revoked host are not reachable")
    report = lambda: json.loads(shell(" ".join(lab.command(2, "status"))))
    status = lambda: report().get("server_problem", "")
    wait_for(lambda: "refuses this host's credential" in status(), "the agent knows that its credential is revoked")
    assert "the server refuses this host's credential" in log_of(lab, 2), "the log lacks the reason"
    # The ports remain, and are named in the status and in one line of the log.
    with open(f"{lab.state(2)}/desired.json") as file:
        vpcs = json.load(file)["vpcs"]
    left = report()["left_on_host"]
    assert left["ports"] == sorted(port["interface_id"] for vpc in vpcs for port in vpc["ports"]), f"{left}"
    assert {f"h2-vpc-{vpc['id']}" for vpc in vpcs} <= set(left["namespaces"]), f"{left}"
    assert left["folder"] == lab.state(2), f"{left}"
    lines = lambda: [line for line in log_of(lab, 2).splitlines() if "left on this host" in line]
    wait_for(lines, "the log names the objects that remain")
    assert len(lines()) == 1 and lab.state(2) in lines()[0], f"{lines()}"
    # The agent runs, and reads the new credential without a restart.
    lab.join(2, token)
    wait_for(lambda: ping(sender, target.address), "the endpoints are reachable after the host has joined again", 40)
    wait_for(lambda: not status(), "the problem is solved")
    assert "left_on_host" not in report(), "nothing is left on a host that the server accepts"


def desired_file(lab, host):
    return Path(lab.state(host)) / "desired.json"


def drain(lab):
    """Draining moves all instances, and leaves nothing behind."""
    lab.state_before_drain = desired_file(lab, 1).read_text()
    lab.admin("host", "drain", "rack-1")
    lab.wait_until_running()
    assert set(lab.places().values()) == {2}, "an instance has not moved"
    for sender, target in pairs(lab):
        if sender.vpc == target.vpc:
            wait_for(lambda: ping(sender, target.address), f"{sender.id} reaches {target.id} after the move")
    wait_for(lambda: "h1-vpc" not in shell("ls /run/netns"), "the drained host has no networks")
    copied_folder(lab)
    lab.admin("host", "remove", "rack-1")


def copied_folder(lab):
    """An agent on another machine with a copy of the folder is a problem of the host. A restart of an agent is not."""
    lab.kill(1)
    lab.start(1)
    is_shared = lambda: any("several agents use" in text for text in lab.host(1)["warnings"])
    wait_for(lambda: lab.host(1)["status"] == "draining", "the host reports")
    time.sleep(6)
    assert not is_shared(), "a restart of the agent is reported as a second agent"
    copy = f"{lab.folder}/copy"
    shutil.copytree(lab.state(1), copy)
    run = ["run", "--resync-seconds", "2", "--state", copy, "--prefix", "c1"]
    with open(f"{lab.folder}/copy.log", "a") as log:
        agent = subprocess.Popen(["nsenter", "--net=/run/netns/h2", lab.garth, "agent", *run], stderr=log, stdout=log)
    try:
        wait_for(is_shared, "the second agent is noticed", 60)
    finally:
        agent.kill()
        agent.wait()
    shell(f"nsenter --net=/run/netns/h2 {lab.garth} agent purge --state {copy} --prefix c1")


def removed_host(lab):
    """A removed host that was off restores its instances without a server, and removes them when the server refuses it.
    From then on, it restores nothing."""
    for machine in lab.machines:
        lab.send("POST", f"/linode/instances/{machine.id}/shutdown")
    namespaces = lambda: shell("ls /run/netns").split()
    has = lambda prefix: any(name.startswith(prefix) for name in namespaces())
    wait_for(lambda: not has("gi-"), "no instance runs", 60)
    refusal = Path(lab.state(1)) / "refused"
    wait_for(refusal.exists, "the agent of a removed host has stored the refusal")
    lab.kill(1)
    shell(" ".join(lab.command(1, "purge")))
    # As if the host had been off while it was removed.
    refusal.unlink()
    desired_file(lab, 1).write_text(lab.state_before_drain)

    lab.kill_server()
    lab.start(1)
    wait_for(lambda: has("gi-") and has("h1-vpc"), "the stored state is restored without a server")
    lab.start_server()
    wait_for(lambda: not has("gi-") and not has("h1-vpc"), "a refused host has removed the restored instances", 60)

    lab.kill(1)
    lab.kill_server()
    offset = len(log_of(lab, 1))
    lab.start(1)
    wait_for(lambda: "the stored state is not used" in log_of(lab, 1)[offset:], "the refusal is still known")
    time.sleep(5)
    assert not has("gi-") and not has("h1-vpc"), "a refused host has restored instances"
    lab.start_server()
