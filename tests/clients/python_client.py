"""linode_api4, the Python client."""

import hashlib
from datetime import datetime
from importlib.metadata import version

import requests
from linode_api4 import (
    ApiError,
    Config,
    ConfigInterface,
    ConfigInterfaceIPv4,
    Disk,
    Domain,
    Event,
    Instance,
    LinodeClient,
    NetworkInterface,
    SupportTicket,
    VPC,
    VPCSubnet,
    or_,
)
from linode_api4.objects.filtering import order_by
from server import PNG, TEST_HEADERS, TOKEN, Desk


def client():
    return f"linode_api4 {version('linode_api4')}"


def vpcs(garth):
    client = LinodeClient(TOKEN, base_url=f"{garth.root}/v4beta")
    vpc = client.vpcs.create("py-one", "us-mia", description="d", subnets=[{"label": "a", "ipv4": "10.0.0.0/24"}])
    assert (vpc.label, vpc.description, vpc.region.id) == ("py-one", "d", "us-mia")
    vpc.label, vpc.description = "py-two", "ours"
    assert vpc.save()
    again = client.load(VPC, vpc.id)
    assert (again.label, again.description) == ("py-two", "ours") and isinstance(again.created, datetime)
    subnet = vpc.subnet_create("b", "10.0.1.0/24")
    assert (subnet.label, subnet.ipv4, subnet.linodes, subnet.databases) == ("b", "10.0.1.0/24", [], [])
    subnet.label = "bb"
    assert subnet.save()
    assert [s.label for s in client.load(VPC, vpc.id).subnets] == ["a", "bb"]
    again = client.load(VPCSubnet, subnet.id, vpc.id)
    assert (again.label, again.ipv4) == ("bb", "10.0.1.0/24") and isinstance(again.updated, datetime)

    other = client.vpcs.create("other", "us-east")
    assert ids(client.vpcs()) == [vpc.id, other.id]
    assert ids(client.vpcs(VPC.label.contains("PY"))) == [vpc.id]
    assert ids(client.vpcs(or_(VPC.label == "other", VPC.region == "us-mia"), VPC.id > 0)) == [vpc.id, other.id]
    assert ids(client.vpcs(order_by(VPC.label))) == [other.id, vpc.id]
    assert len(vpc.ips) == len(client.vpcs.ips()) == 0
    assert_refused(400, "Must only use ASCII letters, numbers, and dashes", client.vpcs.create, "bad_label", "us-mia")
    assert_refused(400, "Label must be unique among your VPCs", client.vpcs.create, "py-two", "us-mia")
    assert_refused(400, "region is not valid", client.vpcs.create, "elsewhere", "mars")
    assert_refused(400, "overlaps 10.0.1.0/24 (bb)", vpc.subnet_create, "c", "10.0.1.128/25")

    poller = client.polling.event_poller_create("vpc", "vpc_delete", entity_id=vpc.id)
    assert subnet.delete() and vpc.delete()
    event = poller.wait_for_next_event_finished(timeout=20)
    assert (event.action, event.status, event.entity.label, event.username) == ("vpc_delete", "notification", "py-two", "admin")
    assert_refused(404, "Not found", lambda: client.load(VPC, vpc.id).label)
    assert ids(client.vpcs()) == [other.id]


def events(garth):
    client = LinodeClient(TOKEN, base_url=f"{garth.root}/v4")
    vpc = client.vpcs.create("core", "us-mia", subnets=[{"label": "a", "ipv4": "10.0.0.0/24"}])
    first, second = client.account.events(order_by(Event.id))
    assert (first.action, first.entity.id, first.entity.type) == ("vpc_create", vpc.id, "vpc")
    assert (second.action, second.entity.label, second.secondary_entity.id) == ("subnet_create", "a", vpc.id)
    assert isinstance(first.created, datetime) and not (first.seen or first.read or second.seen)
    first.mark_read()
    first, second = client.load(Event, first.id), client.load(Event, second.id)
    assert first.read and not second.read
    first.mark_seen()
    assert client.load(Event, first.id).seen and not client.load(Event, second.id).seen
    client.account.events_mark_seen(second.id)
    assert client.load(Event, second.id).seen, "this event and all earlier ones"
    assert ids(client.account.events(Event.action == "subnet_create")) == [second.id]
    assert [event["id"] for event in client.load(Event, "")._raw_json["data"]] == [second.id, first.id]
    client.polling.wait_for_entity_free("vpc", vpc.id, timeout=20)


