"""What the load does. What a journey creates it deletes, or it writes so little that it does not count."""
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
def vpcs(client, chance, tickets):
    vpc = new_vpc(client, chance.randrange(1, 8))
    path = f"/v4/vpcs/{vpc['id']}"
    client.json("GET", path)
    client.json("PUT", path, {"description": "Changed."})
    client.json("POST", f"{path}/subnets", {"label": "more", "ipv4": "10.99.0.0/24"})
    client.json("GET", f"{path}/subnets?page_size=5")
    client.json("GET", "/v4/vpcs/ips")
    client.json("DELETE", path)


@journey(20)
def lists(client, chance, tickets):
    contains = json.dumps({"label": {"+contains": chance.choice("abcdef")}})
    client.json("GET", "/v4/vpcs?page_size=50", headers={"X-Filter": contains})
    client.json("GET", f"/v4/account/events?page_size=100&page={chance.randrange(1, 20)}", expected=(200, 404))
    ordered = json.dumps({"+order_by": "opened", "+order": "desc"})
    client.json("GET", "/v4/support/tickets", headers={"X-Filter": ordered})
    client.json("GET", "/v4/regions")


@journey(4)
def refusals(client, chance, tickets):
    client.json("POST", "/v4/vpcs", {"label": "not_good", "region": "nowhere"}, expected=(400,))
    client.json("GET", "/v4/vpcs/999999999", expected=(404,))
    client.json("GET", "/v4/vpcs", headers={"Authorization": "Bearer " + "f" * 64}, expected=(401,))


@journey(6)
def instances(client, chance, tickets):
    vpc = new_vpc(client, 1)
    interface = {"purpose": "vpc", "subnet_id": vpc["subnets"][0]["id"]}
    body = {"type": "g6-nanode-1", "region": "us-east", "interfaces": [interface]}
    instance = client.json("POST", "/v4/linode/instances", body)
    client.json("GET", f"/v4/vpcs/{vpc['id']}/ips")
    client.json("DELETE", f"/v4/linode/instances/{instance['id']}")
    client.json("DELETE", f"/v4/vpcs/{vpc['id']}")


@journey(2)
def tokens_and_users(client, chance, tickets):
    token = client.json("POST", "/v4/profile/tokens", {"label": "soak", "scopes": "vpc:read_only"})
    own = {"Authorization": f"Bearer {token['token']}"}
    client.json("GET", "/v4/vpcs", headers=own)
    client.json("DELETE", f"/v4/profile/tokens/{token['id']}")
    client.json("GET", "/v4/vpcs", headers=own, expected=(401,))
    name = f"soak-{uuid.uuid4().hex[:12]}"
    client.json("POST", "/v4/account/users", {"username": name, "email": "soak@example.com"})
    client.json("DELETE", f"/v4/account/users/{name}")


@journey(2)
def ticket_pages(client, chance, tickets):
    path = f"/v4/support/tickets/{chance.choice(tickets)}"
    client.json("GET", path)
    client.json("GET", f"{path}/replies?page_size=25")
    # Replies stay: few of them are written.
    if chance.random() < 0.2:
        client.json("POST", f"{path}/replies", {"description": "Still here."})


@journey(2)
def uploads(client, chance, tickets):
    # A ticket takes only a few files; the rest are received, and refused.
    path = f"/v4/support/tickets/{chance.choice(tickets)}/attachments"
    client.upload(path, "soak.txt", b"x" * chance.randrange(1000, 200_000), (200, 400))
    files = client.json("GET", path)["data"]
    if files:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        client.ask("GET", f"{path}/{chance.choice(files)['id']}", headers=headers)


def log_in(client, cookies, before_sending=lambda: None):
    page = client.page("GET", "/login", cookies)
    proof = re.search(r'name="form_token" value="([^"]+)"', page)[1]
    fields = {"form_token": proof, "return_to": "", "username": "admin", "password": PASSWORD}
    before_sending()
    client.page("POST", "/login", cookies, fields, (303,))


@journey(3)
def console(client, chance, tickets):
    cookies = {}
    log_in(client, cookies)
    for path in ("/vpcs", "/vpcs/new", "/tickets", f"/tickets/{chance.choice(tickets)}", "/account", "/events"):
        client.page("GET", path, cookies)
    client.page("GET", "/logout", cookies)


def FILL(client, chance, tickets):
    """Many events in few requests."""
    vpc = new_vpc(client, 60)
    client.json("DELETE", f"/v4/vpcs/{vpc['id']}")


def follow_stream(address, seconds: float, stop) -> None:
    """Follows the account's events for a while, then hangs up."""
    connection = http.client.HTTPConnection(*address, timeout=30)
    try:
        connection.request("GET", "/v4/account/events/stream", headers={"Authorization": f"Bearer {TOKEN}"})
        reply = connection.getresponse()
        if reply.status != 200:
            raise OSError(f"the stream answered {reply.status}")
        end = time.monotonic() + seconds
        while time.monotonic() < end and not stop.is_set():
            reply.readline()
    finally:
        connection.close()
