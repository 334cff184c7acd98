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
# The number of rows on a page of a list.
ROWS = 40
# A page of a user: the objects, the path of the page, the path of the same objects as JSON, and a text that the page has
# at least once for each object.
Page = namedtuple("Page", "objects path json_path row")
PAGES = {
    TENANT: (
        Page("40 VPCs with 2 subnets each", "/vpcs", "/v4/vpcs", 'href="/vpcs/'),
        Page("40 subnets of one VPC", "/vpcs/1/subnets", "/v4/vpcs/1/subnets", 'href="/vpcs/1/subnets/'),
        Page("40 instances", "/instances", "/v4/linode/instances", 'href="/instances/'),
        Page("40 tickets", "/tickets", "/v4/support/tickets", 'href="/tickets/'),
        Page("40 events", "/events", f"/v4/account/events?page_size={ROWS}", "<li"),
        Page(
            "40 grants of a user",
            f"/account/users/{RESTRICTED}/grants?kind=vpc",
            f"/v4/account/users/{RESTRICTED}/grants",
            "<tr",
        ),
    ),
    STAFF: (
        Page("40 tickets at the desk", "/desk", "/v4/desk/tickets", 'href="/desk/tickets/'),
        Page("40 accounts", "/provider", "/v4/provider/accounts", 'href="/provider/accounts/'),
        Page("40 members of staff", "/provider/staff", "/v4/provider/staff", 'href="/provider/staff/'),
        Page("20 announcements", "/provider/announcements", "/v4/provider/announcements", 'href="/provider/announcements/'),
        Page("40 hosts", "/hosts", "/v4/hosts", 'href="/hosts/'),
    ),
}

# A page of a large account: the path of the page, its objects, those of the small account, and the goals.
Scaled = namedtuple("Scaled", "path objects few goals", defaults=({"CPU": Goal("<=", 2.0)},))
SCALED = (
    Scaled("/vpcs/1", "a VPC of 1,000 subnets", "a VPC of 10 subnets"),
    # The page of the VPC loads the map after it is shown.
    Scaled("/vpcs/1/map", "the map of 1,000 subnets", "the map of 10 subnets", {}),
    Scaled("/vpcs/1/subnets", "the list of 1,000 subnets", "the list of 10 subnets"),
    Scaled(f"/account/users/{RESTRICTED}/grants", "a user with 5,000 grants", "a user with 10 grants"),
)


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


def console_scale(programs, folder, extent):
    """Compares pages of a large account with the same pages of a small account, on two servers."""
    small, large = folder / "console_small", folder / "console_large"
    quota = ("--quota-subnets-per-vpc", "1000")
    with start_garth(programs, small, *quota) as few, start_garth(programs, large, *quota) as many:
        headers = {}
        for garth, folder_of, subnets, vpcs in ((few, small, 10, 10), (many, large, 1_000, 5_000)):
            fill_scaled(garth, subnets, vpcs)
            headers[garth] = [f"Cookie: {log_in(programs, folder_of, garth, TENANT)}"]
        return [compare_scaled(few, many, headers, page, extent) for page in SCALED]


def fill_scaled(garth, subnets, vpcs):
    """Creates a VPC with many subnets, and a restricted user with a grant for each VPC."""
    ranges = [{"label": f"subnet-{n}", "ipv4": f"10.{n // 250}.{n % 250}.0/24"} for n in range(subnets)]
    garth.post("/v4/vpcs", {"label": "subnets", "region": "us-ord", "subnets": ranges})
    for number in range(vpcs - 1):
        garth.post("/v4/vpcs", {"label": f"vpc-{number}", "region": "us-ord"})
    garth.post("/v4/account/users", {"username": RESTRICTED, "email": "reader@example.com", "restricted": True})


def compare_scaled(few, many, headers, page, extent):
    rounds, seconds = extent.rounds, extent.list_seconds
    sample = lambda garth: load.run(garth, page.path, 1, seconds, headers=headers[garth])
    samplers = {BASELINE: lambda: sample(few), AGAIN: lambda: sample(few), page.objects: lambda: sample(many)}
    for warm_up in samplers.values():
        warm_up()
    table = Table(
        EMBEDDED,
        f"console_scale: the page of {page.objects}, 1 client; {rounds} rounds of {seconds} s\n"
        f"baseline: the same page of {page.few}",
        page.goals,
        contenders=[page.objects],
    )
    sample_all(table, samplers, rounds)
    for garth, objects in ((few, page.few), (many, page.objects)):
        size = len(read_page(garth, page.path, headers[garth][0]))
        print(f"  {objects}: {size / 1000:.0f} kB")
    return table


def read_page(garth, path, header):
    request = urllib.request.Request(garth.url + path, headers=dict([header.split(": ", 1)]))
    try:
        return urllib.request.urlopen(request, timeout=10).read().decode()
    except urllib.error.HTTPError as response:
        raise garth.error(f"returned {response.code} for {path}") from None


def compare(garth, page, token, headers, extent):
    """Compares a page with the JSON of the same objects."""
    count = int(page.objects.split()[0])
    rows = read_page(garth, page.path, headers[0]).count(page.row)
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
    many = [{"label": f"subnet-{n}", "ipv4": f"10.{n}.0.0/24"} for n in range(ROWS)]
    garth.post("/v4/vpcs", {"label": "many-subnets", "region": "us-ord", "subnets": many})
    create_vpcs(garth, ROWS - 1)
    for number in range(ROWS):
        garth.post("/v4/linode/instances", {"label": f"instance-{number}", "region": "us-ord", "type": "g6-nanode-1"})
    for number in range(ROWS):
        garth.post("/v4/support/tickets", {"summary": f"Ticket {number}", "description": "The network is slow."})
    user = {"username": RESTRICTED, "email": "reader@example.com", "restricted": True}
    garth.post("/v4/account/users", user)
    # The account of the tenant is on the same page.
    for number in range(ROWS - 1):
        email = f"owner-{number}@example.com"
        run_garth(programs, folder, "account", "create", "--email", email, "--company", f"Company {number}")
    create_staff(programs, folder, STAFF)
    for number in range(ROWS - 1):
        create_staff(programs, folder, f"{STAFF}-{number}")
    for number in range(20):
        run_garth(programs, folder, "announcement", "create", "--title", f"Notice {number}", "--text", "Work at night.")
    # Last: the instances of a region with hosts wait for the agent of their host.
    for number in range(ROWS):
        run_garth(programs, folder, "host", "add", "--region", "us-ord", "--underlay", f"198.18.0.{number}", f"host-{number}")


def create_staff(programs, folder, username):
    email = f"{username}@example.com"
    run_garth(programs, folder, "user", "create", "--staff", "--username", username, "--email", email)


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