def instances(garth):
    client = LinodeClient(TOKEN, base_url=f"{garth.root}/v4beta")
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
    assert ids(client.linode.instances(Instance.region == "us-mia")) == [instance.id]
    assert ids(client.linode.instances(Instance.region == "us-east")) == []
    instance.label = "renamed"
    assert instance.save() and client.load(Instance, instance.id).label == "renamed"
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
    assert config.save(), "a config can be saved unchanged"

    other = instance.config_create(label="second", devices={"sda": None})
    public = other.interface_create_public(primary=True)
    vlan = other.interface_create_vlan("backstage", ipam_address="10.9.0.1/24")
    attached = other.interface_create_vpc(
        subnet=subnet.id, ipv4=ConfigInterfaceIPv4(vpc="10.0.0.9", nat_1_1="any"), ip_ranges=["10.0.0.64/28"]
    )
    assert attached.ipv4.nat_1_1 == instance.ipv4[0] and attached.ip_ranges == ["10.0.0.64/28"]
    attached.ip_ranges = ["10.0.0.80/28"]
    assert attached.save()
    other.interface_reorder([attached, public, vlan])
    assert [i.id for i in client.load(Instance, instance.id).configs[1].network_interfaces] == [attached.id, public.id, vlan.id]
    again = NetworkInterface(client, attached.id, other.id, instance_id=instance.id)
    assert again.ip_ranges == ["10.0.0.80/28"]
    assert vlan.delete() and instance.boot(config=other)
    assert client.load(VPCSubnet, subnet.id, vpc.id).linodes[0].interfaces[-1].active
    assert instance.reboot() and instance.shutdown()
    other.label = "spare"
    assert other.save() and client.load(Config, other.id, instance.id).label == "spare"
    assert other.delete() and [c.id for c in client.load(Instance, instance.id).configs] == [config.id]
    assert instance.delete() and vpc.delete() and len(client.linode.instances()) == 0


def disks(garth):
    client = LinodeClient(TOKEN, base_url=f"{garth.root}/v4")
    deploy = {"image": "linode/debian12", "root_pass": "correct horse battery staple", "booted": False}
    instance = client.linode.instance_create("g6-nanode-1", "us-mia", swap_size=256, **deploy)
    boot, swap = instance.disks
    assert (boot.label, boot.size, boot.status) == ("Debian 12 Disk", 25344, "ready")
    assert (swap.label, swap.filesystem, swap.size) == ("256 MB Swap Image", "swap", 256)
    devices = instance.configs[0].devices
    assert [devices.sda.id, devices.sdb.id] == [boot.id, swap.id]

    assert_refused(400, "; 0 MB are unallocated", instance.disk_create, 100, label="data", filesystem="raw")
    assert boot.resize(5000) and client.load(Disk, boot.id, instance.id).size == 5000
    poller = client.polling.event_poller_create("linode", "disk_create", entity_id=instance.id)
    data = instance.disk_create(2000, label="data", filesystem="raw")
    assert poller.wait_for_next_event_finished(timeout=20).secondary_entity.id == data.id
    data.label = "more"
    assert data.save() and client.load(Disk, data.id, instance.id).label == "more"
    boot.reset_root_password("correct horse battery staple")
    assert data.duplicate().label == "Copy of more"
    assert instance.transfer.quota == 1000 and instance.transfer_year_month(2026, 1).bytes_total == 0
    assert instance.available_backups.automatic == [] and not instance.available_backups.snapshot.current
    assert instance.volumes() == instance.firewalls() == instance.nodebalancers() == []
    assert_refused(400, "not offered", instance.resize, "g6-standard-1")
    assert_refused(400, "Stats are unavailable at this time.", lambda: instance.stats)
    assert swap.delete() and [d.label for d in client.load(Instance, instance.id).disks][-1] == "Copy of more"
    poller = client.polling.event_poller_create("linode", "linode_delete", entity_id=instance.id)
    assert instance.delete()
    assert poller.wait_for_next_event_finished(timeout=20).status == "finished"


