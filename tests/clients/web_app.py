"""Replays requests of the public service's web app with curl: the same paths, headers and bodies."""

import json
import subprocess
from datetime import datetime, timedelta, timezone

from server import PNG, TOKEN, Desk

APP = "https://app.example.com"
OPEN = '{"+order":"desc","+order_by":"opened","+or":[{"status":"open"},{"status":"new"}]}'
CLOSED = '{"+order":"desc","+order_by":"opened","status":"closed"}'


class Response:
    """The status, headers and body that curl received."""

    def __init__(self, output):
        head, self.body = output.split("\r\n\r\n", 1)
        first, *lines = head.split("\r\n")
        self.status = int(first.split()[1])
        pairs = [line.split(": ", 1) for line in lines]
        self.headers = {name.lower(): value for name, value in pairs}
        self.cookies = [value for name, value in pairs if name.lower() == "set-cookie"]

    def json(self):
        return json.loads(self.body)


def curl(garth, path, *arguments, token=TOKEN):
    authorization = ["-H", f"Authorization: Bearer {token}"] if token else []
    command = ["curl", "-sS", "-i", "-H", f"Origin: {APP}", *authorization, *arguments, f"{garth.root}{path}"]
    result = subprocess.run(command, capture_output=True, timeout=60)
    assert result.returncode == 0, result.stderr
    return Response(result.stdout.decode())


def get(garth, path, filtered=None, token=TOKEN):
    response = curl(garth, path, *(["-H", f"X-Filter: {filtered}"] if filtered else []), token=token)
    assert response.status == 200, f"{path} {filtered}: {response.status} {response.body}"
    assert response.headers["access-control-allow-origin"] in ("*", APP)
    return response.json()


def post(garth, path, body):
    response = curl(garth, path, "-H", "Content-Type: application/json", "-d", body)
    assert response.status == 200, f"{path} {body}: {response.status} {response.body}"
    return response.json()


def ids(page):
    return [item["id"] for item in page["data"]]


def support_pages(garth):
    desk = Desk(garth)
    tickets = "/v4/support/tickets"
    landing = f"{tickets}?page=1&page_size=25"
    empty = {"data": [], "page": 1, "pages": 1, "results": 0}
    assert get(garth, landing, OPEN) == empty == get(garth, landing, CLOSED), "an empty list has one page"

    vpc = post(garth, "/v4beta/vpcs", '{"description":"","label":"vpc-one","region":"us-east","subnets":[]}')["id"]
    assert ids(get(garth, "/v4beta/vpcs?page_size=500")) == [vpc], "the select box of the form"
    general = post(garth, tickets, '{"general":0,"description":"It is **slow**.","summary":"Slow"}')
    assert general["entity"] is None and general["attachments"] == [] and general["status"] == "new"
    about = post(garth, tickets, f'{{"vpc_id":{vpc},"description":"Please check.","summary":"About my VPC"}}')
    assert about["entity"] == {"id": vpc, "label": "vpc-one", "type": "vpc", "url": f"/v4/vpcs/{vpc}"}
    one, two = general["id"], about["id"]

    # The form of a new ticket sends the name of the file in another field.
    shot = garth.file("shot.png", PNG)
    file = f"{tickets}/{one}/attachments"
    for form in (["-F", f"file=@{shot};type=image/png", "-F", "name=shot.png"], ["-F", f"file=@{shot}"]):
        response = curl(garth, file, *form)
        assert (response.status, response.json()) == (200, {}), response.body
    refused = curl(garth, file, "-F", f"file=@{garth.file('run.sh', b'#!/bin/sh')}", "-F", "name=run.sh")
    assert refused.status == 400 and [e["field"] for e in refused.json()["errors"]] == ["file"], refused.body
    assert refused.headers["access-control-allow-origin"] in ("*", APP), "a browser can read errors, too"
    assert get(garth, f"{tickets}/{one}")["attachments"] == ["shot.png", "shot.png"]

    page = get(garth, f"{tickets}/{one}/replies?page=1&page_size=25")
    assert page == empty, "the app requests pages until page equals pages"
    post(garth, f"{tickets}/{one}/replies", f'{{"description":"Any news?","ticket_id":{one}}}')
    desk.post(f"/tickets/{one}/replies", description="Soon.")
    replies = get(garth, f"{tickets}/{one}/replies?page=1&page_size=25")
    shown = [(r["friendly_name"], r["from_linode"], r["description"]) for r in replies["data"]]
    assert shown == [("admin", False, "Any news?"), ("Support", True, "Soon.")], shown
    assert get(garth, f"{tickets}/{one}")["status"] == "open"

    assert ids(get(garth, landing, OPEN)) == [two, one]
    for column in ("summary", "id", "opened", "updated", "updated_by"):
        for order in ("asc", "desc"):
            filtered = f'{{"+order":"{order}","+order_by":"{column}","+or":[{{"status":"open"}},{{"status":"new"}}]}}'
            expected = sorted((about, get(garth, f"{tickets}/{one}")), key=lambda t: (t[column], t["id"]))
            expected = [t["id"] for t in (expected if order == "asc" else reversed(expected))]
            assert ids(get(garth, landing, filtered)) == expected, filtered

    close = ["-X", "POST", "-H", "Content-Type: application/x-www-form-urlencoded", "-d", ""]
    response = curl(garth, f"{tickets}/{one}/close", *close)
    assert (response.status, response.json()) == (200, {})
    assert ids(get(garth, landing, OPEN)) == [two] and ids(get(garth, landing, CLOSED)) == [one]
    assert get(garth, f"{tickets}/{one}")["updated_by"] == "admin", "the app shows this user as the one who closed it"

    refused = curl(garth, tickets, "-H", "Content-Type: application/json", "-d", '{"general":0,"description":"","summary":""}')
    fields = [error["field"] for error in refused.json()["errors"]]
    assert refused.status == 400 and fields == ["summary", "description"], refused.body


