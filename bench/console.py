"""The console's pages, compared with the JSON of the same objects."""

import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import load
from machine import BenchmarkError, clean_environment
from servers import create_vpcs, sample_all, start_garth
from verdict import AGAIN, BASELINE, EMBEDDED, GARTH, Goal, Table

USERNAME, PASSWORD = "admin", "only-for-this-benchmark"


def console_list(programs, folder, extent):
    clients, rounds, seconds = 32, extent.rounds, extent.read_seconds
    folder = folder / "console_list"
    with start_garth(programs, folder) as garth:
        create_vpcs(garth, 100)
        cookies = [f"Cookie: {log_in(programs, folder, garth)}"]
        page = urllib.request.Request(f"{garth.url}/vpcs", headers=dict([cookies[0].split(": ", 1)]))
        rows = urllib.request.urlopen(page, timeout=10).read().decode().count('href="/vpcs/')
        if rows < 100:
            raise BenchmarkError(f"the page has {rows} links to VPCs instead of 100")
        samplers = {
            BASELINE: lambda: load.run(garth, "/v4/vpcs", clients, seconds),
            AGAIN: lambda: load.run(garth, "/v4/vpcs", clients, seconds),
            GARTH: lambda: load.run(garth, "/vpcs", clients, seconds, headers=cookies),
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


def log_in(programs, folder, garth):
    """Logs in and returns the cookies of the session."""
    command = [programs.garth, "user", "password", USERNAME, "--password-stdin", "--data", folder]
    subprocess.run(command, input=PASSWORD, text=True, check=True, capture_output=True, env=clean_environment())
    # The cookies of the console are for secure connections only, so they are copied explicitly.
    form = urllib.request.urlopen(f"{garth.url}/login", timeout=10)
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form.read().decode()))
    fields = urllib.parse.urlencode({**hidden, "username": USERNAME, "password": PASSWORD}).encode()
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
