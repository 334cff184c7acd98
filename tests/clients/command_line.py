"""linode-cli, of whatever version."""

import json
import os
import subprocess
import tempfile

from server import NOWHERE, TOKEN, Desk


class CommandLine:
    """One version of linode-cli, with a home of its own."""

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
            **NOWHERE,
        }

    def ask(self, words, *more, fails=False):
        """What a command prints as JSON, or what it says when it fails, as it then must."""
        ran = self.run(words, *more)
        assert (ran.returncode != 0) == fails, f"{words}: {ran.returncode} {ran.stdout} {ran.stderr}"
        return ran.stderr if fails else json.loads(ran.stdout or "[]")

    def run(self, words, *more):
        command = [self.program, *words.split(), *more, "--json"]
        return subprocess.run(
            command, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )


def vpcs(garth, folder):
    ask = CommandLine(garth, folder).ask
    subnets = "--subnets.label a --subnets.ipv4 10.0.1.0/24 --subnets.label b --subnets.ipv4 10.0.2.0/24"
    vpc = ask(f"vpcs create --label cli --region us-mia --description ours {subnets}")[0]
    one = vpc["id"]
    assert [s["label"] for s in ask(f"vpcs subnets-list {one}")] == ["a", "b"]
    assert [v["id"] for v in ask("vpcs list --label cli")] == [one] and ask("vpcs list --region us-east") == []
    changed = ask(f"vpcs update {one} --label cli-two --description theirs")[0]
    assert (changed["label"], changed["description"]) == ("cli-two", "theirs")
    assert ask(f"vpcs view {one}")[0] == changed
    refused = ask(f"vpcs update {one} --label bad_label", fails=True)
    assert "Request failed: 400" in refused and "Must only use ASCII letters, numbers, and dashes" in refused
    made = ask(f"vpcs subnet-create {one} --label c --ipv4 10.0.3.0/24")[0]
    assert (made["label"], made["ipv4"], made["linodes"]) == ("c", "10.0.3.0/24", [])
    assert "overlaps" in ask(f"vpcs subnet-create {one} --label d --ipv4 10.0.3.0/25", fails=True)
    assert ask(f"vpcs subnet-update {one} {made['id']} --label cc")[0]["label"] == "cc"
    assert ask(f"vpcs subnet-view {one} {made['id']}")[0]["label"] == "cc"
    ask(f"vpcs subnet-delete {one} {made['id']}")
    assert [s["label"] for s in ask(f"vpcs subnets-list {one} --label b")] == ["b"]
    assert "Not found" in ask(f"vpcs subnet-view {one} {made['id']}", fails=True)
    ask(f"vpcs delete {one}")
    assert ask("vpcs list") == []


def instances(garth, folder):
    ask, old = CommandLine(garth, folder).ask, "5.50" in str(folder)
    vpc = ask("vpcs create --label net --region us-mia --subnets.label a --subnets.ipv4 10.0.1.0/24")[0]
    subnet = vpc["subnets"][0]["id"]
    instance = ask("linodes create --type g6-nanode-1 --region us-mia --label cli-1 --booted false")[0]["id"]
    assert ask(f"linodes update {instance} --label cli-2")[0]["label"] == "cli-2"
    assert [i["id"] for i in ask("linodes list --region us-mia")] == [instance]
    config = ask(f"linodes config-create {instance} --label boot")[0]["id"]
    at = f"{instance} {config}"
    public = ask(f"linodes config-interface-add {at} --purpose public")[0]
    added = ask(f"linodes config-interface-add {at} --purpose vpc --subnet_id {subnet} --ip_ranges 10.0.1.64/28")[0]
    assert (added["ipv4"]["vpc"], added["ip_ranges"]) == ("10.0.1.2", ["10.0.1.64/28"])
    changed = ask(f"linodes config-interface-update {at} {added['id']} --ipv4.vpc 10.0.1.9 --primary true")[0]
    assert (changed["ipv4"]["vpc"], changed["primary"], changed["ip_ranges"]) == ("10.0.1.9", True, ["10.0.1.64/28"])
    assert ask(f"linodes config-interface-view {at} {added['id']}")[0] == changed
    assert [i["id"] for i in ask(f"linodes config-interfaces-list {at}")] == [public["id"], added["id"]]
    ask(f"linodes config-interfaces-order {at} --ids {added['id']} --ids {public['id']}")
    assert [i["id"] for i in ask(f"linodes config-interfaces-list {at}")] == [added["id"], public["id"]]
    assert ask(f"linodes config-update {at} --label other")[0]["label"] == "other"
    assert ask(f"linodes config-view {at}")[0]["label"] == "other"
    assert [c["id"] for c in ask(f"linodes configs-list {instance}")] == [config]

    def listed(words):
        return [(ip["address"], ip["address_range"], ip["active"]) for ip in ask(words)]

    ask(f"linodes boot {instance}")
    assert ask(f"linodes view {instance}")[0]["status"] == "running"
    there = [("10.0.1.9", None, True), (None, "10.0.1.64/28", True)]
    assert listed(f"{'default ip-list' if old else 'vpcs ips-list'} {vpc['id']}") == there
    if not old:
        assert listed("vpcs ips-all-list") == there == listed(f"vpcs ips-all-list --vpc_id {vpc['id']}")
        assert listed("vpcs ips-all-list --vpc_id 999") == []
    assert ask(f"linodes ips-list {instance}")[0]["ipv4"]["vpc"][0]["address"] == "10.0.1.9"
    assert "in use" in ask(f"vpcs subnet-delete {vpc['id']} {subnet}", fails=True)
    ask(f"linodes reboot {instance}")
    ask(f"linodes shutdown {instance}")
    assert ask(f"linodes view {instance}")[0]["status"] == "offline"
    ask(f"linodes config-interface-delete {at} {added['id']}")
    ask(f"vpcs subnet-delete {vpc['id']} {subnet}")
    ask(f"linodes config-delete {at}")
    assert ask(f"linodes configs-list {instance}") == []
    ask(f"linodes delete {instance}")
    ask(f"vpcs delete {vpc['id']}")
    assert ask("events list")[0]["action"] == "vpc_delete"