def events(garth):
    """The notification menu: the first request, polling, and older events."""
    desk = Desk(garth)
    ticket = post(garth, "/v4/support/tickets", '{"general":0,"description":"text","summary":"Slow"}')["id"]
    week = (datetime.now(timezone.utc) - timedelta(days=7)).strftime("%Y-%m-%dT%H:%M:%S")
    tail = '"action":{"+neq":"profile_update"},"+order":"desc","+order_by":"id"'
    path = "/v4/account/events?page_size=25"
    first = get(garth, path, f'{{{tail},"created":{{"+gt":"{week}"}}}}')
    assert [event["action"] for event in first["data"]] == ["ticket_create"]
    known = first["data"][0]
    assert (known["entity"]["id"], known["entity"]["type"]) == (ticket, "ticket")
    assert known["entity"]["url"] == f"/v4/support/tickets/{ticket}" and known["status"] == "notification"

    poll = f'{{"+and":[{{"created":{{"+gte":"{known["created"]}"}}}},{{"id":{{"+neq":{known["id"]}}}}}],{tail}}}'
    assert get(garth, path, poll)["data"] == []
    desk.post(f"/tickets/{ticket}/replies", description="Soon.")
    news = get(garth, path, poll)["data"]
    assert [(e["action"], e["username"], e["seen"]) for e in news] == [("ticket_update", "Support", False)]
    desk.post(f"/tickets/{ticket}/notes", description="Internal.")
    assert get(garth, path, poll)["results"] == 1, "notes create no events"
    older = get(garth, path, f'{{{tail},"id":{{"+lt":{news[0]["id"]}}}}}')
    assert ids(older) == [known["id"]]
    response = curl(garth, f"/v4/account/events/{news[0]['id']}/seen", "-X", "POST")
    assert response.status == 200 and all(event["seen"] for event in get(garth, path, f"{{{tail}}}")["data"])


