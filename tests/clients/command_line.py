"""linode-cli, in several versions."""

import json
import os
import subprocess
import tempfile

from server import NO_NETWORK, TOKEN, Desk


class CommandLine:
    """One version of linode-cli, with its own home folder."""

    def __init__(self, garth, folder, token=TOKEN):
        self.program = f"{folder}/bin/linode-cli"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": tempfile.mkdtemp(prefix="home-", dir=garth.folder.name),
            "LINODE_CLI_TOKEN": token,
            "LINODE_CLI_API_HOST": garth.address,
            "LINODE_CLI_API_SCHEME": "http",
            "LINODE_CLI_API_VERSION": "v4",
            "LINODE_CLI_SUPPRESS_VERSION_WARNING": "1",
            **NO_NETWORK,
        }

    def run_json(self, arguments, *more, fails=False):
        """Runs a command; returns its JSON output, or its error message if it must fail."""
        result = self.run(arguments, *more)
        assert (result.returncode != 0) == fails, f"{arguments}: {result.returncode} {result.stdout} {result.stderr}"
        return result.stderr if fails else json.loads(result.stdout or "[]")

    def run(self, arguments, *more):
        command = [self.program, *arguments.split(), *more, "--json"]
        return subprocess.run(
            command, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )


def vpcs(garth, folder):
    run_json = CommandLine(garth, folder).run_json
    subnets = "--subnets.label a --subnets.ipv4 10.0.1.0/24 --subnets.label b --subnets.ipv4 10.0.2.0/24"
    vpc = run_json(f"vpcs create --label cli --region us-mia --description ours {subnets}")[0]
    one = vpc["id"]
    assert [s["label"] for s in run_json(f"vpcs subnets-list {one}")] == ["a", "b"]
    assert [v["id"] for v in run_json("vpcs list --label cli")] == [one] and run_json("vpcs list --region us-east") == []
    changed = run_json(f"vpcs update {one} --label cli-two --description theirs")[0]
    assert (changed["label"], changed["description"]) == ("cli-two", "theirs")
    assert run_json(f"vpcs view {one}")[0] == changed
    refused = run_json(f"vpcs update {one} --label bad_label", fails=True)
    assert "Request failed: 400" in refused and "Must only use ASCII letters, numbers, and dashes" in refused
    created = run_json(f"vpcs subnet-create {one} --label c --ipv4 10.0.3.0/24")[0]
    assert (created["label"], created["ipv4"], created["linodes"]) == ("c", "10.0.3.0/24", [])
    assert "overlaps" in run_json(f"vpcs subnet-create {one} --label d --ipv4 10.0.3.0/25", fails=True)
    assert run_json(f"vpcs subnet-update {one} {created['id']} --label cc")[0]["label"] == "cc"
    assert run_json(f"vpcs subnet-view {one} {created['id']}")[0]["label"] == "cc"
    run_json(f"vpcs subnet-delete {one} {created['id']}")
    assert [s["label"] for s in run_json(f"vpcs subnets-list {one} --label b")] == ["b"]
    assert "Not found" in run_json(f"vpcs subnet-view {one} {created['id']}", fails=True)
    run_json(f"vpcs delete {one}")
    assert run_json("vpcs list") == []


def instances(garth, folder):
    run_json, old = CommandLine(garth, folder).run_json, "5.50" in str(folder)
    vpc = run_json("vpcs create --label net --region us-mia --subnets.label a --subnets.ipv4 10.0.1.0/24")[0]
    subnet = vpc["subnets"][0]["id"]
    instance = run_json("linodes create --type g6-nanode-1 --region us-mia --label cli-1 --booted false")[0]["id"]
    assert run_json(f"linodes update {instance} --label cli-2")[0]["label"] == "cli-2"
    address = run_json(f"linodes ip-add {instance} --type ipv4 --public true")[0]["address"]
    assert run_json(f"linodes ip-view {instance} {address}")[0]["linode_id"] == instance
    updated = run_json(f"linodes ip-update {instance} {address} --rdns web.example.com")[0]
    assert updated["rdns"] == "web.example.com"
    run_json(f"linodes ip-delete {instance} {address}")
    assert [i["id"] for i in run_json("linodes list --region us-mia")] == [instance]
    config = run_json(f"linodes config-create {instance} --label boot")[0]["id"]
    ids = f"{instance} {config}"
    public = run_json(f"linodes config-interface-add {ids} --purpose public")[0]
    added = run_json(f"linodes config-interface-add {ids} --purpose vpc --subnet_id {subnet} --ip_ranges 10.0.1.64/28")[0]
    assert (added["ipv4"]["vpc"], added["ip_ranges"]) == ("10.0.1.2", ["10.0.1.64/28"])
    changed = run_json(f"linodes config-interface-update {ids} {added['id']} --ipv4.vpc 10.0.1.9 --primary true")[0]
    assert (changed["ipv4"]["vpc"], changed["primary"], changed["ip_ranges"]) == ("10.0.1.9", True, ["10.0.1.64/28"])
    assert run_json(f"linodes config-interface-view {ids} {added['id']}")[0] == changed
    assert [i["id"] for i in run_json(f"linodes config-interfaces-list {ids}")] == [public["id"], added["id"]]
    run_json(f"linodes config-interfaces-order {ids} --ids {added['id']} --ids {public['id']}")
    assert [i["id"] for i in run_json(f"linodes config-interfaces-list {ids}")] == [added["id"], public["id"]]
    assert run_json(f"linodes config-update {ids} --label other")[0]["label"] == "other"
    assert run_json(f"linodes config-view {ids}")[0]["label"] == "other"
    assert [c["id"] for c in run_json(f"linodes configs-list {instance}")] == [config]

    def listed(arguments):
        return [(ip["address"], ip["address_range"], ip["active"]) for ip in run_json(arguments)]

    run_json(f"linodes boot {instance}")
    assert run_json(f"linodes view {instance}")[0]["status"] == "running"
    expected = [("10.0.1.9", None, True), (None, "10.0.1.64/28", True)]
    assert listed(f"{'default ip-list' if old else 'vpcs ips-list'} {vpc['id']}") == expected
    if not old:
        assert listed("vpcs ips-all-list") == expected == listed(f"vpcs ips-all-list --vpc_id {vpc['id']}")
        assert listed("vpcs ips-all-list --vpc_id 999") == []
    assert run_json(f"linodes ips-list {instance}")[0]["ipv4"]["vpc"][0]["address"] == "10.0.1.9"
    assert "in use" in run_json(f"vpcs subnet-delete {vpc['id']} {subnet}", fails=True)
    run_json(f"linodes reboot {instance}")
    run_json(f"linodes shutdown {instance}")
    assert run_json(f"linodes view {instance}")[0]["status"] == "offline"
    run_json(f"linodes config-interface-delete {ids} {added['id']}")
    run_json(f"vpcs subnet-delete {vpc['id']} {subnet}")
    run_json(f"linodes config-delete {ids}")
    assert run_json(f"linodes configs-list {instance}") == []
    run_json(f"linodes delete {instance}")
    run_json(f"vpcs delete {vpc['id']}")
    assert run_json("events list")[0]["action"] == "vpc_delete"


