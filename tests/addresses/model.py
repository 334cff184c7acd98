"""An independent model of the addresses of VPCs, subnets and interfaces, on Python's ipaddress.

Each operation returns the expected errors, as a sorted list of "FIELD CODE", and changes the model only if there are none.
The server chooses the IDs; `operations` passes them to the model.
"""
import dataclasses
import ipaddress

LOWEST = "lowest"
VPC_PREFIXES, SUBNET_PREFIXES, INTERFACE_PREFIXES = (52, 48, 44), tuple(range(52, 63)), (64,)
PRIVATE = [ipaddress.ip_network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")]
FORBIDDEN = ipaddress.ip_network("192.168.128.0/17")


@dataclasses.dataclass
class Subnet:
    vpc: int
    label: str
    ipv4: ipaddress.IPv4Network
    ipv6: ipaddress.IPv6Network | None


@dataclasses.dataclass
class Vpc:
    region: str
    ipv6: ipaddress.IPv6Network | None
    subnets: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Interface:
    instance: int
    config: int
    subnet: int
    address: ipaddress.IPv4Network
    ranges: list
    slaac: ipaddress.IPv6Network | None = None
    ranges6: list = dataclasses.field(default_factory=list)
    is_public: bool = False

    def networks(self):
        return [self.address, *self.ranges]

    def networks6(self):
        return [*filter(None, [self.slaac]), *self.ranges6]

    def slaac_address(self):
        """The network and the identifier of the MAC address 22:00 with the instance's ID (RFC 4291, appendix A)."""
        a, *rest = self.instance.to_bytes(4, "big")
        identifier = bytes([0x22 ^ 2, 0, a, 0xFF, 0xFE, *rest])
        return ipaddress.IPv6Address(self.slaac.network_address.packed[:8] + identifier)


def lowest_free(space, prefix, taken):
    """The lowest network with this prefix length inside a network that overlaps none of the taken ones, or None."""
    if prefix < space.prefixlen:
        return None
    size = 1 << (space.max_prefixlen - prefix)
    first = int(space.network_address)
    for other in sorted(taken):
        if int(other.network_address) >= first + size:
            break
        if int(other.broadcast_address) >= first:
            first = (int(other.broadcast_address) // size + 1) * size
    if first + size - 1 > int(space.broadcast_address):
        return None
    return type(space)((first, prefix))


def reserved(subnet):
    """The networks of a subnet that are never assigned."""
    if subnet.version == 6:
        return [next(subnet.subnets(new_prefix=64))]
    return [ipaddress.ip_network(subnet[at]) for at in (0, 1, -2, -1)]


def is_assignable(subnet, network):
    return network.subnet_of(subnet) and not any(network.overlaps(other) for other in reserved(subnet))


def parse_range(text, prefixes, default):
    """A requested IPv6 range: a network, or LOWEST with a prefix length. Returns the request and the code of an error."""
    if text in (None, "auto"):
        return (LOWEST, default), None
    if text.startswith("/"):
        prefix = int(text[1:])
        return ((LOWEST, prefix), None) if prefix in prefixes else (None, "cidr_prefix")
    try:
        network = ipaddress.IPv6Network(text)
    except ValueError as error:
        return None, "cidr_host_bits" if "host bits" in str(error) else "cidr_invalid"
    return (network, None) if network.prefixlen in prefixes else (None, "cidr_prefix")


def parse_subnet(text):
    """The range of a subnet, or None, and the codes of the errors."""
    try:
        network = ipaddress.IPv4Network(text)
    except ValueError as error:
        return None, ["cidr_host_bits" if "host bits" in str(error) else "cidr_invalid"]
    errors = [] if any(network.subnet_of(space) for space in PRIVATE) else ["cidr_not_private"]
    errors += [] if 8 <= network.prefixlen <= 29 else ["cidr_prefix"]
    errors += ["cidr_forbidden"] if network.overlaps(FORBIDDEN) else []
    return (None if errors else network), errors


class Model:
    def __init__(self, pool, retains):
        self.pool, self.retains = ipaddress.ip_network(pool), retains
        # The ranges of VPCs, with the ID of the VPC, or None after its deletion.
        self.prefixes = {}
        self.vpcs, self.subnets, self.interfaces = {}, {}, {}
        # The regions of instances, and the configs of instances.
        self.instances, self.configs = {}, {}

    def on_subnet(self, subnet):
        return [interface for interface in self.interfaces.values() if interface.subnet == subnet]

    # VPCs and subnets

    def new_vpc(self, body):
        """The expected IPv6 ranges of the VPC and its subnets, and the errors."""
        errors, request, drafts = [], None, []
        for at, subnet in enumerate(body["subnets"]):
            drafts.append(self._read_subnet(subnet, f"subnets[{at}].", errors))
        self._refuse_clashes(drafts, errors)
        if body.get("ipv6"):
            request, code = parse_range(body["ipv6"][0].get("range"), VPC_PREFIXES, 52)
            errors += [f"ipv6[0].range {code}"] if code else []
        else:
            errors += [f"subnets[{at}].ipv6 range_invalid" for at, (_, wanted) in enumerate(drafts) if wanted]
        range_, code = self._choose_prefix(request) if request else (None, None)
        errors += [f"ipv6[0].range {code}"] if code else []
        ranges = [None] * len(drafts)
        if range_:
            ranges = self._choose_ranges(range_, [wanted for _, wanted in drafts], errors)
        return (range_, ranges), sorted(errors)

    def _read_subnet(self, body, path, errors):
        ipv4, codes = parse_subnet(body["ipv4"])
        errors += [f"{path}ipv4 {code}" for code in codes]
        request = None
        if body.get("ipv6"):
            request, code = parse_range(body["ipv6"][0].get("range"), SUBNET_PREFIXES, 56)
            errors += [f"{path}ipv6[0].range {code}"] if code else []
        return ipv4, request

    def _refuse_clashes(self, drafts, errors):
        earlier = []
        for at, draft in enumerate(drafts):
            for name, network in zip(("ipv4", "ipv6[0].range"), draft):
                if network is None or isinstance(network, tuple):
                    continue
                if any(overlap(network, other) for other in earlier):
                    errors.append(f"subnets[{at}].{name} cidr_overlap")
                else:
                    earlier.append(network)

    def _choose_prefix(self, request):
        if isinstance(request, tuple):
            range_ = lowest_free(self.pool, request[1], self.prefixes)
            return range_, None if range_ else "no_free_range"
        found = sorted(other for other in self.prefixes if other.overlaps(request))
        if found and self.prefixes[found[0]] is not None:
            return None, "cidr_overlap"
        return (request, None) if found and found[0] == request else (None, "range_invalid")

    def _choose_ranges(self, vpc_range, requests, errors):
        """The ranges of the subnets of a new VPC. Certain ranges are placed first."""
        taken, ranges = [], []
        for at, request in enumerate(requests):
            if not request or isinstance(request, tuple):
                continue
            if not request.subnet_of(vpc_range):
                errors.append(f"subnets[{at}].ipv6[0].range range_invalid")
            elif not any(request.overlaps(other) for other in taken):
                taken.append(request)
        for at, request in enumerate(requests):
            if not isinstance(request, tuple):
                ranges.append(request)
                continue
            range_ = lowest_free(vpc_range, request[1], taken)
            ranges.append(range_)
            if not range_:
                errors.append(f"subnets[{at}].ipv6[0].range no_free_range")
            else:
                taken.append(range_)
        return ranges

    def add_vpc(self, id, region, ipv6):
        self.vpcs[id] = Vpc(region, ipv6)
        if ipv6:
            self.prefixes[ipv6] = id

    def add_subnet(self, id, vpc, label, ipv4, ipv6):
        self.subnets[id] = self.vpcs[vpc].subnets[id] = Subnet(vpc, label, ipv4, ipv6)

    def new_subnet(self, vpc, body):
        """The expected IPv6 range, and the errors."""
        vpc, errors = self.vpcs[vpc], []
        ipv4, request = self._read_subnet(body, "", errors)
        if ipv4 and any(ipv4.overlaps(other.ipv4) for other in vpc.subnets.values()):
            errors.append("ipv4 cidr_overlap")
        taken = [other.ipv6 for other in vpc.subnets.values() if other.ipv6]
        range_ = request
        if request and not vpc.ipv6:
            errors.append("ipv6 range_invalid")
        elif isinstance(request, tuple):
            range_ = lowest_free(vpc.ipv6, request[1], taken)
            errors += [] if range_ else ["ipv6[0].range no_free_range"]
        elif request and not request.subnet_of(vpc.ipv6):
            errors.append("ipv6[0].range range_invalid")
        elif request and any(request.overlaps(other) for other in taken):
            errors.append("ipv6[0].range cidr_overlap")
        return range_, sorted(errors)

    def delete_subnet(self, id):
        errors = ["- subnet_in_use"] * len(self.on_subnet(id))
        if not errors:
            del self.vpcs[self.subnets.pop(id).vpc].subnets[id]
        return errors[:100]

    def delete_vpc(self, id):
        vpc = self.vpcs[id]
        errors = ["- subnet_in_use"] * sum(len(self.on_subnet(subnet)) for subnet in vpc.subnets)
        if errors:
            return errors[:100]
        for subnet in vpc.subnets:
            del self.subnets[subnet]
        del self.vpcs[id]
        if vpc.ipv6:
            self.prefixes[vpc.ipv6] = None
            if not self.retains:
                del self.prefixes[vpc.ipv6]
        return []

    # Interfaces

    def attach(self, path, instance, region, config, body, current=None):
        """The expected interface in a subnet, and the errors. `current` is the interface that it replaces."""
        subnet, errors = self.subnets.get(body["subnet_id"]), []
        if not subnet:
            return None, [f"{path}subnet_id subnet_invalid"]
        if self.vpcs[subnet.vpc].region != region:
            errors.append(f"{path}subnet_id subnet_invalid")
        current = current if current and current.subnet == body["subnet_id"] else None
        new = Interface(instance, config, body["subnet_id"], None, [])
        new.ranges = [ipaddress.IPv4Network(text) for text in body.get("ip_ranges", [])]
        named = body.get("ipv4", {}).get("vpc")
        address = ipaddress.IPv4Network(named) if named else current.address if current else LOWEST
        fields = f"{path}ipv4.vpc", f"{path}ip_ranges[{{}}]"
        new.address, _ = self._resolve(new, subnet.ipv4, address, new.ranges, fields, Interface.networks, errors)
        self._resolve_ipv6(new, subnet, path, body.get("ipv6") or {}, current, errors)
        return new, sorted(errors)

    def change(self, id, body):
        """The expected interface after a change, and the errors."""
        current, errors = self.interfaces[id], []
        subnet = self.subnets[current.subnet]
        new = dataclasses.replace(current)
        if "ip_ranges" in body:
            new.ranges = [ipaddress.IPv4Network(text) for text in body["ip_ranges"]]
        named = body.get("ipv4", {}).get("vpc")
        address = ipaddress.IPv4Network(named) if named else current.address
        fields = "ipv4.vpc", "ip_ranges[{}]"
        new.address, _ = self._resolve(new, subnet.ipv4, address, new.ranges, fields, Interface.networks, errors)
        self._resolve_ipv6(new, subnet, "", body.get("ipv6") or {}, current, errors)
        return new, sorted(errors)

    def _resolve_ipv6(self, new, subnet, path, body, current, errors):
        if not subnet.ipv6:
            if body.get("slaac") or body.get("ranges") or body.get("is_public"):
                errors.append(f"{path}ipv6 interface_field")
            return
        slaac, ranges = self._choices(path, body, current, errors)
        fields = f"{path}ipv6.slaac[0].range", f"{path}ipv6.ranges[{{}}].range"
        new.slaac, new.ranges6 = self._resolve(new, subnet.ipv6, slaac, ranges, fields, Interface.networks6, errors)
        new.is_public = body.get("is_public", current.is_public if current else False)

    def _choices(self, path, body, current, errors):
        """The requested networks. An automatic network is the current one at its place, unless it is named elsewhere."""
        requests = {}
        for name in ("slaac", "ranges"):
            for at, item in enumerate(body.get(name) or []):
                request, code = parse_range(item.get("range"), INTERFACE_PREFIXES, 64)
                errors += [f"{path}ipv6.{name}[{at}].range {code}"] if code else []
                requests[name, at] = request if isinstance(request, ipaddress.IPv6Network) else LOWEST
        named = [request for request in requests.values() if request != LOWEST]

        def keep(request, held):
            return held if request == LOWEST and held and held not in named else request

        if "slaac" in body:
            slaac = keep(requests[("slaac", 0)], current and current.slaac) if body["slaac"] else None
        else:
            slaac = current.slaac if current else LOWEST
        held = current.ranges6 if current else []
        if "ranges" not in body:
            return slaac, list(held)
        places = list(held) + [None] * len(body["ranges"])
        return slaac, [keep(requests["ranges", at], places[at]) for at in range(len(body["ranges"]))]

    def _resolve(self, new, subnet, unit, ranges, fields, networks, errors):
        """The part of a subnet for the interface itself and its ranges, after adding the errors."""
        unit_prefix = 32 if subnet.version == 4 else 64
        users = self.on_subnet(new.subnet)
        others = [network for user in users if user.instance != new.instance for network in networks(user)]
        before, earlier = len(errors), []
        for at, range_ in enumerate(ranges):
            if range_ == LOWEST:
                continue
            overlaps = any(range_.overlaps(other) for other in earlier)
            earlier += [] if overlaps else [range_]
            if not is_assignable(subnet, range_) or overlaps or unit not in (None, LOWEST) and unit.subnet_of(range_):
                errors.append(f"{fields[1].format(at)} range_invalid")
            elif any(range_.overlaps(other) for other in others):
                errors.append(f"{fields[1].format(at)} address_taken")
        if unit not in (None, LOWEST):
            if not is_assignable(subnet, unit):
                errors.append(f"{fields[0]} address_invalid")
            elif any(unit.overlaps(other) for other in others):
                errors.append(f"{fields[0]} address_taken")
        if len(errors) > before:
            return None, []
        taken = [network for user in users for network in networks(user)] + reserved(subnet)
        taken += [network for network in [unit, *ranges] if network not in (None, LOWEST)]
        chosen = []
        for at, request in enumerate([unit, *ranges]):
            if request == LOWEST:
                request = lowest_free(subnet, unit_prefix, taken)
                if not request:
                    errors.append(f"{fields[1].format(at - 1) if at else fields[0]} addresses_exhausted")
                    return None, []
                taken.append(request)
            chosen.append(request)
        return chosen[0], chosen[1:]

    def delete_instance(self, id):
        del self.instances[id]
        for config in [config for config, owner in self.configs.items() if owner == id]:
            self.delete_config(config)

    def delete_config(self, id):
        del self.configs[id]
        for interface in [at for at, found in self.interfaces.items() if found.config == id]:
            del self.interfaces[interface]

    # Lists

    def ips(self):
        """The expected records of /vpcs/ips, and of /vpcs/ipv6s."""
        def place(item):
            id, interface = item
            return self.subnets[interface.subnet].vpc, interface.subnet, interface.instance, interface.config, id

        ipv4, ipv6 = [], []
        for id, interface in sorted(self.interfaces.items(), key=place):
            at = place((id, interface))
            ipv4.append((str(interface.address.network_address), None, *at))
            ipv4 += [(None, str(range_), *at) for range_ in interface.ranges]
            if interface.slaac:
                ipv6.append((str(interface.slaac), [str(interface.slaac_address())], interface.is_public, *at))
            ipv6 += [(str(range_), [], interface.is_public, *at) for range_ in interface.ranges6]
        return ipv4, ipv6


def overlap(a, b):
    return a.version == b.version and a.overlaps(b)
