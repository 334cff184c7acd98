"""The console's pages, beside the JSON of the same things."""

import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import load
from machine import Trouble, own_environment
from servers import first_vpcs, sample_all, start_garth
from verdict import AGAIN, BASELINE, EMBEDDED, GARTH, Goal, Table

USERNAME, PASSWORD = "admin", "only-for-this-benchmark"


def console_list(programs, folder, extent):
    clients, rounds, seconds = 32, extent.rounds, extent.read_seconds
    folder = folder / "console_list"
    with start_garth(programs, folder) as garth:
        first_vpcs(garth, 100)
        cookies = [f"Cookie: {enter(programs, folder, garth)}"]
        page = urllib.request.Request(f"{garth.url}/vpcs", headers=dict([cookies[0].split(": ", 1)]))
        rows = urllib.request.urlopen(page, timeout=10).read().decode().count('href="/vpcs/')
        if rows < 100:
            raise Trouble(f"the page has {rows} links to VPCs, and not 100")
        samplers = {
            BASELINE: lambda: load.put(garth, "/v4/vpcs", clients, seconds),
            AGAIN: lambda: load.put(garth, "/v4/vpcs", clients, seconds),
            GARTH: lambda: load.put(garth, "/vpcs", clients, seconds, headers=cookies),
        }
        for sample in samplers.values():
            sample()
        table = Table(
            EMBEDDED,
            f"console_list: the page of 100 VPCs with 2 subnets each, {clients} clients; {rounds} rounds of {seconds} s\n"
            "baseline: the same list as JSON, from the same server",
            {"CPU": Goal("<=", 3.0)},
        )
        return [sample_all(table, samplers, rounds)]


def enter(programs, folder, garth):
    """Logs in as a browser would; the cookies of the session."""
    command = [programs.garth, "user", "password", USERNAME, "--password-stdin", "--data", folder]
    subprocess.run(command, input=PASSWORD, text=True, check=True, capture_output=True, env=own_environment())
    # Cookies of the console are for secure connections only, which this is none of: they are carried by hand.
    form = urllib.request.urlopen(f"{garth.url}/login", timeout=10)
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form.read().decode()))
    fields = urllib.parse.urlencode({**hidden, "username": USERNAME, "password": PASSWORD}).encode()
    login = urllib.request.Request(f"{garth.url}/login", fields, {"Cookie": cookies_of(form)})
    try:
        urllib.request.build_opener(NoRedirect).open(login, timeout=30)
    except urllib.error.HTTPError as answer:
        if answer.code == 303:
            return cookies_of(answer)
        raise garth.trouble(f"answered {answer.code} to the log-in") from None
    raise garth.trouble("did not lead on from the log-in")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def cookies_of(answer):
    return "; ".join(cookie.split(";")[0] for cookie in answer.headers.get_all("Set-Cookie", []))
