"""What the public service's web app sends, replayed with curl: the same paths, headers and bodies."""

import json
import subprocess
from datetime import datetime, timedelta, timezone

from server import PNG, TOKEN, Desk

APP = "https://app.example.com"
OPEN = '{"+order":"desc","+order_by":"opened","+or":[{"status":"open"},{"status":"new"}]}'
CLOSED = '{"+order":"desc","+order_by":"opened","status":"closed"}'


class Answer:
    """Status, headers and body of what curl got."""

    def __init__(self, said):
        head, self.body = said.split("\r\n\r\n", 1)
        first, *lines = head.split("\r\n")
        self.status = int(first.split()[1])
        pairs = [line.split(": ", 1) for line in lines]
        self.headers = {name.lower(): value for name, value in pairs}
        self.cookies = [value for name, value in pairs if name.lower() == "set-cookie"]

    def json(self):
        return json.loads(self.body)


def curl(garth, path, *arguments, token=TOKEN):
    own = ["-H", f"Authorization: Bearer {token}"] if token else []
    command = ["curl", "-sS", "-i", "-H", f"Origin: {APP}", *own, *arguments, f"{garth.root}{path}"]
    ran = subprocess.run(command, capture_output=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return Answer(ran.stdout.decode())


def get(garth, path, filtered=None, token=TOKEN):
    answer = curl(garth, path, *(["-H", f"X-Filter: {filtered}"] if filtered else []), token=token)
    assert answer.status == 200, f"{path} {filtered}: {answer.status} {answer.body}"
    assert answer.headers["access-control-allow-origin"] in ("*", APP)
    return answer.json()


def post(garth, path, body):
    answer = curl(garth, path, "-H", "Content-Type: application/json", "-d", body)
    assert answer.status == 200, f"{path} {body}: {answer.status} {answer.body}"
    return answer.json()


def ids(page):
    return [thing["id"] for thing in page["data"]]


def support_pages(garth):
    desk = Desk(garth)
    tickets = "/v4/support/tickets"
    landing = f"{tickets}?page=1&page_size=25"
    empty = {"data": [], "page": 1, "pages": 1, "results": 0}
    assert get(garth, landing, OPEN) == empty == get(garth, landing, CLOSED), "pages is 1 even then"

    vpc = post(garth, "/v4beta/vpcs", '{"description":"","label":"vpc-one","region":"us-east","subnets":[]}')["id"]
    assert ids(get(garth, "/v4beta/vpcs?page_size=500")) == [vpc], "the picker of the form"
    general = post(garth, tickets, '{"general":0,"description":"It is **slow**.","summary":"Slow"}')
    assert general["entity"] is None and general["attachments"] == [] and general["status"] == "new"
    about = post(garth, tickets, f'{{"vpc_id":{vpc},"description":"What is it?","summary":"About my VPC"}}')
    assert about["entity"] == {"id": vpc, "label": "vpc-one", "type": "vpc", "url": f"/v4/vpcs/{vpc}"}
    one, two = general["id"], about["id"]

    # From the form of a new ticket the file comes with its name as a text beside it.
    shot = garth.file("shot.png", PNG)
    file = f"{tickets}/{one}/attachments"
    for form in (["-F", f"file=@{shot};type=image/png", "-F", "name=shot.png"], ["-F", f"file=@{shot}"]):
        answer = curl(garth, file, *form)
        assert (answer.status, answer.json()) == (200, {}), answer.body
    wrong = curl(garth, file, "-F", f"file=@{garth.file('run.sh', b'#!/bin/sh')}", "-F", "name=run.sh")
    assert wrong.status == 400 and [e["field"] for e in wrong.json()["errors"]] == ["file"], wrong.body
    assert wrong.headers["access-control-allow-origin"] in ("*", APP), "a browser may read refusals too"
    assert get(garth, f"{tickets}/{one}")["attachments"] == ["shot.png", "shot.png"]

    page = get(garth, f"{tickets}/{one}/replies?page=1&page_size=25")
    assert page == empty, "it asks for another page while page is not pages"
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
    answer = curl(garth, f"{tickets}/{one}/close", *close)
    assert (answer.status, answer.json()) == (200, {})
    assert ids(get(garth, landing, OPEN)) == [two] and ids(get(garth, landing, CLOSED)) == [one]
    assert get(garth, f"{tickets}/{one}")["updated_by"] == "admin", "it is shown as who closed it"

    wrong = curl(garth, tickets, "-H", "Content-Type: application/json", "-d", '{"general":0,"description":"","summary":""}')
    fields = [error["field"] for error in wrong.json()["errors"]]
    assert wrong.status == 400 and fields == ["summary", "description"], wrong.body


def events(garth):
    """The bell: what it asks for at first, when it polls, and for older ones."""
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
    told = get(garth, path, poll)["data"]
    assert [(e["action"], e["username"], e["seen"]) for e in told] == [("ticket_update", "Support", False)]
    desk.post(f"/tickets/{ticket}/notes", description="Not for you.")
    assert get(garth, path, poll)["results"] == 1, "of notes nothing is told"
    older = get(garth, path, f'{{{tail},"id":{{"+lt":{told[0]["id"]}}}}}')
    assert ids(older) == [known["id"]]
    answer = curl(garth, f"/v4/account/events/{told[0]['id']}/seen", "-X", "POST")
    assert answer.status == 200 and all(event["seen"] for event in get(garth, path, f"{{{tail}}}")["data"])


def questions_before_the_question(garth):
    """What a browser asks before it sends such requests to another origin."""
    for path, method, names in [
        ("/v4/support/tickets", "GET", "authorization,x-filter"),
        ("/v4/support/tickets", "POST", "authorization,content-type"),
        ("/v4/support/tickets/1/attachments", "POST", "authorization"),
        ("/v4beta/vpcs/1", "DELETE", "authorization"),
    ]:
        asked = ["-H", f"Access-Control-Request-Method: {method}", "-H", f"Access-Control-Request-Headers: {names}"]
        answer = curl(garth, path, "-X", "OPTIONS", *asked, token=None)
        assert answer.status in (200, 204), answer.status
        assert method in answer.headers["access-control-allow-methods"]
        allowed = answer.headers["access-control-allow-headers"].lower()
        assert all(name in allowed for name in names.split(",")), allowed
    for path, token, status in [("/v4/support/tickets", None, 401), ("/v4/support/tickets/9", TOKEN, 404)]:
        answer = curl(garth, path, token=token)
        assert answer.status == status and answer.headers["access-control-allow-origin"] in ("*", APP)


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
        answer = curl(garth, path, "-X", method, *(["-H", "Content-Type: application/json", "-d", body] if body else []))
        assert answer.status == 200, f"{method} {path}: {answer.status} {answer.body}"
        return answer.json()

    changed = change("PUT", f"/v4beta/vpcs/{one}", '{"description":"ours","label":"vpc-two"}')
    assert (changed["label"], changed["description"]) == ("vpc-two", "ours")
    assert get(garth, f"/v4beta/vpcs/{one}") == changed
    b = found["data"][0]["id"]
    assert get(garth, f"{subnets}/{b}")["label"] == "subnet-b", "the dialogs load it first"
    assert change("PUT", f"{subnets}/{b}", '{"label":"subnet-c"}')["label"] == "subnet-c"
    assert change("DELETE", f"{subnets}/{b}") == {} and curl(garth, f"{subnets}/{b}").status == 404
    wrong = '{"description":"","label":"vpc-x","region":"us-east","subnets":[{"ipv4":"10.0.0.1/24","label":"a"}]}'
    wrong = curl(garth, "/v4beta/vpcs", "-H", "Content-Type: application/json", "-d", wrong)
    assert wrong.status == 400 and [e["field"] for e in wrong.json()["errors"]] == ["subnets[0].ipv4"], wrong.body
    assert change("DELETE", f"/v4beta/vpcs/{one}") == {} and get(garth, "/v4beta/vpcs?page_size=500")["results"] == 0


TESTS = [support_pages, events, questions_before_the_question, vpc_pages]
