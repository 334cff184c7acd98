"""Removes one object of the kernel at a time while no agent runs. Each time, a check must fail."""

import json

import checks
import public_checks
from lab import shell, wait_for


def run(lab):
    public_checks.prepare(lab)
    for host in lab.hosts:
        lab.kill(host)
    caught, survived = 0, []
    for check, damage in mutations(lab):
        wait_for(lambda: passes(check, lab), f"{check.__name__} passes before: {damage}")
        shell(damage)
        try:
            check(lab)
        except (AssertionError, OSError, RuntimeError) as error:
            caught += 1
            print(f"caught: {damage} ({str(error)[:80]})", flush=True)
        else:
            survived.append(damage)
            print(f"SURVIVED: {damage}", flush=True)
        for host in lab.hosts:
            lab.start(host)
        lab.converge()
        for host in lab.hosts:
            lab.kill(host)
    assert not survived, f"{len(survived)} mutations were not noticed"
    assert caught >= 20, f"only {caught} mutations"


def passes(check, lab):
    """Whether a check passes. The kernel needs a moment after a repair: carriers, duplicate address detection."""
    try:
        check(lab)
    except (AssertionError, OSError, RuntimeError):
        return False
    return True


def few_pairs(lab):
    checks.reachability(lab, pairs=1500)


def mutations(lab):
    first = lab.instances[0]
    members = checks.of_vpc(lab, first.vpc)
    remote = next(other for other in members if other.host != first.host and other.subnet == first.subnet)
    at = f"h{first.host}-vpc-{first.vpc}"
    subnet = first.vpc * 10 + first.subnet
    bridge, tunnel, port = f"br{subnet}", f"vx{subnet}", f"gi{first.id}"
    for damage in [
        f"ip -n {at} link del {tunnel}",
        f"ip -n {at} link set {tunnel} nomaster",
        f"ip -n {at} link del {port}",
        f"ip -n {at} link set {port} nomaster",
        f"ip -n {at} link set {port} down",
        f"ip -n {at} link set {bridge} down",
        f"bridge -n {at} fdb del {remote.mac} dev {tunnel} dst 192.0.2.{remote.host} self",
        f"bridge -n {at} fdb del {remote.mac} dev {tunnel} master",
        f"ip -n {at} neigh del {remote.address} dev {bridge}",
        f"ip -n {at} neigh del {remote.ipv6} dev {bridge}",
        f"ip -n {first.namespace} route del default",
        f"ip -n {first.namespace} -6 route del default",
        f"ip -n {first.namespace} addr del {first.ipv6}/128 dev eth0",
        f"nsenter --net=/run/netns/{at} sysctl -qw net.ipv4.ip_forward=0",
        f"nsenter --net=/run/netns/{at} sysctl -qw net.ipv6.conf.all.forwarding=0",
    ]:
        yield few_pairs, damage
    yield checks.gateways, f"ip -n {at} addr del 10.0.{first.subnet}.1/24 dev {bridge}"
    range_link, range_port = f"rl{subnet}", f"rp{subnet}"
    for damage in [
        f"ip -n {at} route del 172.16.5.0/24",
        f"ip -n {at} route del 10.0.0.64/28",
        f"ip -n {at} -6 route del 2001:db8:0:ff::/64",
        f"ip -n {at} link del {range_link}",
        f"ip -n {at} link set {range_port} nomaster",
        f"ip -n {at} neigh del {first.address} dev {range_link}",
        f"nsenter --net=/run/netns/{at} sysctl -qw net.ipv4.conf.{bridge}.proxy_arp=0",
        f"nsenter --net=/run/netns/h{remote.host}-vpc-{first.vpc} sysctl -qw net.ipv4.conf.{bridge}.proxy_arp=0",
    ]:
        yield checks.gateways, damage
    yield checks.unused_addresses, f"ip -n {at} route add 10.0.0.192/26 dev {range_link} proto 71"
    yield checks.large_packets, f"ip -n {at} link set {tunnel} mtu 1400"
    for handle in rules(at, f"port_{first.id}"):
        nft = f"nsenter --net=/run/netns/{at} nft delete rule bridge h{first.host} port_{first.id} handle {handle}"
        yield checks.spoofing, nft
    for handle in rules(f"h{first.host}", "input"):
        nft = f"nsenter --net=/run/netns/h{first.host} nft delete rule inet h{first.host} input handle {handle}"
        yield checks.unknown_endpoint, nft
    for damage in [
        f"nsenter --net=/run/netns/{at} nft flush chain inet h{first.host} prerouting",
        f"nsenter --net=/run/netns/{at} nft flush chain inet h{first.host} postrouting",
        f"nsenter --net=/run/netns/{at} nft flush chain inet h{first.host} forward",
        f"ip -n {at} route del default",
        f"ip -n {at} link del uplink",
        f"ip -n h{first.host} route del 198.51.100.11",
        f"ip -n {at} neigh del 169.254.0.1 dev uplink",
        f"nsenter --net=/run/netns/h{first.host} sysctl -qw net.ipv4.conf.h{first.host}-u{first.vpc}.forwarding=0",
    ]:
        yield public_checks.nat, damage
    neighbor = checks.neighbor_of(lab, first)
    host = f"nsenter --net=/run/netns/h{first.host} nft"
    for chain in ("uplink_input", "uplink_forward"):
        for handle in rules(f"h{first.host}", chain):
            yield public_checks.hosts_are_protected, f"{host} delete rule inet h{first.host} {chain} handle {handle}"
        for handle in rules(f"h{first.host}", chain, "established"):
            yield public_checks.hosts_are_protected, f"{host} delete rule inet h{first.host} {chain} handle {handle}"
    for chain in ("untracked_prerouting", "untracked_output"):
        yield public_checks.tunnels_are_not_tracked, f"{host} flush chain inet h{first.host} {chain}"
    yield public_checks.public_ipv6, f"ip -n h{first.host} -6 route del {first.ipv6}"
    yield public_checks.public_ipv6, f"ip -n {at} -6 route del default"
    yield checks.unknown_frames, f"ip -n {at} link set gi{neighbor.id} type bridge_slave flood on"


def rules(namespace, chain, word=None):
    """The handles of the rules that drop, or of those with a word."""
    text = shell(f"nsenter --net=/run/netns/{namespace} nft -j list ruleset")
    entries = [entry["rule"] for entry in json.loads(text)["nftables"] if "rule" in entry]
    of_chain = [rule for rule in entries if rule["chain"] == chain]
    wanted = [rule for rule in of_chain if (word in json.dumps(rule) if word else {"drop": None} in rule["expr"])]
    return [rule["handle"] for rule in wanted]
