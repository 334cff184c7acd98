"""The console's pages, compared with the JSON of the same objects."""

import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections import namedtuple

import load
from machine import TOKEN, BenchmarkError, clean_environment
from servers import create_vpcs, sample_all, start_garth
from verdict import AGAIN, BASELINE, EMBEDDED, Goal, Table

PASSWORD = "only-for-this-benchmark"
TENANT, STAFF, RESTRICTED = "admin", "staff", "reader"
CLIENTS = 32
# A page of a user: the objects, the path of the page, the path of the same objects as JSON, and a text that the page has
# at least once for each object.
Page = namedtuple("Page", "objects path json_path row")
PAGES = {
    TENANT: (
        Page("100 VPCs with 2 subnets each", "/vpcs", "/v4/vpcs", 'href="/vpcs/'),
        Page("100 subnets of one VPC", "/vpcs/1/subnets", "/v4/vpcs/1/subnets", 'href="/vpcs/1/subnets/'),
        Page("100 instances", "/instances", "/v4/linode/instances", 'href="/instances/'),
        Page("50 tickets", "/tickets", "/v4/support/tickets?page_size=50", 'href="/tickets/'),
        Page("50 events", "/events", "/v4/account/events?page_size=50", "<li"),
        Page(
            "100 grants of a user",
            f"/account/users/{RESTRICTED}/grants?kind=vpc",
            f"/v4/account/users/{RESTRICTED}/grants",
            "<tr",
        ),
    ),
    STAFF: (
        Page("50 tickets at the desk", "/desk", "/v4/desk/tickets?page_size=50", 'href="/desk/tickets/'),
        Page("100 accounts", "/provider", "/v4/provider/accounts", 'href="/provider/accounts/'),
    ),
}


def console_list(programs, folder, extent):
    folder = folder / "console_list"
    with start_garth(programs, folder, "--quota-subnets-per-vpc", "1000") as garth:
        fill(programs, folder, garth)
        tokens = {TENANT: TOKEN, STAFF: staff_token(programs, folder)}
        tables = []
        for username, pages in PAGES.items():
            headers = [f"Cookie: {log_in(programs, folder, garth, username)}"]
            tables += [compare(garth, page, tokens[username], headers, extent) for page in pages]
        return tables


def compare(garth, page, token, headers, extent):
    """Compares a page with the JSON of the same objects."""
    count = int(page.objects.split()[0])
    request = urllib.request.Request(garth.url + page.path, headers=dict([headers[0].split(": ", 1)]))
    try:
        rows = urllib.request.urlopen(request, timeout=10).read().decode().count(page.row)
    except urllib.error.HTTPError as response:
        raise garth.error(f"returned {response.code} for {page.path}") from None
    if rows < count:
        raise BenchmarkError(f"the page {page.path} has {rows} rows instead of {count}")
    rounds, seconds = extent.rounds, extent.list_seconds
    as_json = lambda: load.run(garth, page.json_path, CLIENTS, seconds, token=token)
    samplers = {
        BASELINE: as_json,
        AGAIN: as_json,
        page.objects: lambda: load.run(garth, page.path, CLIENTS, seconds, headers=headers),
    }
    for sample in samplers.values():
        sample()
    table = Table(
        EMBEDDED,
        f"console_list: the page of {page.objects}, {CLIENTS} clients; {rounds} rounds of {seconds} s\n"
        "baseline: the same objects as JSON, from the same server",
        {"CPU": Goal("<=", 3.0)},
        contenders=[page.objects],
    )
    return sample_all(table, samplers, rounds)


def fill(programs, folder, garth):
    """Creates the objects of the pages."""
    many = [{"label": f"subnet-{n}", "ipv4": f"10.{n}.0.0/24"} for n in range(100)]
    garth.post("/v4/vpcs", {"label": "many-subnets", "region": "us-ord", "subnets": many})
    create_vpcs(garth, 99)
    for number in range(100):
        garth.post("/v4/linode/instances", {"label": f"instance-{number}", "region": "us-ord", "type": "g6-nanode-1"})
    for number in range(50):
        garth.post("/v4/support/tickets", {"summary": f"Ticket {number}", "description": "The network is slow."})
    user = {"username": RESTRICTED, "email": "reader@example.com", "restricted": True}
    garth.post("/v4/account/users", user)
    for number in range(100):
        email = f"owner-{number}@example.com"
        run_garth(programs, folder, "account", "create", "--email", email, "--company", f"Company {number}")
    run_garth(programs, folder, "user", "create", "--staff", "--username", STAFF, "--email", "staff@example.com")


def staff_token(programs, folder):
    return re.search(r"[0-9a-f]{64}", run_garth(programs, folder, "token", "create", "--user", STAFF))[0]


def run_garth(programs, folder, *arguments, text=""):
    command = [programs.garth, *arguments, "--data", folder]
    return subprocess.run(
        command, input=text, text=True, check=True, capture_output=True, env=clean_environment()
    ).stdout


def log_in(programs, folder, garth, username):
    """Logs in and returns the cookies of the session."""
    run_garth(programs, folder, "user", "password", username, "--password-stdin", text=PASSWORD)
    # The cookies of the console are for secure connections only, so they are copied explicitly.
    form = urllib.request.urlopen(f"{garth.url}/login", timeout=10)
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form.read().decode()))
    fields = urllib.parse.urlencode({**hidden, "username": username, "password": PASSWORD}).encode()
    login = urllib.request.Request(f"{garth.url}/login", fields, {"Cookie": cookies_of(form)})
    try:
        urllib.request.build_opener(NoRedirect).open(login, timeout=30)
    except urllib.error.HTTPError as response:
        if response.code == 303:
            return cookies_of(response)
        raise garth.error(f"returned {response.code} for the log-in") from None
    raise garth.error("did not redirect after the log-in")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def cookies_of(response):
    return "; ".join(cookie.split(";")[0] for cookie in response.headers.get_all("Set-Cookie", []))