def tickets(garth):
    client, desk = LinodeClient(TOKEN, base_url=f"{garth.root}/v4"), Desk(garth)
    text = "Since noon.\n\n\tping: no response   \r\nÄ 你好 "
    ticket = client.support.ticket_open("No route", text)
    assert (ticket.summary, ticket.description) == ("No route", text), "the text is stored unchanged"
    assert (ticket.status, ticket.closable, ticket.closed) == ("new", True, None)
    assert (ticket.opened_by, ticket.updated_by) == ("admin", "admin")
    assert isinstance(ticket.opened, datetime) and ticket.updated == ticket.opened
    assert ticket.gravatar_id == hashlib.md5(b"admin@localhost").hexdigest()
    assert ticket.entity is None and ticket.attachments == [] and len(ticket.replies) == 0

    reply = ticket.post_reply("Any news?")
    assert (reply.description, reply.created_by, reply.from_linode) == ("Any news?", "admin", False)
    assert reload(client, ticket).status == "new", "only staff change the status to open"

    poller = client.polling.event_poller_create("ticket", "ticket_update", entity_id=ticket.id)
    desk.post(f"/tickets/{ticket.id}/claim")
    assert reload(client, ticket).status == "open"
    event = poller.wait_for_next_event_finished(timeout=20)
    assert (event.action, event.status, event.username) == ("ticket_update", "notification", "Support")
    assert (event.entity.id, event.entity.label) == (ticket.id, "No route")

    desk.post(f"/tickets/{ticket.id}/notes", description="It was the switch.")
    desk.post(f"/tickets/{ticket.id}/replies", description="It works again.")
    replies = [(r.description, r.created_by, r.from_linode) for r in reload(client, ticket).replies]
    assert replies == [("Any news?", "admin", False), ("It works again.", "Support", True)], replies
    assert reload(client, ticket).updated_by == "Support"

    assert_refused(400, "Must be 1 to 64 characters", client.support.ticket_open, "", "text")
    assert_refused(400, "Must be 1 to 65535 characters", ticket.post_reply, " \n")
    assert_refused(404, "Not found", lambda: client.load(SupportTicket, 999).status)

    ticket.support_ticket_close()
    closed = reload(client, ticket)
    assert (closed.status, closed.closable, closed.updated_by) == ("closed", False, "admin")
    assert isinstance(closed.closed, datetime) and closed.closed == closed.updated
    ticket.support_ticket_close()
    assert_refused(400, "This ticket is closed; open a new one", ticket.post_reply, "One more thing")
    desk.post(f"/tickets/{ticket.id}/reopen")
    assert (reload(client, ticket).status, reload(client, ticket).closable) == ("open", True)

    actions = [e.action for e in client.account.events(order_by(Event.id))]
    assert actions == ["ticket_create"] + ["ticket_update"] * 5, actions


