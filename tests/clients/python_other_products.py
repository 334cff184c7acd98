"""linode_api4 on addresses of instances, tags, SSH keys and log-ins."""

import json
from datetime import datetime

from linode_api4 import Instance, IPAddress, LinodeClient
from linode_api4.objects.account import Login
from linode_api4.objects.profile import SSHKey
from python_client import assert_refused, ids
from python_identity import CALLBACK, authorize
from server import TOKEN

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMtUMl4Y0bSAMOHUOWuFKqZr8nSVXhFaLbqkmzoQX8sU ada@example.com"


def addresses(garth):
    client = LinodeClient(TOKEN, base_url=f"{garth.root}/v4")
    instance = client.linode.instance_create("g6-nanode-1", "us-mia", label="py-addresses")
    first = instance.ips.ipv4.public[0]
    assert (first.address, first.linode_id, first.public, first.reserved) == (instance.ipv4[0], instance.id, True, False)

    public = client.networking.ip_allocate(instance)
    private = instance.ip_allocate(public=False)
    assert private.address == "192.168.128.1" and not private.public
    found = {ip.address for ip in client.networking.ips()}
    assert found == {first.address, public.address, private.address}
    assert [ip.address for ip in client.networking.ips(IPAddress.region == "us-east")] == []
    assert client.load(Instance, instance.id).ipv4 == [first.address, public.address, private.address]

    public.rdns = "web.example.com"
    assert public.save()
    assert client.load(IPAddress, public.address).rdns == "web.example.com"
    public.rdns = "no name"
    assert_refused(400, "Domain is not valid.", public.save)
    assert client.load(IPAddress, public.address).delete()
    assert client.load(IPAddress, private.address).delete()
    assert_refused(400, "keeps at least one public", client.load(IPAddress, first.address).delete)
    assert_refused(404, "Not found", lambda: client.load(IPAddress, public.address).region)
    other = {"address": first.address, "linode_id": instance.id}
    assert_refused(400, "not offered", client.networking.ips_assign, "us-mia", other)


def tags(garth):
    client = LinodeClient(TOKEN, base_url=f"{garth.root}/v4")
    instance = client.linode.instance_create("g6-nanode-1", "us-mia", label="py-tags", tags=["blue"])
    tag = client.tag_create("production", instances=[instance])
    assert [tag.label for tag in client.tags()] == ["blue", "production"]
    assert [found.label for found in tag.objects] == ["py-tags"]
    assert client.load(Instance, instance.id).tags == ["blue", "production"]
    assert ids(client.linode.instances(Instance.tags == "blue")) == [instance.id]
    assert tag.delete()
    assert client.load(Instance, instance.id).tags == ["blue"]


def ssh_keys(garth):
    client = LinodeClient(TOKEN, base_url=f"{garth.root}/v4")
    key = client.profile.ssh_key_upload(KEY, "laptop")
    assert (key.label, key.ssh_key) == ("laptop", KEY) and isinstance(key.created, datetime)
    key.label = "desktop"
    assert key.save() and client.load(SSHKey, key.id).label == "desktop"
    assert ids(client.profile.ssh_keys()) == [key.id]
    assert client.account.users()[0].ssh_keys == ["desktop"]
    assert_refused(400, "Must be a public key", client.profile.ssh_key_upload, "ssh-rsa nonsense", "bad")
    assert key.delete()
    assert_refused(404, "Not found", lambda: client.load(SSHKey, key.id).label)


def log_ins(garth):
    client = LinodeClient(TOKEN, base_url=f"{garth.root}/v4")
    created = garth.command("client", "create", "--label", "Python", "--redirect-uri", CALLBACK, "--json")
    created = json.loads(created)
    authorize(garth, created["id"], created["secret"])
    found = client.account.logins()
    assert [(login.username, login.status, login.ip) for login in found] == [("admin", "successful", "127.0.0.1")]
    login = client.load(Login, found[0].id)
    assert login.restricted is False and isinstance(login.datetime, datetime)


TESTS = [addresses, tags, ssh_keys, log_ins]
