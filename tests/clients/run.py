"""Unchanged clients of the public service, driven end to end against a real server.

`./check` runs this with the Python of an environment that has linode_api4; the folders of two
versions of linode-cli are its arguments. It starts the server itself and ends it.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from linode_api4 import (
    ApiError,
    ConfigInterface,
    ConfigInterfaceIPv4,
    Instance,
    LinodeClient,
    NetworkInterface,
    VPC,
)

TOKEN = "c1" * 32


class Garth:
    """A server on a fresh store; leaving its `with` ends it, by its process id."""

    def __init__(self, binary):
        self.folder = tempfile.TemporaryDirectory(prefix="garth-clients-")
        env = {name: value for name, value in os.environ.items() if not name.startswith("GARTH_")}
        env["GARTH_BOOTSTRAP_TOKEN"] = TOKEN
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--data", f"{self.folder.name}/data", "--log", "warn"]
        self.process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        said = self.process.stdout.readline()
        self.address = re.search(r"http://([\d.]+:\d+)", said)[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(30) == 0, "the server did not end well"
        self.folder.cleanup()


def python_vpcs(garth):
    client = LinodeClient(TOKEN, base_url=f"http://{garth.address}/v4beta")
    vpc = client.vpcs.create("py-one", "us-mia", description="d", subnets=[{"label": "a", "ipv4": "10.0.0.0/24"}])
    vpc.label = "py-two"
    assert vpc.save()
    subnet = vpc.subnet_create("b", "10.0.1.0/24")
    subnet.label = "bb"
    assert subnet.save()
    assert [s.label for s in client.load(VPC, vpc.id).subnets] == ["a", "bb"]
    assert [v.id for v in client.vpcs(VPC.label.contains("PY"))] == [vpc.id]
    try:
        client.vpcs.create("bad_label", "us-mia")
        raise AssertionError("a bad label was accepted")
    except ApiError as error:
        assert error.status == 400 and error.errors == ["Must only use ASCII letters, numbers, and dashes"]
    assert subnet.delete() and vpc.delete()


def python_compute(garth):
    client = LinodeClient(TOKEN, base_url=f"http://{garth.address}/v4beta")
    vpc = client.vpcs.create("py-net", "us-mia", subnets=[{"label": "a", "ipv4": "10.0.0.0/24"}])
    subnet = vpc.subnets[0]
    instance = client.linode.instance_create(
        "g6-nanode-1",
        "us-mia",
        image="linode/debian12",
        root_pass="correct horse battery staple",
        interfaces=[ConfigInterface("public"), ConfigInterface("vpc", subnet_id=subnet.id)],
    )
    assert client.load(Instance, instance.id).status == "running"
    config = instance.configs[0]
    assert [i.purpose for i in config.interfaces] == ["public", "vpc"]
    assert config.interfaces[1].ipv4.vpc == "10.0.0.2"
    assert [ip.address for ip in vpc.ips] == ["10.0.0.2"] == [ip.address for ip in client.vpcs.ips()]
    assert instance.ips.ipv4.vpc[0].address == "10.0.0.2"

    try:
        vpc.delete()
        raise AssertionError("a VPC in use was deleted")
    except ApiError as error:
        assert error.status == 400 and "is in use by instance" in error.errors[0]

    poller = client.polling.event_poller_create("linode", "linode_shutdown", entity_id=instance.id)
    assert instance.shutdown()
    poller.wait_for_next_event_finished(timeout=20)
    assert config.save(), "what was read can be written back"

    other = instance.config_create(label="second", devices={"sda": None})
    public = other.interface_create_public(primary=True)
    vlan = other.interface_create_vlan("backstage", ipam_address="10.9.0.1/24")
    ours = other.interface_create_vpc(
        subnet=subnet.id, ipv4=ConfigInterfaceIPv4(vpc="10.0.0.9", nat_1_1="any"), ip_ranges=["10.0.0.64/28"]
    )
    assert ours.ipv4.nat_1_1 == instance.ipv4[0] and ours.ip_ranges == ["10.0.0.64/28"]
    ours.ip_ranges = ["10.0.0.80/28"]
    assert ours.save()
    other.interface_reorder([ours, public, vlan])
    assert [i.id for i in client.load(Instance, instance.id).configs[1].network_interfaces] == [ours.id, public.id, vlan.id]
    again = NetworkInterface(client, ours.id, other.id, instance_id=instance.id)
    assert again.ip_ranges == ["10.0.0.80/28"]
    assert vlan.delete() and instance.boot(config=other)
    assert instance.reboot() and instance.delete() and vpc.delete()


def cli(folder):
    """The same by the command line of one version."""

    def drive(garth):
        home = tempfile.mkdtemp(prefix="home-", dir=garth.folder.name)
        env = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "LINODE_CLI_TOKEN": TOKEN,
            "LINODE_CLI_API_HOST": garth.address,
            "LINODE_CLI_API_SCHEME": "http",
            "LINODE_CLI_API_VERSION": "v4",
            "LINODE_CLI_SUPPRESS_VERSION_WARNING": "1",
        }

        def ask(words, fails=False):
            command = [f"{folder}/bin/linode-cli", *words.split(), "--json"]
            ran = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
            assert (ran.returncode != 0) == fails, f"{words}: {ran.returncode} {ran.stdout} {ran.stderr}"
            return ran.stderr if fails else json.loads(ran.stdout or "[]")

        subnets = "--subnets.label a --subnets.ipv4 10.0.1.0/24 --subnets.label b --subnets.ipv4 10.0.2.0/24"
        vpc = ask(f"vpcs create --label cli --region us-mia {subnets}")[0]
        assert [s["label"] for s in ask(f"vpcs subnets-list {vpc['id']}")] == ["a", "b"]
        assert [v["id"] for v in ask("vpcs list --label cli")] == [vpc["id"]]
        assert "dashes" in ask(f"vpcs update {vpc['id']} --label bad_label", fails=True)
        subnet = vpc["subnets"][0]["id"]
        instance = ask("linodes create --type g6-nanode-1 --region us-mia --label cli-1 --booted false")[0]["id"]
        config = ask(f"linodes config-create {instance} --label boot")[0]["id"]
        added = ask(f"linodes config-interface-add {instance} {config} --purpose vpc --subnet_id {subnet}")[0]
        assert added["ipv4"]["vpc"] == "10.0.1.2"
        assert [i["id"] for i in ask(f"linodes config-interfaces-list {instance} {config}")] == [added["id"]]
        ask(f"linodes boot {instance}")
        assert ask(f"linodes view {instance}")[0]["status"] == "running"
        assert "in use" in ask(f"vpcs subnet-delete {vpc['id']} {subnet}", fails=True)
        ask(f"linodes shutdown {instance}")
        ask(f"linodes config-interface-delete {instance} {config} {added['id']}")
        ask(f"linodes delete {instance}")
        ask(f"vpcs delete {vpc['id']}")
        newest = ask("events list")[0]
        assert newest["action"] == "vpc_delete"
        ask(f"events mark-seen {newest['id']}")
        assert {"us-mia", "fr-par"} <= {region["id"] for region in ask("regions list")}
        assert any(image["vendor"] == "Alpine" for image in ask("images list"))

    return drive


def main():
    binary, *folders = sys.argv[1:]
    tests = {"linode_api4, VPCs": python_vpcs, "linode_api4, instances": python_compute}
    tests |= {f"linode-cli in {Path(folder).name}": cli(folder) for folder in folders}
    failed = 0
    for name, test in tests.items():
        begun = time.monotonic()
        try:
            with Garth(binary) as garth:
                test(garth)
            print(f"ok     {name} ({time.monotonic() - begun:.0f} s)", flush=True)
        except Exception as error:
            failed += 1
            print(f"FAILED {name}: {type(error).__name__}: {error}", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
