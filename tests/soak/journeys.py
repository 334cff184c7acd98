"""The operations of the load. Each deletes the objects that it creates, or writes very little data."""
import http.client
import json
import re
import time
import uuid

from server import PASSWORD, TOKEN

JOURNEYS = []


def journey(weight: int):
    def add(function):
        function.weight = weight
        JOURNEYS.append(function)
        return function

    return add


def new_vpc(client, subnets: int) -> dict:
    ranges = [{"label": f"s{number}", "ipv4": f"10.{number}.0.0/24"} for number in range(subnets)]
    body = {"label": f"soak-{uuid.uuid4()}", "region": "us-east", "subnets": ranges}
    return client.json("POST", "/v4/vpcs", body)


@journey(20)
def vpcs(client, generator, tickets):
    vpc = new_vpc(client, generator.randrange(1, 8))
    path = f"/v4/vpcs/{vpc['id']}"
    client.json("GET", path)
    client.json("PUT", path, {"description": "Changed."})
    client.json("POST", f"{path}/subnets", {"label": "more", "ipv4": "10.99.0.0/24"})
    client.json("GET", f"{path}/subnets?page_size=5")
    client.json("GET", "/v4/vpcs/ips")
    client.json("DELETE", path)


@journey(20)
def lists(client, generator, tickets):
    contains = json.dumps({"label": {"+contains": generator.choice("abcdef")}})
    client.json("GET", "/v4/vpcs?page_size=50", headers={"X-Filter": contains})
    client.json("GET", f"/v4/account/events?page_size=100&page={generator.randrange(1, 20)}", expected=(200, 404))
    ordered = json.dumps({"+order_by": "opened", "+order": "desc"})
    client.json("GET", "/v4/support/tickets", headers={"X-Filter": ordered})
    client.json("GET", "/v4/regions")


@journey(4)
def errors(client, generator, tickets):
    client.json("POST", "/v4/vpcs", {"label": "not_valid", "region": "nowhere"}, expected=(400,))
    client.json("GET", "/v4/vpcs/999999999", expected=(404,))
    client.json("GET", "/v4/vpcs", headers={"Authorization": "Bearer " + "f" * 64}, expected=(401,))


@journey(6)
def instances(client, generator, tickets):
    vpc = new_vpc(client, 1)
    interface = {"purpose": "vpc", "subnet_id": vpc["subnets"][0]["id"]}
    body = {"type": "g6-nanode-1", "region": "us-east", "interfaces": [interface]}
    instance = client.json("POST", "/v4/linode/instances", body)
    client.json("GET", f"/v4/vpcs/{vpc['id']}/ips")
    client.json("DELETE", f"/v4/linode/instances/{instance['id']}")
    client.json("DELETE", f"/v4/vpcs/{vpc['id']}")


@journey(2)
def tokens_and_users(client, generator, tickets):
    token = client.json("POST", "/v4/profile/tokens", {"label": "soak", "scopes": "vpc:read_only"})
    headers = {"Authorization": f"Bearer {token['token']}"}
    client.json("GET", "/v4/vpcs", headers=headers)
    client.json("DELETE", f"/v4/profile/tokens/{token['id']}")
    client.json("GET", "/v4/vpcs", headers=headers, expected=(401,))
    name = f"soak-{uuid.uuid4().hex[:12]}"
    client.json("POST", "/v4/account/users", {"username": name, "email": "soak@example.com"})
    client.json("DELETE", f"/v4/account/users/{name}")


@journey(2)
def ticket_pages(client, generator, tickets):
    path = f"/v4/support/tickets/{generator.choice(tickets)}"
    client.json("GET", path)
    client.json("GET", f"{path}/replies?page_size=25")
    # Replies are not deleted, so only a few are written.
    if generator.random() < 0.2:
        client.json("POST", f"{path}/replies", {"description": "More details."})


@journey(2)
def uploads(client, generator, tickets):
    # A ticket can have only a few files. The server receives further files and refuses them.
    path = f"/v4/support/tickets/{generator.choice(tickets)}/attachments"
    client.upload(path, "soak.txt", b"x" * generator.randrange(1000, 200_000), (200, 400))
    files = client.json("GET", path)["data"]
    if files:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        client.send("GET", f"{path}/{generator.choice(files)['id']}", headers=headers)


def log_in(client, cookies, before_submit=lambda: None):
    page = client.page("GET", "/login", cookies)
    form_token = re.search(r'name="form_token" value="([^"]+)"', page)[1]
    fields = {"form_token": form_token, "return_to": "", "username": "admin", "password": PASSWORD}
    before_submit()
    client.page("POST", "/login", cookies, fields, (303,))


@journey(3)
def console(client, generator, tickets):
    cookies = {}
    log_in(client, cookies)
    for path in ("/vpcs", "/vpcs/new", "/tickets", f"/tickets/{generator.choice(tickets)}", "/account", "/events"):
        client.page("GET", path, cookies)
    client.page("GET", "/logout", cookies)


def fill(client, generator, tickets):
    """Creates many events with few requests."""
    vpc = new_vpc(client, 60)
    client.json("DELETE", f"/v4/vpcs/{vpc['id']}")


def follow_stream(address, seconds: float, stop) -> None:
    """Reads the event stream for a while, then closes it."""
    connection = http.client.HTTPConnection(*address, timeout=30)
    try:
        connection.request("GET", "/v4/account/events/stream", headers={"Authorization": f"Bearer {TOKEN}"})
        reply = connection.getresponse()
        if reply.status != 200:
            raise OSError(f"the stream returned {reply.status}")
        end = time.monotonic() + seconds
        while time.monotonic() < end and not stop.is_set():
            reply.readline()
    finally:
        connection.close()
