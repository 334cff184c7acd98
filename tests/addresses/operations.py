"""Random operations on VPCs, subnets and interfaces. Each is sent to the server and to the model, and compared."""
import collections
import ipaddress

from model import Interface

REGIONS = ("us-east", "us-iad")
# The numbers of objects around which the operations stay.
MAX_VPCS, MAX_SUBNETS, MAX_INSTANCES, MAX_CONFIGS = 24, 70, 90, 140


class Difference(Exception):
    """The server and the model differ."""


def equal(name, found, expected):
    if found != expected:
        raise Difference(f"{name}: the server has {found}, the model expects {expected}")


class Operations:
    def __init__(self, client, model, generator):
        self.client, self.model, self.generator = client, model, generator
        self.labels, self.accepted, self.last = 0, 0, None
        self.refused = collections.Counter()

    def step(self):
        """Runs one random operation."""
        many = self.model
        weights = {
            self.create_vpc: 6 if len(many.vpcs) < MAX_VPCS else 0,
            self.delete_vpc: 5 if many.vpcs else 0,
            self.update_vpc: 2 if many.vpcs else 0,
            self.create_subnet: 8 if many.vpcs and len(many.subnets) < MAX_SUBNETS else 0,
            self.delete_subnet: 5 if many.subnets else 0,
            self.update_subnet: 1 if many.subnets else 0,
            self.create_instance: 14 if many.subnets and len(many.instances) < MAX_INSTANCES else 0,
            self.delete_instance: 7 if many.instances else 0,
            self.create_config: 6 if many.instances and many.subnets and len(many.configs) < MAX_CONFIGS else 0,
            self.delete_config: 3 if many.configs else 0,
            self.set_interfaces: 6 if many.configs and many.subnets else 0,
            self.create_interface: 6 if many.configs and many.subnets else 0,
            self.update_interface: 20 if many.interfaces else 0,
            self.delete_interface: 5 if many.interfaces else 0,
        }
        self.generator.choices(list(weights), list(weights.values()))[0]()

    def pick(self, found):
        return self.generator.choice(list(found))

    def maybe(self, percent):
        return self.generator.randrange(100) < percent

    def label(self):
        self.labels += 1
        return f"n-{self.labels}"

    def send(self, method, path, body, errors):
        """The response, if the model expects no errors. Raises `Difference` if the errors differ."""
        self.last = method, path, body
        status, response = self.client.send(method, path, body)
        found = sorted(f"{error.get('field', '-')} {error['code']}" for error in response.get("errors", []))
        equal(f"status {status}", found, errors)
        equal("status", status, 400 if errors else 200)
        self.accepted += not errors
        self.refused.update(error.split()[1] for error in errors[:1])
        return None if errors else response

    # Random values

    def inside(self, network, prefix):
        """A network with this prefix length inside another one."""
        prefix = max(prefix, network.prefixlen)
        number = self.generator.randrange(1 << prefix - network.prefixlen)
        return type(network)((int(network.network_address) + (number << network.max_prefixlen - prefix), prefix))

    def random_ipv6(self, space, held, prefixes):
        """A request for a range: automatic, by prefix length, a range of `held`, inside `space`, or invalid."""
        kind = self.generator.randrange(100)
        if kind < 30:
            return self.pick(["auto", None])
        if kind < 60 or not space:
            return f"/{self.pick(prefixes)}"
        if kind < 78 and held:
            return str(self.pick(held))
        if kind < 96:
            range_ = self.inside(space, self.pick(prefixes))
            return self.pick([str, lambda shown: shown.exploded, lambda shown: str(shown).upper()])(range_)
        return self.pick(["/40", "/63", "/128", "fd00::1/52", "fd00::1/64", "10.0.0.0/24", "fd99::/56", "fd99::/64"])

    def ipv6_body(self, *arguments):
        range_ = self.random_ipv6(*arguments)
        return [{} if range_ is None else {"range": range_}]

    def random_ipv4(self, held):
        """A range for a subnet: most are small, in a space where some overlap."""
        kind = self.generator.randrange(100)
        if kind < 90:
            space = ipaddress.ip_network(self.pick(["10.0.0.0/20", "172.16.0.0/22", "192.168.0.0/23"]))
            return str(self.inside(space, self.pick([29, 29, 29, 28, 27, 26, 24])))
        if kind < 95 and held:
            return str(self.pick(held).ipv4)
        return self.pick(["10.0.0.1/24", "10.0.0.0/30", "11.0.0.0/24", "192.168.128.0/24", "192.168.0.0/16", "8.0.0.0/7"])

    def subnet_body(self, vpc_range, held, percent_ipv6):
        body = {"label": self.label(), "ipv4": self.random_ipv4(held)}
        if self.maybe(percent_ipv6):
            ranges = [subnet.ipv6 for subnet in held if subnet.ipv6]
            body["ipv6"] = self.ipv6_body(vpc_range, ranges, (62, 62, 62, 61, 60, 56, 53, 52))
        return body

    def interface_body(self, subnet):
        """The settings of an interface in a subnet: automatic or certain addresses, ranges and networks."""
        body, found = {}, self.model.subnets.get(subnet)
        if not found:
            return body
        users = self.model.on_subnet(subnet)
        if self.maybe(40):
            held = [user.address for user in users] if self.maybe(50) else []
            body["ipv4"] = {"vpc": str((self.pick(held) if held else self.inside(found.ipv4, 32)).network_address)}
        if self.maybe(30):
            prefixes = (32, 32, 31, 30, 29, 28)
            body["ip_ranges"] = [str(self.inside(found.ipv4, self.pick(prefixes))) for _ in range(self.generator.randrange(3))]
        if self.maybe(50 if found.ipv6 else 4):
            body["ipv6"] = {}
            held = [network for user in users for network in user.networks6()]
            for name, most in (("slaac", 2), ("ranges", 4)):
                if self.maybe(60):
                    number = self.generator.randrange(most)
                    body["ipv6"][name] = [self.ipv6_body(found.ipv6, held, (64,))[0] for _ in range(number)]
            if self.maybe(20):
                body["ipv6"]["is_public"] = self.maybe(50)
        return body

    def vpc_interface(self, instance=None):
        """An interface in a subnet: most often of the instance's region, and often where the instance has another one."""
        subnets = self.model.subnets
        if instance:
            own = [found.subnet for found in self.model.interfaces.values() if found.instance == instance]
            region = self.model.instances[instance]
            near = [id for id, subnet in subnets.items() if self.model.vpcs[subnet.vpc].region == region]
            subnets = own if own and self.maybe(40) else near if near and self.maybe(95) else subnets
        subnet = self.pick(subnets) if self.maybe(98) else 999_999
        return {"purpose": "vpc", "subnet_id": subnet, **self.interface_body(subnet)}

    # VPCs and subnets

    def create_vpc(self):
        model = self.model
        body = {"label": self.label(), "region": self.pick(REGIONS)}
        expected = None
        if self.maybe(75):
            body["ipv6"] = self.ipv6_body(model.pool, list(model.prefixes), (52, 52, 52, 52, 48, 44))
            # Any range of the pool, so that certain ranges of subnets are sometimes inside that of the VPC.
            expected = model.new_vpc(body | {"subnets": []})[0]
        vpc_range = expected[0] if expected else None
        count, percent = self.generator.randrange(4), 70 if "ipv6" in body else 3
        body["subnets"] = [self.subnet_body(vpc_range, [], percent) for _ in range(count)]
        expected, errors = model.new_vpc(body)
        response = self.send("POST", "/vpcs", body, errors)
        if response:
            range_, ranges = expected
            equal("range of the VPC", response["ipv6"], shown(range_))
            model.add_vpc(response["id"], body["region"], range_)
            for subnet, wanted, range_ in zip(response["subnets"], body["subnets"], ranges, strict=True):
                equal("range of the subnet", subnet["ipv6"], shown(range_))
                model.add_subnet(subnet["id"], response["id"], wanted["label"], ipaddress.ip_network(wanted["ipv4"]), range_)

    def delete_vpc(self):
        id = self.pick(self.model.vpcs)
        self.send("DELETE", f"/vpcs/{id}", None, self.model.delete_vpc(id))

    def update_vpc(self):
        id, vpc = self.pick(self.model.vpcs.items())
        body = {"label": self.label()}
        errors = []
        if self.maybe(50):
            other = self.model.vpcs[self.pick(self.model.vpcs)].ipv6
            body["ipv6"] = shown(other)
            errors = ["ipv6 not_offered"] if other and other != vpc.ipv6 else []
        response = self.send("PUT", f"/vpcs/{id}", body, errors)
        if response:
            equal("range of the VPC", response["ipv6"], shown(vpc.ipv6))
            ranges = [(subnet["id"], subnet["ipv4"], subnet["ipv6"]) for subnet in response["subnets"]]
            expected = [(id, str(subnet.ipv4), shown(subnet.ipv6)) for id, subnet in sorted(vpc.subnets.items())]
            equal("subnets", ranges, expected)

    def create_subnet(self):
        id, vpc = self.pick(self.model.vpcs.items())
        body = self.subnet_body(vpc.ipv6, list(vpc.subnets.values()), 65 if vpc.ipv6 else 3)
        range_, errors = self.model.new_subnet(id, body)
        response = self.send("POST", f"/vpcs/{id}/subnets", body, errors)
        if response:
            equal("range of the subnet", response["ipv6"], shown(range_))
            self.model.add_subnet(response["id"], id, body["label"], ipaddress.ip_network(body["ipv4"]), range_)

    def delete_subnet(self):
        id, subnet = self.pick(self.model.subnets.items())
        self.send("DELETE", f"/vpcs/{subnet.vpc}/subnets/{id}", None, self.model.delete_subnet(id))

    def update_subnet(self):
        id, subnet = self.pick(self.model.subnets.items())
        response = self.send("PUT", f"/vpcs/{subnet.vpc}/subnets/{id}", {"label": self.label()}, [])
        equal("ranges", (response["ipv4"], response["ipv6"]), (str(subnet.ipv4), shown(subnet.ipv6)))

    # Interfaces

    def create_instance(self):
        wanted, region = self.vpc_interface(), self.pick(REGIONS)
        if wanted["subnet_id"] in self.model.subnets and self.maybe(95):
            region = self.model.vpcs[self.model.subnets[wanted["subnet_id"]].vpc].region
        expected, errors = self.model.attach("interfaces[0].", 0, region, 0, wanted)
        body = {"type": "g6-nanode-1", "region": region, "interfaces": [wanted]}
        response = self.send("POST", "/linode/instances", body, errors)
        if response:
            id = response["id"]
            self.model.instances[id] = region
            [config] = self.client.get(f"/linode/instances/{id}/configs")["data"]
            self.model.configs[config["id"]] = id
            self.add(config["interfaces"][0], expected, id, config["id"])

    def delete_instance(self):
        id = self.pick(self.model.instances)
        self.send("DELETE", f"/linode/instances/{id}", None, [])
        self.model.delete_instance(id)

    def create_config(self):
        id, region = self.pick(self.model.instances.items())
        wanted = self.vpc_interface(id)
        expected, errors = self.model.attach("interfaces[0].", id, region, 0, wanted)
        body = {"label": self.label(), "devices": {}, "interfaces": [wanted]}
        response = self.send("POST", f"/linode/instances/{id}/configs", body, errors)
        if response:
            self.model.configs[response["id"]] = id
            self.add(response["interfaces"][0], expected, id, response["id"])

    def delete_config(self):
        id, instance = self.pick(self.model.configs.items())
        self.send("DELETE", f"/linode/instances/{instance}/configs/{id}", None, [])
        self.model.delete_config(id)

    def interface_of(self, config):
        """The ID of the interface of a config and the interface, or None and None."""
        found = (item for item in self.model.interfaces.items() if item[1].config == config)
        return next(found, (None, None))

    def set_interfaces(self):
        """Replaces the interfaces of a config. An interface in the same subnet keeps its address and networks."""
        id, instance = self.pick(self.model.configs.items())
        old, current = self.interface_of(id)
        region = self.model.instances[instance]
        wanted = self.vpc_interface(instance)
        if current and self.maybe(50):
            wanted = {"purpose": "vpc", "subnet_id": current.subnet, **self.interface_body(current.subnet)}
        expected, errors = self.model.attach("interfaces[0].", instance, region, id, wanted, current)
        path = f"/linode/instances/{instance}/configs/{id}"
        response = self.send("PUT", path, {"interfaces": [wanted]}, errors)
        if response:
            self.model.interfaces.pop(old, None)
            self.add(response["interfaces"][0], expected, instance, id)

    def create_interface(self):
        id, instance = self.pick(self.model.configs.items())
        region = self.model.instances[instance]
        wanted = self.vpc_interface(instance)
        expected, errors = self.model.attach("", instance, region, id, wanted)
        if self.interface_of(id)[1]:
            errors = sorted([*errors, "purpose interface_count"])
        response = self.send("POST", f"/linode/instances/{instance}/configs/{id}/interfaces", wanted, errors)
        if response:
            self.add(response, expected, instance, id)

    def update_interface(self):
        id, current = self.pick(self.model.interfaces.items())
        body = self.interface_body(current.subnet)
        expected, errors = self.model.change(id, body)
        response = self.send("PUT", self.path(id, current), body, errors)
        if response:
            self.add(response, expected, current.instance, current.config)

    def delete_interface(self):
        id, current = self.pick(self.model.interfaces.items())
        self.send("DELETE", self.path(id, current), None, [])
        del self.model.interfaces[id]

    def path(self, id, interface):
        return f"/linode/instances/{interface.instance}/configs/{interface.config}/interfaces/{id}"

    def add(self, response, expected: Interface, instance, config):
        """Compares an interface with the expected one, and adds it to the model."""
        expected.instance, expected.config = instance, config
        found = response["ipv4"]["vpc"], response["ip_ranges"], response["ipv6"]
        ipv6 = None
        if self.model.subnets[expected.subnet].ipv6:
            slaac = {"range": str(expected.slaac), "address": str(expected.slaac_address())} if expected.slaac else None
            ranges = [{"range": str(range_)} for range_ in expected.ranges6]
            ipv6 = {"slaac": [slaac] if slaac else [], "ranges": ranges, "is_public": expected.is_public}
        equal("interface", found, (str(expected.address.network_address), list(map(str, expected.ranges)), ipv6))
        self.model.interfaces[response["id"]] = expected

    # Lists

    def compare_lists(self):
        """Compares all addresses, networks and ranges."""
        ipv4, ipv6 = self.model.ips()
        place = "vpc_id", "subnet_id", "linode_id", "config_id", "interface_id"
        found = [(ip["address"], ip["address_range"], *(ip[name] for name in place)) for ip in self.client.pages("/vpcs/ips")]
        equal("/vpcs/ips", found, ipv4)
        found = [
            (ip["ipv6_range"], [at["slaac_address"] for at in ip["ipv6_addresses"]], ip["ipv6_is_public"], *(ip[name] for name in place))
            for ip in self.client.pages("/vpcs/ipv6s")
        ]
        equal("/vpcs/ipv6s", found, ipv6)
        found = {vpc["id"]: (vpc["ipv6"], [subnet["ipv6"] for subnet in vpc["subnets"]]) for vpc in self.client.pages("/vpcs")}
        expected = {
            id: (shown(vpc.ipv6), [shown(subnet.ipv6) for _, subnet in sorted(vpc.subnets.items())])
            for id, vpc in self.model.vpcs.items()
        }
        equal("/vpcs", found, expected)


def shown(range_):
    return [{"range": str(range_)}] if range_ else None
