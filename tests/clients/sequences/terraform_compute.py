"""The requests of the Terraform provider for instances, disks and configs."""

from sequences.steps import Steps, holds

IMAGE = "linode/alpine3.20"
PASSWORD = "a-long-secret-of-the-provider"


def start(terraform):
    """The requests before each apply. They include a page of types after the last one, which must not be an error."""
    images = terraform.list("/images", {"vendor": "Alpine"})
    assert len(images) > 1 and all(image["created"] for image in images), "the provider's tests use the newest two"
    assert all(region["capabilities"] for region in terraform.list("/regions"))
    assert all(row["available"] is not None for row in terraform.list("/account/availability"))
    terraform.get("/linode/types?page=100")


def read(terraform, instance):
    """A refresh of linode_instance."""
    found = terraform.get(f"/linode/instances/{instance}")
    ips = terraform.get(f"/linode/instances/{instance}/ips")
    assert found["ipv4"][0] in [ip["address"] for ip in ips["ipv4"]["public"]]
    disks = terraform.list(f"/linode/instances/{instance}/disks")
    configs = terraform.list(f"/linode/instances/{instance}/configs")
    assert sum(disk["size"] for disk in disks) <= found["specs"]["disk"]
    return found, disks, configs


def destroy(terraform, instance):
    """The provider waits for the event of the deletion, after the instance is deleted."""
    path = f"/linode/instances/{instance}"
    terraform.finished("linode_delete", instance, lambda: terraform.delete(path))
    terraform.gone(path)


def instance_with_an_image(garth):
    terraform = Steps(garth)
    start(terraform)
    created = terraform.post(
        "/linode/instances",
        region="us-mia",
        type="g6-nanode-1",
        label="tf_test-1",
        image=IMAGE,
        root_pass=PASSWORD,
        authorized_keys=["ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDOQyGw tf@example.com"],
        swap_size=256,
        group="tf_test",
        interfaces=[{"purpose": "public"}],
    )
    id = created["id"]
    instance, disks, (config,) = read(terraform, id)
    holds(instance, image=IMAGE, type="g6-nanode-1", region="us-mia", group="tf_test", status="running")
    assert [(disk["filesystem"], disk["status"]) for disk in disks] == [("ext4", "ready"), ("swap", "ready")], disks
    assert disks[1]["size"] == 256 and config["devices"]["sda"]["disk_id"] == disks[0]["id"]
    assert [interface["purpose"] for interface in config["interfaces"]] == ["public"]

    # A change of the interfaces: the whole config, then only its interfaces, then a reboot with it.
    path = f"/linode/instances/{id}/configs/{config['id']}"
    helpers = dict.fromkeys(("updatedb_disabled", "distro", "modules_dep", "network", "devtmpfs_automount"), True)
    fixed = {"memory_limit": 0, "init_rd": None, "comments": ""}
    devices = {"sda": config["devices"]["sda"]}
    terraform.put(path, label=config["label"], devices=devices, helpers=helpers, interfaces=None, **fixed)
    assert len(terraform.get(path)["interfaces"]) == 1, "null leaves the interfaces as they are"
    vlan = {"ipam_address": "10.0.0.2/24", "label": "tf-vlan", "purpose": "vlan"}
    for interfaces in ([{"purpose": "public"}, vlan], [vlan]):
        changed = terraform.put(path, interfaces=interfaces, **fixed)
        assert [new["purpose"] for new in changed["interfaces"]] == [new["purpose"] for new in interfaces]
        reboot = f"/linode/instances/{id}/reboot"
        terraform.finished("linode_reboot", id, lambda: terraform.post(reboot, config_id=config["id"]))
    assert terraform.get(f"/linode/instances/{id}")["status"] == "running"
    destroy(terraform, id)