def tickets_with_entities(garth):
    client, desk = LinodeClient(TOKEN, base_url=f"{garth.root}/v4"), Desk(garth)
    vpc = client.vpcs.create("core", "us-mia")
    instance = client.linode.instance_create("g6-nanode-1", "us-mia", label="web-1", booted=False)

    about = client.support.ticket_open("Slow", "very", regarding=instance)
    assert (about.entity.type, about.entity.id, about.entity.label) == ("linode", instance.id, "web-1")
    assert about.entity.url == f"/v4/linode/instances/{instance.id}"
    assert about.linode.label == "web-1" and about.domain is None
    about = client.support.ticket_open("VPC", "what?", vpc_id=vpc.id)
    assert (about.entity.type, about.entity.id, about.entity.label) == ("vpc", vpc.id, "core")
    vpc.label = "kernel"
    assert vpc.save() and reload(client, about).entity.label == "kernel"
    assert vpc.delete() and reload(client, about).entity.label == "kernel", "a deleted entity has its last label"

    desk.post("/entities", account_id=1, type="domain", id=7, label="example.com")
    about = client.support.ticket_open("DNS", "what?", regarding=Domain(client, 7))
    assert (about.entity.type, about.entity.id, about.entity.label) == ("domain", 7, "example.com")
    assert about.domain.id == 7
    vlans = [client.support.ticket_open("VLAN", "what?", vlan="back", region="us-mia") for _ in range(2)]
    assert [v.entity.label for v in vlans] == ["back", "back"] and vlans[0].entity.id == vlans[1].entity.id
    assert client.support.ticket_open("Managed", "what?", managed_issue=True).entity is None
    assert_refused(400, "vpc_id is not valid", client.support.ticket_open, "VPC", "gone", vpc_id=vpc.id)
    assert_refused(400, "only one object", client.support.ticket_open, "Two", "things", domain_id=7, volume_id=8)
    assert_refused(400, "region is required", client.support.ticket_open, "VLAN", "where?", vlan="back")

    opened = desk.post("/tickets", account_id=1, summary="Maintenance", description="On Sunday.")
    ticket = client.load(SupportTicket, opened["id"])
    assert (ticket.status, ticket.opened_by, ticket.closable, ticket.closed) == ("new", "Support", False, None)
    assert_refused(400, "only be closed by your provider", ticket.support_ticket_close)
    desk.post(f"/tickets/{ticket.id}/close")
    assert reload(client, ticket).status == "closed"


def lists_of_tickets(garth):
    client = LinodeClient(TOKEN, base_url=f"{garth.root}/v4")
    opened = [client.support.ticket_open(f"Number {number:02}", "text").id for number in range(30)]
    for number in (3, 5, 29):
        client.load(SupportTicket, opened[number]).support_ticket_close()
    newest_first = [*reversed(opened)]
    closed = [opened[29], opened[5], opened[3]]
    still_open = [id for id in newest_first if id not in closed]

    assert ids(client.support.tickets()) == still_open + closed, "open tickets come first"
    assert ids(client.support.tickets(SupportTicket.status == "closed")) == closed
    either = or_(SupportTicket.status == "open", SupportTicket.status == "new")
    assert ids(client.support.tickets(either)) == still_open
    assert ids(client.support.tickets(SupportTicket.summary.contains("number 1"))) == newest_first[10:20]
    assert ids(client.support.tickets(order_by(SupportTicket.summary, desc=True))) == newest_first
    assert ids(client.support.tickets(SupportTicket.opened >= "2999-01-01T00:00:00")) == []
    assert ids(client.support.tickets(SupportTicket.opened_by == "admin", SupportTicket.id <= opened[1])) == opened[1::-1]
    assert_refused(400, "gravatar_id", client.support.tickets, SupportTicket.gravatar_id == "x")

    small = LinodeClient(TOKEN, base_url=f"{garth.root}/v4", page_size=25)
    assert ids(small.support.tickets()) == still_open + closed, "the second page follows the first"


