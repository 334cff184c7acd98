"""The requests of the Terraform provider for VPCs, subnets, users, tokens, SSH keys and tags, and for its data sources."""

from sequences.steps import Steps, holds
from sequences.terraform_compute import destroy, read, start

# The provider sends this filter with the list of each data source without a filter.
ALL = {"+and": [], "+order": "desc"}
GLOBAL = (
    "add_databases add_domains add_firewalls add_images add_linodes add_longview add_nodebalancers add_stackscripts "
    "add_volumes add_vpcs cancel_account longview_subscription"
).split()


def vpcs_and_subnets(garth):
    terraform = Steps(garth)
    start(terraform)
    vpc = terraform.post("/vpcs", label="tf-test", description="some description", region="us-mia")
    holds(vpc, label="tf-test", description="some description", region="us-mia", subnets=[])
    path = f"/vpcs/{vpc['id']}"
    assert terraform.put(path, label="tf-test-renamed", description="other")["label"] == "tf-test-renamed"
    refused = terraform.put(path, label="tf-test_renamed", status=400)["errors"][0]
    assert refused["reason"] == "Must only use ASCII letters, numbers, and dashes" and refused["field"] == "label"
    subnet = terraform.post(f"{path}/subnets", label="tf-subnet", ipv4="10.0.0.0/24")
    subnet_path = f"{path}/subnets/{subnet['id']}"
    holds(terraform.get(subnet_path), label="tf-subnet", ipv4="10.0.0.0/24", linodes=[])
    assert terraform.put(subnet_path, label="tf-subnet-renamed")["label"] == "tf-subnet-renamed"

    instance = terraform.post("/linode/instances", region="us-mia", type="g6-nanode-1", label="tf-test")["id"]
    interface = {"purpose": "vpc", "subnet_id": subnet["id"]}
    config = terraform.post(
        f"/linode/instances/{instance}/configs", label="config", devices={}, interfaces=[interface]
    )
    (attached,) = terraform.get(subnet_path)["linodes"]
    found = [(new["id"], new["config_id"], new["active"]) for new in attached["interfaces"]]
    assert found == [(config["interfaces"][0]["id"], config["id"], False)], attached
    assert [row["label"] for row in terraform.list("/vpcs", ALL)] == ["tf-test-renamed"]
    assert [row["id"] for row in terraform.list(f"{path}/subnets", ALL)] == [subnet["id"]]
    by_label = {"+and": [{"+or": [{"label": "tf-test-renamed"}]}], "+order": "desc"}
    assert [row["id"] for row in terraform.list("/vpcs", by_label)] == [vpc["id"]]
    for ips in ("/vpcs/ips", f"{path}/ips"):
        (ip,) = terraform.list(ips, ALL)
        holds(ip, address="10.0.0.2", linode_id=instance, subnet_id=subnet["id"], config_id=config["id"])
    terraform.delete(f"/linode/instances/{instance}/configs/{config['id']}")
    terraform.delete(subnet_path)
    destroy(terraform, instance)
    terraform.delete(path)
    terraform.gone(subnet_path)


def users_and_grants(garth):
    terraform = Steps(garth)
    path = "/account/users/tf-test"
    email = "tf-test@example.com"
    holds(terraform.post("/account/users", username="tf-test", email=email, restricted=True), restricted=True)
    granted = dict.fromkeys(GLOBAL, False) | {"account_access": None}
    expected = granted | {"add_domains": True, "add_firewalls": True, "add_linodes": True, "add_nodebalancers": True}
    terraform.send("PUT", f"{path}/grants", {"global": expected | {"child_account_access": False}})
    holds(terraform.get(f"{path}/grants")["global"], **expected)
    instance = terraform.post("/linode/instances", region="us-mia", type="g6-nanode-1", label="tf-test", booted=False)["id"]
    terraform.put(path, username="tf-test", restricted=True)
    entry = {"id": instance, "permissions": "read_write"}
    expected = granted | {"account_access": "read_only", "add_images": True, "add_linodes": True}
    terraform.send("PUT", f"{path}/grants", {"linode": [entry], "global": expected})
    grants = terraform.get(f"{path}/grants")
    holds(grants["global"], **expected)
    assert grants["linode"] == [entry | {"label": "tf-test"}], grants
    assert "tf-test" in [user["username"] for user in terraform.list("/account/users", ALL)]
    terraform.put(path, username="tf-renamed", email=email)
    terraform.delete("/account/users/tf-renamed")
    terraform.gone("/account/users/tf-renamed")
    destroy(terraform, instance)