def instance_with_disks_and_configs(garth):
    """linode_instance with disk and config blocks, linode_instance_disk and linode_instance_config."""
    terraform = Steps(garth)
    start(terraform)
    new = {"region": "us-mia", "type": "g6-nanode-1", "label": "tf_test-1"}
    id = terraform.post("/linode/instances", **new, root_pass=PASSWORD, booted=False)["id"]
    path = f"/linode/instances/{id}"
    alerts = {"cpu": 60, "io": 0, "network_in": 0, "network_out": 0, "transfer_quota": 0}
    assert terraform.put(path, alerts=alerts)["alerts"]["cpu"] == 60
    disk = terraform.finished(
        "disk_create",
        id,
        lambda: terraform.post(f"{path}/disks", label="boot", size=3000, image=IMAGE, root_pass=PASSWORD),
    )
    holds(terraform.get(f"{path}/disks/{disk['id']}"), label="boot", size=3000, filesystem="ext4", status="ready")
    config = terraform.post(
        f"{path}/configs",
        label="my-config",
        devices={"sda": {"disk_id": disk["id"]}},
        interfaces=[],
        kernel="linode/latest-64bit",
        root_device="/dev/sda",
        run_level="default",
        virt_mode="paravirt",
    )
    holds(config, kernel="linode/latest-64bit", run_level="default", virt_mode="paravirt", interfaces=[])
    terraform.finished("linode_boot", id, lambda: terraform.post(f"{path}/boot", config_id=config["id"]))
    assert read(terraform, id)[0]["status"] == "running"
    # The provider derives the running config from the newest event of a boot or a reboot.
    booted = {"+or": [{"action": "linode_boot"}, {"action": "linode_reboot"}], "+order": "desc", "+order_by": "created"}
    newest = terraform.list("/account/events", booted | {"entity.id": id, "entity.type": "linode"})[0]
    assert newest["secondary_entity"]["id"] == config["id"], newest

    terraform.finished("linode_shutdown", id, lambda: terraform.post(f"{path}/shutdown"))
    terraform.finished("disk_resize", id, lambda: terraform.post(f"{path}/disks/{disk['id']}/resize", size=4000))
    assert terraform.put(f"{path}/disks/{disk['id']}", label="renamed")["label"] == "renamed"
    terraform.delete(f"{path}/configs/{config['id']}")
    terraform.finished("disk_delete", id, lambda: terraform.delete(f"{path}/disks/{disk['id']}"))
    destroy(terraform, id)
    terraform.gone(f"{path}/configs/{config['id']}")


def config_in_a_vpc(garth):
    terraform = Steps(garth)
    start(terraform)
    vpc = terraform.post("/vpcs", label="tf-test-vpc", description="test description", region="us-mia")["id"]
    subnet = terraform.post(f"/vpcs/{vpc}/subnets", label="tf-test-subnet", ipv4="10.0.4.0/24")["id"]
    instance = terraform.post("/linode/instances", region="us-mia", type="g6-nanode-1", label="tf-test")
    path = f"/linode/instances/{instance['id']}"
    disk = terraform.post(f"{path}/disks", label="boot", size=25600, image=IMAGE, root_pass=PASSWORD)["id"]

    def interface(address, ranges, nat=None):
        ipv4 = {"vpc": address} | ({"nat_1_1": nat} if nat else {})
        return {"purpose": "vpc", "subnet_id": subnet, "ipv4": ipv4, "ip_ranges": ranges}

    public, own = {"purpose": "public"}, instance["ipv4"][0]
    config = terraform.post(
        f"{path}/configs",
        label="my-config",
        comments="cool",
        devices={"sda": {"disk_id": disk}},
        interfaces=[public, interface("10.0.4.250", ["10.0.4.101/32"], "any")],
        kernel="linode/grub2",
        root_device="/dev/sda",
    )
    assert holds(config["interfaces"][1], vpc_id=vpc, subnet_id=subnet)["ipv4"] == {"vpc": "10.0.4.250", "nat_1_1": own}
    config_path = f"{path}/configs/{config['id']}"
    for label, interfaces in [
        ("updated", [public, interface("10.0.4.249", ["10.0.4.100/32"], own)]),
        ("swapped", [interface("10.0.4.249", ["10.0.4.100/32"]), public]),
        ("vpc-only", [interface("10.0.4.249", ["10.0.4.100/32"], "any")]),
        ("removed", [public]),
    ]:
        terraform.put(config_path, label=label, comments="", interfaces=interfaces, memory_limit=0, init_rd=None)
        found = terraform.get(config_path)["interfaces"]
        assert [new["purpose"] for new in found] == [new["purpose"] for new in interfaces], label
        for new, sent in zip(found, interfaces):
            assert new["purpose"] != "vpc" or (new["ipv4"]["vpc"], new["ip_ranges"]) == ("10.0.4.249", ["10.0.4.100/32"])
            assert "nat_1_1" not in sent.get("ipv4", {}) or new["ipv4"]["nat_1_1"] == own
    terraform.delete(f"/vpcs/{vpc}/subnets/{subnet}")
    terraform.delete(config_path)
    terraform.delete(f"/vpcs/{vpc}")
    destroy(terraform, instance["id"])