def tickets_of_restricted_users(garth):
    admin = LinodeClient(TOKEN, base_url=f"{garth.root}/v4")

    def user(name, *grants):
        garth.command("user", "create", "--account", "1", "--username", name, "--email", f"{name}@x.org", "--restricted")
        if grants:
            garth.command("user", "grant", name, *grants)
        token = garth.command("token", "create", "--user", name, "--scopes", "account:read_write")
        return LinodeClient(token, base_url=f"{garth.root}/v4")

    bob, eve, mallory = user("bob"), user("eve", "--account-access", "read_only"), user("mallory")
    hers = admin.support.ticket_open("Hers", "text")
    his = bob.support.ticket_open("His", "text")
    assert his.opened_by == "bob" and his.gravatar_id == hashlib.md5(b"bob@x.org").hexdigest()
    assert ids(admin.support.tickets()) == ids(eve.support.tickets()) == [his.id, hers.id]
    assert ids(bob.support.tickets()) == [his.id] and ids(mallory.support.tickets()) == []
    assert_refused(404, "Not found", lambda: reload(bob, hers).status)
    assert_refused(403, "Unauthorized", reload(eve, his).post_reply, "Me too")
    assert reload(bob, his).post_reply("Me again").created_by == "bob"
    assert_refused(401, "not authorized", bob.account.events)
    his.support_ticket_close()
    assert reload(admin, his).updated_by == "bob"


def attachments(garth):
    client, desk = LinodeClient(TOKEN, base_url=f"{garth.root}/v4"), Desk(garth)
    ticket = client.support.ticket_open("Look", "at this")
    poller = client.polling.event_poller_create("ticket", "ticket_attachment_upload", entity_id=ticket.id)
    notes, shot = b"two\nlines\n", PNG + bytes(3 * 1024 * 1024)
    assert ticket.upload_attachment(garth.file("notes.txt", notes))
    assert ticket.upload_attachment(str(garth.file("Grüße.PNG", shot)))
    assert ticket.upload_attachment(garth.file("notes.txt", notes)), "the same again is another one"
    assert poller.wait_for_next_event_finished(timeout=20).entity.id == ticket.id
    names = ["notes.txt", "Grüße.PNG", "notes.txt"]
    assert reload(client, ticket).attachments == names
    assert reload(client, ticket).status == "new"

    for name, content, status, reason in [
        ("run.exe", b"MZ", 400, "The file extension must be one of"),
        ("fake.png", b"<html>", 400, "expected a PNG image"),
        ("empty.txt", b"", 400, "empty"),
        ("large.txt", b"x" * (5 * 1024 * 1024 + 1), 413, "5242880"),
    ]:
        assert_refused(status, reason, ticket.upload_attachment, garth.file(name, content))
    assert reload(client, ticket).attachments == names

    # The client does not support these operations, so the test sends the requests.
    headers = {"Authorization": f"Bearer {TOKEN}", **TEST_HEADERS}
    listed = requests.get(f"{garth.root}/v4/support/tickets/{ticket.id}/attachments", headers=headers, timeout=60).json()["data"]
    assert [file["size"] for file in listed] == [len(notes), len(shot), len(notes)]
    assert listed[1]["sha256"] == hashlib.sha256(shot).hexdigest()
    path = f"/tickets/{ticket.id}/attachments/{listed[1]['id']}"
    response = requests.get(f"{garth.root}/v4/support{path}", headers=headers, timeout=60)
    assert response.content == shot == desk.bytes(path)
    history = desk.get(f"/tickets/{ticket.id}/history")["data"]
    assert [step["action"] for step in history] == ["opened"] + ["attachment"] * 3 + ["download"]

    ticket.support_ticket_close()
    assert_refused(400, "This ticket is closed", ticket.upload_attachment, garth.file("late.txt", b"late"))


def ids(items):
    return [item.id for item in items]


def reload(client, ticket):
    """Loads the current state of a ticket."""
    return client.load(SupportTicket, ticket.id)


def assert_refused(status, reason, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except ApiError as error:
        message = " ".join(error.errors)
        assert error.status == status and reason in message, f"{error.status} {message}"
    else:
        raise AssertionError(f"not refused: {reason}")


TESTS = [
    vpcs,
    events,
    instances,
    disks,
    tickets,
    tickets_with_entities,
    lists_of_tickets,
    tickets_of_restricted_users,
    attachments,
]