def tickets(garth, folder):
    line, desk = CommandLine(garth, folder), Desk(garth)
    ask, old = line.ask, "5.50" in str(folder)
    vpc = ask("vpcs create --label core --region us-mia")[0]["id"]
    first = ask("tickets create --summary First --description", "Two\nlines, kept  as sent ")[0]
    assert (first["status"], first["closable"], first["opened_by"]) == ("new", True, "admin")
    assert first["description"] == "Two\nlines, kept  as sent " and first["closed"] is None
    second = ask(f"tickets create --summary Second --description text --vpc_id {vpc} --managed_issue false")[0]
    assert second["entity"] == {"id": vpc, "label": "core", "type": "vpc", "url": f"/v4/vpcs/{vpc}"}
    one, two = first["id"], second["id"]
    assert ask(f"tickets view {two}")[0] == second

    reply = ask(f"tickets reply {one} --description", "Any news?")[0]
    assert (reply["description"], reply["from_linode"]) == ("Any news?", False)
    desk.post(f"/tickets/{one}/notes", description="Nobody's business")
    desk.post(f"/tickets/{one}/replies", description="Fixed.")
    said = [(r["created_by"], r["from_linode"], r["description"]) for r in ask(f"tickets replies {one}")]
    assert said == [("admin", False, "Any news?"), ("Support", True, "Fixed.")], said
    answered = ask(f"tickets view {one}")[0]
    assert (answered["status"], answered["updated_by"]) == ("open", "Support")

    assert ask(f"tickets close {one}") in ([], [{}])
    closed = ask(f"tickets view {one}")[0]
    assert (closed["status"], closed["closable"], closed["updated_by"]) == ("closed", False, "admin")
    third = ask("tickets create --summary Third --description text --volume_id 5")[0]["id"]

    def listed(words):
        return [ticket["id"] for ticket in ask(f"tickets list {words}")]

    assert listed("") == [third, two, one], "open ones first, the newest first"
    assert listed(f"--closed {closed['closed']}") == [one]
    assert two in listed(f"--opened {second['opened']}")
    assert listed("--opened 2001-01-01T00:00:00") == []
    assert listed("--order-by opened --order asc") == [one, two, third]
    if not old:
        assert listed("--status closed") == [one] and listed("--opened_by nobody") == []
        severe = ask("tickets create --summary Severe --description text --severity 1")[0]
        assert severe["status"] == "new", "what this server does not know is ignored"

    def refused(words, *told):
        ran = line.run(words)
        assert ran.returncode == (1 if old else 2), f"{words}: {ran.returncode} {ran.stderr}"
        assert all(word in ran.stderr for word in told), f"{words}: {ran.stderr}"

    refused("tickets view 999", "Request failed: 404", "Not found")
    refused(f"tickets reply {one} --description late", "Request failed: 400", "closed")
    refused("tickets create --summary S --description d --vpc_id 999", "vpc_id", "not valid")
    refused(f"tickets create --summary S --description d --vpc_id {vpc} --volume_id 1", "one thing only")
    refused("tickets create --summary S --description d --vlan back", "region", "required")
    refused(f"tickets create --summary {'s' * 65} --description d", "summary", "64")

    actions = [event["action"] for event in ask("events list --entity.type ticket")]
    assert actions.count("ticket_create") == (3 if old else 4) and actions.count("ticket_update") == 3, actions


TESTS = [tickets, instances, vpcs]
