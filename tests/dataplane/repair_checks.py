"""Drift, failures of the kernel, and the removal of everything."""

import json
import os
import signal
import subprocess
import time
from contextlib import contextmanager

import checks
from checks import of_vpc
from lab import Instance, ping, shell, wait_for

# A resynchronization every two seconds, and the time of some passes on a busy machine.
REPAIR_SECONDS = 30


def drift(lab):
    """Deleted and changed objects are repaired by the next resynchronization, and objects of other programs remain."""
    first = lab.instances[0]
    remote = next(other for other in of_vpc(lab, 1) if other.host != first.host and other.subnet == first.subnet)
    before = foreign_objects(lab, first)
    for damage in damages(first, remote):
        shell(damage)
        wait_for(lambda: not plan(lab, first.host), f"repaired after: {damage}", REPAIR_SECONDS)
        wait_for(lambda: ping(first, remote.address), f"reachable after: {damage}", 5)
    wait_for(lab.is_forwarding, "all bridge ports forward frames")
    checks.gateways(lab)
    checks.spoofing(lab)
    assert foreign_objects(lab, first) == before, "an object of another program has changed"
    remove_foreign_objects(first)


def damages(first, remote):
    host, at = f"h{first.host}", f"h{first.host}-vpc-{first.vpc}"
    subnet = first.vpc * 10 + first.subnet
    inside, outside = f"nsenter --net=/run/netns/{at}", f"nsenter --net=/run/netns/{host}"
    return [
        f"ip -n {at} link del vx{subnet}",
        f"ip -n {at} link del br{subnet}",
        f"ip -n {at} link del gi{first.id}",
        f"ip -n {at} link del rl{subnet}",
        f"ip -n {at} link set gi{first.id} master br{subnet + 1}",
        f"ip -n {at} link set br{subnet} address 02:00:00:00:00:99",
        f"ip -n {at} link set vx{subnet} mtu 1300",
        f"ip -n {at} link set vx{subnet} type bridge_slave learning on flood on",
        f"bridge -n {at} fdb del {remote.mac} dev vx{subnet} dst 192.0.2.{remote.host} self",
        f"bridge -n {at} fdb replace {remote.mac} dev vx{subnet} dst 192.0.2.99 self permanent",
        f"bridge -n {at} fdb del {remote.mac} dev vx{subnet} master",
        f"ip -n {at} neigh flush dev br{subnet} nud permanent",
        f"ip -n {at} neigh replace {remote.address} lladdr 02:00:00:00:00:99 dev br{subnet} nud permanent",
        f"ip -n {at} addr del 10.0.{first.subnet}.1/24 dev br{subnet}",
        f"ip -n {at} addr add 10.0.99.1/24 dev br{subnet}",
        f"ip -n {at} route del 172.16.5.0/24",
        f"ip -n {at} link set br{subnet} down",
        f"{inside} sysctl -qw net.ipv4.ip_forward=0",
        f"{inside} sysctl -qw net.ipv4.conf.br{subnet}.proxy_arp=0",
        f"ip -n {first.namespace} route del default",
        f"ip -n {first.namespace} link set eth0 down",
        f"ip -n {first.namespace} addr del {first.address}/24 dev eth0",
        f"{inside} nft flush table bridge {host}",
        f"{inside} nft delete table bridge {host}",
        f"{inside} nft insert rule bridge {host} port_{first.id} accept",
        f"{outside} nft delete table inet {host}",
        f"ip netns del {first.namespace}",
        f"ip netns del {at}",
    ]


def foreign_objects(lab, first):
    """Creates objects of another program where they are missing, and returns their description."""
    host, at = f"h{first.host}", f"h{first.host}-vpc-{first.vpc}"
    link = lambda place, name: f"ip -n {place} link show {name} >/dev/null 2>&1 || ip -n {place} link add {name} type bridge"
    # Objects in the namespace of the VPC are lost with it, so only those outside are compared.
    for name in ("lab0", "gi999x", "br9x"):
        shell(link(at, name))
    for name in ("other0", "gi5", "br10", f"{host}-x1"):
        shell(link(host, name))
    shell(f"ip -n {host} addr replace 203.0.113.1/24 dev other0; ip -n {host} link set other0 up")
    shell(f"ip -n {host} route replace 198.18.0.0/15 via 203.0.113.9 dev other0 onlink proto static")
    shell(f"nsenter --net=/run/netns/{host} nft add table inet other")
    shell("ip netns add other 2>/dev/null || true; ip -n other link set lo alias other")
    links = [link for link in json.loads(shell(f"ip -n {host} -j addr show")) if not link["ifname"].startswith(f"{host}-u")]
    ipv4 = lambda link: [info["local"] for info in link["addr_info"] if info["family"] == "inet"]
    links = [(link["ifindex"], link["ifname"], link["address"], ipv4(link)) for link in links]
    routes = shell(f"ip -n {host} route show 198.18.0.0/15")
    table = shell(f"nsenter --net=/run/netns/{host} nft list table inet other")
    return [links, routes, table, shell("ip -n other -o link show lo")]


def remove_foreign_objects(first):
    host, at = f"h{first.host}", f"h{first.host}-vpc-{first.vpc}"
    for name in ("lab0", "gi999x", "br9x"):
        shell(f"ip -n {at} link del {name}", check=False)
    for name in ("other0", "gi5", "br10", f"{host}-x1"):
        shell(f"ip -n {host} link del {name}")
    shell(f"nsenter --net=/run/netns/{host} nft delete table inet other; ip netns del other")


def plan(lab, host):
    return shell(" ".join(lab.command(host, "plan")))