def tickets(garth, folder):
    line, desk = CommandLine(garth, folder), Desk(garth)
    run_json, old = line.run_json, "5.50" in str(folder)
    vpc = run_json("vpcs create --label core --region us-mia")[0]["id"]
    first = run_json("tickets create --summary First --description", "Two\nlines, stored  as sent ")[0]
    assert (first["status"], first["closable"], first["opened_by"]) == ("new", True, "admin")
    assert first["description"] == "Two\nlines, stored  as sent " and first["closed"] is None
    second = run_json(f"tickets create --summary Second --description text --vpc_id {vpc} --managed_issue false")[0]
    assert second["entity"] == {"id": vpc, "label": "core", "type": "vpc", "url": f"/v4/vpcs/{vpc}"}
    one, two = first["id"], second["id"]
    assert run_json(f"tickets view {two}")[0] == second

    reply = run_json(f"tickets reply {one} --description", "Any news?")[0]
    assert (reply["description"], reply["from_linode"]) == ("Any news?", False)
    desk.post(f"/tickets/{one}/notes", description="Internal")
    desk.post(f"/tickets/{one}/replies", description="Fixed.")
    replies = [(r["created_by"], r["from_linode"], r["description"]) for r in run_json(f"tickets replies {one}")]
    assert replies == [("admin", False, "Any news?"), ("Support", True, "Fixed.")], replies
    updated = run_json(f"tickets view {one}")[0]
    assert (updated["status"], updated["updated_by"]) == ("open", "Support")

    assert run_json(f"tickets close {one}") in ([], [{}])
    closed = run_json(f"tickets view {one}")[0]
    assert (closed["status"], closed["closable"], closed["updated_by"]) == ("closed", False, "admin")
    third = run_json("tickets create --summary Third --description text --volume_id 5")[0]["id"]

    def listed(arguments):
        return [ticket["id"] for ticket in run_json(f"tickets list {arguments}")]

    assert listed("") == [third, two, one], "open tickets first, newest first"
    assert listed(f"--closed {closed['closed']}") == [one]
    assert two in listed(f"--opened {second['opened']}")
    assert listed("--opened 2001-01-01T00:00:00") == []
    assert listed("--order-by opened --order asc") == [one, two, third]
    if not old:
        assert listed("--status closed") == [one] and listed("--opened_by missing") == []
        severe = run_json("tickets create --summary Severe --description text --severity 1")[0]
        assert severe["status"] == "new", "unknown fields are ignored"

    def refused(arguments, *expected):
        result = line.run(arguments)
        assert result.returncode == (1 if old else 2), f"{arguments}: {result.returncode} {result.stderr}"
        assert all(text in result.stderr for text in expected), f"{arguments}: {result.stderr}"

    refused("tickets view 999", "Request failed: 404", "Not found")
    refused(f"tickets reply {one} --description late", "Request failed: 400", "closed")
    refused("tickets create --summary S --description d --vpc_id 999", "vpc_id", "not valid")
    refused(f"tickets create --summary S --description d --vpc_id {vpc} --volume_id 1", "only one object")
    refused("tickets create --summary S --description d --vlan back", "region", "required")
    refused(f"tickets create --summary {'s' * 65} --description d", "summary", "64")

    actions = [event["action"] for event in run_json("events list --entity.type ticket")]
    assert actions.count("ticket_create") == (3 if old else 4) and actions.count("ticket_update") == 3, actions


TESTS = [tickets, instances, vpcs]