def config_in_a_dual_stack_vpc(garth):
    terraform = Steps(garth)
    start(terraform)
    auto = [{"range": "auto"}]
    vpc = terraform.post("/vpcs", label="tf-test-vpc", region="us-mia", ipv6=[{"range": "/52"}])
    subnet = terraform.post(f"/vpcs/{vpc['id']}/subnets", label="tf-test-subnet", ipv4="10.0.4.0/24", ipv6=auto)
    assert vpc["ipv6"][0]["range"].endswith("/52") and subnet["ipv6"][0]["range"]
    renamed = terraform.put(f"/vpcs/{vpc['id']}", label="tf-test-vpc-renamed", description="test description")
    assert renamed["ipv6"] == vpc["ipv6"]
    instance = terraform.post("/linode/instances", region="us-mia", type="g6-nanode-1", label="tf-test")
    path = f"/linode/instances/{instance['id']}"

    def interface(count, **ipv6):
        settings = {"slaac": auto, "ranges": auto * count} | ipv6
        ipv4 = {"vpc": "10.0.4.250", "nat_1_1": "any"}
        own = {"ipv4": ipv4, "ipv6": settings, "ip_ranges": ["10.0.4.101/32"]}
        return {"purpose": "vpc", "subnet_id": subnet["id"]} | own

    config = terraform.post(f"{path}/configs", label="my-config", devices={}, interfaces=[interface(1)])
    first = config["interfaces"][0]["ipv6"]
    assert (len(first["slaac"]), len(first["ranges"]), first["is_public"]) == (1, 1, False), first
    config_path = f"{path}/configs/{config['id']}"
    changed = terraform.put(config_path, label="my-config", interfaces=[interface(2, is_public=True)])
    second = changed["interfaces"][0]["ipv6"]
    assert (second["slaac"], second["is_public"]) == (first["slaac"], True), second
    assert second["ranges"][:1] == first["ranges"], second
    assert len(second["ranges"]) == 2
    # An interface without `ipv6` gets a network for SLAAC.
    plain = {"purpose": "vpc", "subnet_id": subnet["id"]}
    other = terraform.post(f"{path}/configs", label="other", devices={}, interfaces=[plain])
    assert len(other["interfaces"][0]["ipv6"]["slaac"]) == 1
    assert terraform.list(f"/vpcs/{vpc['id']}/ipv6s", {"linode_id": instance["id"]})
    destroy(terraform, instance["id"])
    terraform.delete(f"/vpcs/{vpc['id']}/subnets/{subnet['id']}")
    terraform.delete(f"/vpcs/{vpc['id']}")


def addresses_and_names(garth):
    """linode_instance_ip, linode_networking_ip and linode_rdns."""
    terraform = Steps(garth)
    start(terraform)
    id = terraform.post("/linode/instances", region="us-mia", type="g6-nanode-1", label="tf-test")["id"]
    added = [
        terraform.post(f"/linode/instances/{id}/ips", type="ipv4", public=True)["address"],
        terraform.post("/networking/ips", type="ipv4", public=True, linode_id=id)["address"],
    ]
    for address in added:
        ip = terraform.get(f"/networking/ips/{address}")
        holds(ip, linode_id=id, public=True, type="ipv4", reserved=False, region="us-mia")
        usual = ip["rdns"]
        for name in ("web.example.com", "www.example.com"):
            assert terraform.put(f"/networking/ips/{address}", rdns=name)["rdns"] == name
        assert terraform.put(f"/networking/ips/{address}", rdns=None)["rdns"] == usual
    listed = terraform.list("/networking/ips", {"+and": [], "+order": "desc"})
    assert set(added) <= {ip["address"] for ip in listed}
    for address in added:
        terraform.delete(f"/linode/instances/{id}/ips/{address}")
        terraform.gone(f"/networking/ips/{address}")
    destroy(terraform, id)


TESTS = [
    instance_with_an_image,
    instance_with_disks_and_configs,
    config_in_a_vpc,
    config_in_a_dual_stack_vpc,
    addresses_and_names,
]