def preflight_requests(garth):
    """CORS preflight requests of a browser."""
    for path, method, names in [
        ("/v4/support/tickets", "GET", "authorization,x-filter"),
        ("/v4/support/tickets", "POST", "authorization,content-type"),
        ("/v4/support/tickets/1/attachments", "POST", "authorization"),
        ("/v4beta/vpcs/1", "DELETE", "authorization"),
    ]:
        headers = ["-H", f"Access-Control-Request-Method: {method}", "-H", f"Access-Control-Request-Headers: {names}"]
        response = curl(garth, path, "-X", "OPTIONS", *headers, token=None)
        assert response.status in (200, 204), response.status
        assert method in response.headers["access-control-allow-methods"]
        allowed = response.headers["access-control-allow-headers"].lower()
        assert all(name in allowed for name in names.split(",")), allowed
    for path, token, status in [("/v4/support/tickets", None, 401), ("/v4/support/tickets/9", TOKEN, 404)]:
        response = curl(garth, path, token=token)
        assert response.status == status and response.headers["access-control-allow-origin"] in ("*", APP)


def vpc_pages(garth):
    vpc = post(
        garth,
        "/v4beta/vpcs",
        '{"description":"","label":"vpc-one","region":"us-east","subnets":[{"ipv4":"10.0.0.0/24","label":"subnet-a"}]}',
    )
    assert all(subnet["nodebalancers"] == [] and subnet["linodes"] == [] for subnet in vpc["subnets"])
    one, subnets = vpc["id"], f"/v4beta/vpcs/{vpc['id']}/subnets"
    post(garth, subnets, '{"ipv4":"10.0.2.0/24","label":"subnet-b"}')
    for column in ("label", "region", "id"):
        filtered = f'{{"+order":"desc","+order_by":"{column}"}}'
        assert ids(get(garth, "/v4beta/vpcs?page=1&page_size=25", filtered)) == [one]
    rows = get(garth, f"{subnets}?page=1&page_size=25", '{"+order":"asc","+order_by":"label"}')
    assert [row["label"] for row in rows["data"]] == ["subnet-a", "subnet-b"]
    search = (
        '{"+or":[{"label":{"+contains":"subnet-b"}},{"id":{"+contains":"subnet-b"}}],'
        '"+order":"asc","+order_by":"label"}'
    )
    found = get(garth, f"{subnets}?page=1&page_size=25", search)
    assert [row["label"] for row in found["data"]] == ["subnet-b"]
    assert get(garth, "/v4beta/linode/instances?page_size=500", '{"region":"us-east"}')["data"] == []

    def change(method, path, body=""):
        response = curl(garth, path, "-X", method, *(["-H", "Content-Type: application/json", "-d", body] if body else []))
        assert response.status == 200, f"{method} {path}: {response.status} {response.body}"
        return response.json()

    changed = change("PUT", f"/v4beta/vpcs/{one}", '{"description":"ours","label":"vpc-two"}')
    assert (changed["label"], changed["description"]) == ("vpc-two", "ours")
    assert get(garth, f"/v4beta/vpcs/{one}") == changed
    b = found["data"][0]["id"]
    assert get(garth, f"{subnets}/{b}")["label"] == "subnet-b", "the dialogs load the subnet first"
    assert change("PUT", f"{subnets}/{b}", '{"label":"subnet-c"}')["label"] == "subnet-c"
    assert change("DELETE", f"{subnets}/{b}") == {} and curl(garth, f"{subnets}/{b}").status == 404
    refused = '{"description":"","label":"vpc-x","region":"us-east","subnets":[{"ipv4":"10.0.0.1/24","label":"a"}]}'
    refused = curl(garth, "/v4beta/vpcs", "-H", "Content-Type: application/json", "-d", refused)
    assert refused.status == 400 and [e["field"] for e in refused.json()["errors"]] == ["subnets[0].ipv4"], refused.body
    assert change("DELETE", f"/v4beta/vpcs/{one}") == {} and get(garth, "/v4beta/vpcs?page_size=500")["results"] == 0


TESTS = [support_pages, events, preflight_requests, vpc_pages]