def kernel_failures(lab):
    """A failure of the kernel is an error of the port with a reason, and ends when the cause does."""
    for failure in (name_taken, stale_name, identifier_taken, no_filters, no_tunnels, no_bridges, no_programs):
        failure(lab)


@contextmanager
def failing_port(lab, number, vpc, reason):
    """Adds a port that fails for a reason. The block ends the cause, and the port must then be up."""
    new = Instance(number, vpc, 0, 1, f"10.0.0.{number}")
    lab.instances.append(new)
    lab.write()
    expect_error(lab, new, reason)
    yield new
    wait_for(lambda: lab.is_applied(1), f"the port is up after: {reason}")
    lab.instances.remove(new)
    lab.converge()


def name_taken(lab):
    shell("ip netns add gi-90")
    with failing_port(lab, 90, 1, "File exists"):
        shell("ip netns del gi-90")


def stale_name(lab):
    shell("touch /run/netns/gi-93")
    with failing_port(lab, 93, 1, "File exists"):
        assert ping(lab.instances[0], lab.instances[2].address), "a stale name affects other ports"
        shell("rm /run/netns/gi-93")


def identifier_taken(lab):
    shell("ip -n h1 link add vx type vxlan id 1030 dstport 4789 local 192.0.2.1")
    with failing_port(lab, 91, 3, "vx30"):
        shell("ip -n h1 link del vx")


def no_filters(lab):
    with replaced("nft", "#!/bin/sh\nexit 1\n") as restore, failing_port(lab, 92, 4, "nft"):
        links = shell("ip -n h1-vpc-4 link show gi92", check=False)
        assert "UP" not in links, "a port without filters is up"
        restore()


def no_tunnels(lab):
    """A kernel without VXLAN. The agent retries with back-off, and other ports work."""
    with replaced("ip", without_kind("vxlan")) as restore, failing_port(lab, 94, 4, "Unknown device type"):
        attempts = lambda: open(f"{lab.folder}/h1.log").read().count("type vxlan id 1040")
        before = attempts()
        time.sleep(4)
        assert 1 <= attempts() - before <= 6, f"{attempts() - before} attempts in 4 s"
        assert ping(lab.instances[0], lab.instances[2].address), "the failure affects other ports"
        restore()


def no_bridges(lab):
    with replaced("ip", without_kind("bridge")) as restore, failing_port(lab, 86, 4, "br40"):
        restore()


def no_programs(lab):
    """Without ip, the agent cannot read the kernel. All ports have an error, and still carry packets."""
    with replaced("ip", "#!/run/missing\n") as restore, failing_port(lab, 87, 1, "ip failed: No such file"):
        expect_error(lab, lab.instances[0], "ip failed: No such file")
        assert ping(lab.instances[0], lab.instances[2].address), "running ports are affected"
        restore()


def without_kind(kind):
    """A program ip that names an unknown kind of link instead, as if the kernel had no module for it."""
    return f"""#!/bin/sh
case "$*" in
*-batch*) sed -E 's/type {kind}( .*)?$/type no{kind}/' | REAL "$@" ;;
*) exec REAL "$@" ;;
esac
"""


@contextmanager
def replaced(program, text):
    """Runs other text in place of a program, until the yielded function is called."""
    path = os.path.realpath(shell(f"command -v {program}").strip())
    folder = f"/run/replaced-{program}"
    shell(f"mkdir -p {folder} && cp {path} {folder}/real")
    with open(f"{folder}/program", "w") as file:
        file.write(text.replace("REAL", f"{folder}/real"))
    shell(f"chmod 755 {folder}/program && mount --bind {folder}/program {path}")
    mounted = [path]

    def restore():
        if mounted:
            # A command of the agent may still use the file.
            shell(f"umount --lazy {mounted.pop()}")

    try:
        yield restore
    finally:
        restore()


def expect_error(lab, instance, word):
    def has_reason():
        ports = lab.status(instance.host)["ports"]
        reasons = [port.get("reason") or "" for port in ports if port["interface_id"] == instance.id]
        return any(word in reason for reason in reasons)

    wait_for(has_reason, f"port {instance.id} has an error with \"{word}\"")
    assert lab.agents[instance.host].poll() is None, "the agent ended"


def purge(lab):
    """Nothing of the agent remains, and other objects do."""
    for host in lab.hosts:
        refused = subprocess.run(lab.command(host, "purge"), capture_output=True, text=True)
        assert refused.returncode and "stop it first" in refused.stderr, f"purge while an agent runs: {refused}"
        lab.kill(host, signal.SIGTERM)
        shell(f"ip -n h{host} link add other0 type bridge")
        shell(f"nsenter --net=/run/netns/h{host} nft add table inet other")
        shell(" ".join(lab.command(host, "purge")))
        links = shell(f"ip -n h{host} -br link show").split("\n")
        names = {line.split("@")[0].split()[0] for line in links if line}
        assert names == {"lo", "eth0", "other0"}, f"links {names}"
        tables = shell(f"nsenter --net=/run/netns/h{host} nft list tables").split("\n")
        assert [table for table in tables if table] == ["table inet other"], f"tables {tables}"
        routes = shell(f"ip -n h{host} route show proto 71; ip -n h{host} -6 route show proto 71")
        assert not routes.strip(), f"routes remain: {routes}"
        assert not os.path.exists(f"{lab.state(host)}/desired.json"), "the stored state remains"
        assert not shell(" ".join(lab.command(host, "purge"))), "a second purge found something"
    names = set(shell("ls /run/netns").split())
    assert names == {"fabric"} | {f"h{host}" for host in lab.hosts}, f"namespaces remain: {names}"
