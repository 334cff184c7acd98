"""The requests of the tests of linodego 2, which is not available from a module proxy."""

from sequences.steps import Steps, holds

# The tests choose a region that has all of these.
CAPABILITIES = {"Linodes", "VPCs", "Vlans"}


def setup(steps):
    """The helper of the tests: a region by its capabilities, and the firewalls of the account."""
    regions = [region for region in steps.list("/regions") if CAPABILITIES <= set(region["capabilities"])]
    assert regions and all(region["site_type"] == "core" for region in regions)
    assert steps.list("/networking/firewalls") == []
    return regions[0]["id"]


def instance(steps, **fields):
    new = {"region": setup(steps), "type": "g6-nanode-1", "label": "go-test", "booted": False}
    return steps.post("/linode/instances", **(new | fields))


def power_and_disks(garth):
    steps = Steps(garth)
    deployed = instance(steps, image="linode/debian12", root_pass="a-long-secret-of-yours")["id"]
    path = f"/linode/instances/{deployed}"
    # The ID 0 means the config that booted last, or the only one.
    steps.finished("linode_boot", deployed, lambda: steps.post(f"{path}/boot", config_id=0))
    holds(steps.get(path), status="running")
    steps.finished("linode_shutdown", deployed, lambda: steps.post(f"{path}/shutdown"))
    assert len(steps.list(f"{path}/disks")) == 2
    empty = instance(steps, label="go-test-2")["id"]
    path = f"/linode/instances/{empty}"
    add = {"label": "test-disk-0", "size": 512}
    disk = steps.finished("disk_create", empty, lambda: steps.post(f"{path}/disks", **add))
    steps.finished("disk_resize", empty, lambda: steps.post(f"{path}/disks/{disk['id']}/resize", size=2000))
    steps.post(f"{path}/disks/{disk['id']}/password", password="another-long-secret-of-yours")
    steps.finished("disk_delete", empty, lambda: steps.delete(f"{path}/disks/{disk['id']}"))
    config = steps.post(f"{path}/configs", label="go-test-conf", devices={}, interfaces=None)
    assert config["interfaces"] == [] and set(config["devices"]) >= {"sda", "sdh"}
    changed = {"label": "go-test-2", "alerts": steps.get(path)["alerts"], "watchdog_enabled": True, "tags": ["go-tag-test"]}
    assert steps.put(path, **changed, maintenance_policy="linode/migrate")["tags"] == ["go-tag-test"]
    for transfer in ("transfer", "transfer/2026/1"):
        assert set(steps.get(f"{path}/{transfer}").values()) >= {0}


def addresses_and_tags(garth):
    steps = Steps(garth)
    id = instance(steps, tags=["go-tag-test"])["id"]
    path = f"/linode/instances/{id}"
    steps.post(f"{path}/configs", label="go-test-conf", devices={}, interfaces=None)
    public = steps.post(f"{path}/ips", type="ipv4", public=True)["address"]
    assert public in [ip["address"] for ip in steps.get(f"{path}/ips")["ipv4"]["public"]]
    assert steps.get("/networking/ips?page=1&skip_ipv6_rdns=true")["results"] >= 2
    steps.delete(f"{path}/ips/{public}")
    steps.gone("/networking/ips/10.0.0.1")
    assert steps.post("/tags", label="go-tag-test-foo", linodes=[id]) == {"label": "go-tag-test-foo"}
    assert [tag["label"] for tag in steps.list("/tags")] == ["go-tag-test", "go-tag-test-foo"]
    (tagged,) = steps.list("/tags/go-tag-test-foo")
    assert (tagged["type"], tagged["data"]["id"]) == ("linode", id)
    steps.delete("/tags/go-tag-test-foo")
    steps.gone("/tags/does-not-exist")
    vlan = {"ipam_address": "10.0.0.1/24", "label": "go-vlan-test-list", "purpose": "vlan"}
    steps.post(f"{path}/configs", label="go-test-vlan", devices={}, interfaces=[vlan])
    (found,) = steps.list("/networking/vlans", {"label": "go-vlan-test-list"})
    assert found["linodes"] == [id], found


def vpc_types(garth):
    steps = Steps(garth)
    vpc = steps.post("/vpcs", label="go-test-vpc", region=setup(steps), subnets=[{"label": "s", "ipv4": "10.0.0.0/24"}])
    assert (vpc["vpc_type"], vpc["subnets"][0]["vpc_type"]) == ("regular", "regular")
    refused = steps.post("/vpcs", label="go-test-other", region="us-mia", vpc_type="rdma", status=400)
    assert [(error["field"], error["code"]) for error in refused["errors"]] == [("vpc_type", "not_offered")], refused
    assert steps.get("/vpcs/default-ranges")["default_ipv4_ranges"]
    holds(steps.get(f"/regions/{vpc['region']}/vpc-availability"), region=vpc["region"], available=True)
    assert len(steps.list("/regions/vpc-availability")) == len(steps.list("/regions"))


def dual_stack_vpcs(garth):
    steps = Steps(garth)
    subnet = {"label": "go-test-subnet", "ipv4": "192.168.0.0/25", "ipv6": [{"range": "/62"}]}
    vpc = steps.post("/vpcs", label="go-test-vpc", region=setup(steps), ipv6=[{"range": "/52"}], subnets=[subnet])
    ranges = [vpc["ipv6"][0]["range"], vpc["subnets"][0]["ipv6"][0]["range"]]
    assert [text.split("/")[1] for text in ranges] == ["52", "62"], ranges
    id = instance(steps, region=vpc["region"])["id"]
    interface = {"purpose": "vpc", "subnet_id": vpc["subnets"][0]["id"]}
    interface["ipv6"] = {"slaac": [{"range": "/64"}], "ranges": [{}], "is_public": True}
    config = steps.post(f"/linode/instances/{id}/configs", label="go-test-conf", devices={}, interfaces=[interface])
    (given,) = config["interfaces"]
    (slaac,), (routed,) = given["ipv6"]["slaac"], given["ipv6"]["ranges"]
    for path in ("/vpcs/ipv6s", f"/vpcs/{vpc['id']}/ipv6s"):
        first, second = steps.list(path, {"linode_id": id})
        holds(first, ipv6_range=slaac["range"], ipv6_is_public=True, prefix=64, interface_id=given["id"])
        assert first["ipv6_addresses"] == [{"slaac_address": slaac["address"]}]
        holds(second, ipv6_range=routed["range"], ipv6_addresses=[])
    assert [row["address"] for row in steps.list("/vpcs/ips")] == [given["ipv4"]["vpc"]]
    listed = steps.get(f"/linode/instances/{id}/ips")["ipv6"]["vpc"]
    assert [row["ipv6_range"] for row in listed] == [slaac["range"], routed["range"]]


TESTS = [power_and_disks, addresses_and_tags, vpc_types, dual_stack_vpcs]