def tokens_keys_and_profile(garth):
    terraform = Steps(garth)
    token = terraform.post("/profile/tokens", label="tf_test", scopes="linodes:read_only", expiry="2100-01-02T03:04:05")
    path = f"/profile/tokens/{token['id']}"
    holds(terraform.get(path), label="tf_test", scopes="linodes:read_only", expiry="2100-01-02T03:04:05")
    assert terraform.put(path, label="tf_test_renamed")["label"] == "tf_test_renamed"
    terraform.delete(path)
    terraform.gone(path)
    text = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJqkHPoX9YgFVE6ezgT5hTAGrRX8MyyYFtAWCXEp6Wu2 tf@example.com"
    key = terraform.post("/profile/sshkeys", label="tf_test", ssh_key=text)
    path = f"/profile/sshkeys/{key['id']}"
    holds(terraform.get(path), label="tf_test", ssh_key=text)
    assert terraform.put(path, label="tf_test_renamed")["label"] == "tf_test_renamed"
    username = holds(terraform.get("/profile"), restricted=False)["username"]
    new = {"region": "us-mia", "type": "g6-nanode-1", "label": "tf-test", "image": "linode/alpine3.20"}
    instance = terraform.post("/linode/instances", **new, authorized_users=[username])["id"]
    read(terraform, instance)
    destroy(terraform, instance)
    assert [row["label"] for row in terraform.list("/profile/sshkeys", ALL)] == ["tf_test_renamed"]
    terraform.delete(path)
    terraform.gone(path)


def tags(garth):
    terraform = Steps(garth)
    new = {"region": "us-mia", "type": "g6-nanode-1", "label": "tf-test", "booted": False}
    id = terraform.post("/linode/instances", **new, tags=["tf_test"])["id"]
    for tags in (["tf_test_2", "tf_test"], ["tf_test"]):
        terraform.put(f"/linode/instances/{id}", tags=tags)
        assert sorted(read(terraform, id)[0]["tags"]) == sorted(tags)
        assert [tag["label"] for tag in terraform.list("/tags")] == sorted(tags), "a tag without objects disappears"
    destroy(terraform, id)


def data_sources(garth):
    terraform = Steps(garth)
    start(terraform)
    region = terraform.get("/regions/us-mia")
    assert region["resolvers"]["ipv4"] and region["resolvers"]["ipv6"] and region["country"] == "us"
    for path, filtered in [
        ("/regions", {"+and": [{"+or": [{"status": "ok"}]}], "+order": "desc"}),
        ("/regions", {"+and": [{"+or": [{"country": "us"}]}], "+order": "desc"}),
        ("/linode/types", {"+and": [{"+or": [{"class": "nanode"}]}], "+order": "desc"}),
        ("/linode/types", ALL),
        ("/images", ALL),
        ("/linode/kernels", ALL),
        ("/account/availability", {"+and": [{"+or": [{"region": "us-east"}]}], "+order": "desc"}),
    ]:
        assert terraform.list(path, filtered), f"{path} {filtered}"
    for path in ("/networking/firewalls", "/volumes", "/nodebalancers", "/networking/vlans", "/linode/instances"):
        assert terraform.list(path, ALL) == [], path
    holds(terraform.get("/linode/kernels/linode%2Flatest-64bit"), kvm=True)
    assert terraform.get("/account")["email"] and "network_helper" in terraform.get("/account/settings")


TESTS = [vpcs_and_subnets, users_and_grants, tokens_keys_and_profile, tags, data_sources]
