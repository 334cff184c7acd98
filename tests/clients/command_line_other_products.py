"""linode-cli on addresses of instances, tags, SSH keys and log-ins."""

import json

from command_line import CommandLine
from python_identity import CALLBACK, authorize
from python_other_products import KEY


def other_products(garth, folder):
    run_json, old = CommandLine(garth, folder).run_json, "5.50" in str(folder)
    instance = run_json("linodes create --type g6-nanode-1 --region us-mia --label cli-1 --booted false")[0]["id"]
    address = run_json(f"networking ip-add --type ipv4 --public true --linode_id {instance}")[0]["address"]
    assert [ip["linode_id"] for ip in run_json("networking ips-list")] == [instance, instance]
    assert run_json(f"networking ip-update {address} --rdns web.example.com")[0]["rdns"] == "web.example.com"
    assert run_json(f"networking ip-view {address}")[0]["rdns"] == "web.example.com"
    assignment = f"--assignments.address {address} --assignments.linode_id {instance}"
    refused = run_json(f"networking ip-assign --region us-mia {assignment}", fails=True)
    assert "Request failed: 400" in refused and "Moving addresses between instances is not offered" in refused, refused
    refused = run_json(f"networking ip-share --ips {address} --linode_id {instance}", fails=True)
    assert "Request failed: 400" in refused and "Sharing addresses between instances is not offered" in refused, refused

    assert run_json(f"tags create --label production --linodes {instance}")[0]["label"] == "production"
    assert [tag["label"] for tag in run_json("tags list")] == ["production"]
    if not old:
        run_json("tags get-tagged-objects production")
    run_json("tags delete production")
    assert run_json("tags list") == []

    key = run_json("sshkeys create --label laptop --ssh_key", KEY)[0]
    assert (key["label"], key["ssh_key"]) == ("laptop", KEY)
    assert run_json(f"sshkeys update {key['id']} --label desktop")[0]["label"] == "desktop"
    assert run_json(f"sshkeys view {key['id']}")[0]["label"] == "desktop"
    assert [key["label"] for key in run_json("sshkeys list")] == ["desktop"]
    run_json(f"sshkeys delete {key['id']}")

    created = json.loads(garth.command("client", "create", "--label", "CLI", "--redirect-uri", CALLBACK, "--json"))
    authorize(garth, created["id"], created["secret"])
    (login,) = run_json("account logins-list")
    assert (login["username"], login["status"]) == ("admin", "successful")
    assert run_json(f"account login-view {login['id']}")[0]["datetime"] == login["datetime"]


TESTS = [other_products]
