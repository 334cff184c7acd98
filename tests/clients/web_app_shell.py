"""Replays other requests of the web app with curl: log-in, requests of every page, instances, log-out."""

import base64
import hashlib
import html
import json
import re
from urllib.parse import parse_qs, quote

import requests
from web_app import APP, curl, get, ids, post
from server import PASSWORD, TEST_HEADERS, TOKEN

VERIFIER = "v" * 40 + "-" + "w" * 45
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")


def web_app(garth):
    """Registers the web app as in the README; returns its client ID."""
    options = ["--label", "Web app", "--redirect-uri", f"{APP}/oauth/callback", "--public", "--json"]
    return json.loads(garth.command("client", "create", *options))["id"]


def log_in_and_out(garth):
    for path in ("/v4beta/account", "/v4beta/account/settings", "/v4/profile", "/v4/profile/preferences"):
        response = curl(garth, path, token=None)
        assert response.status == 401 and response.headers["access-control-allow-origin"] in ("*", APP), "a 401 starts the log-in"

    client = web_app(garth)
    garth.command("user", "password", "admin", "--password-stdin", stdin=PASSWORD)
    # The return URL may contain a question mark.
    callback = f"{APP}/oauth/callback?returnTo=/support/tickets?dialogOpen=true"
    parameters = {
        "client_id": client,
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "redirect_uri": callback,
        "response_type": "code",
        "scope": "*",
        "state": "0b6b8d4c-2f5e-4b63-9a0c-6f1f2b1d7a10",
    }
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in parameters.items())
    cookies = Cookies(garth)
    page = cookies.get(f"/oauth/authorize?{query}")
    redirect = cookies.submit(page, "/oauth/login", username="admin", password=PASSWORD)
    page = cookies.get(f"/oauth/{redirect.headers['location'].removeprefix('/oauth/')}")
    location = cookies.submit(page, "/oauth/authorize", decision="allow").headers["location"]
    assert location.startswith(f"{callback}&"), location
    found = parse_qs(location.removeprefix(f"{callback}&"))
    code, state = found["code"][0], found["state"][0]
    assert found["iss"] == [garth.root], "the issuer"
    assert state == parameters["state"] and not re.match(r"[-\d\"tfn\[{]", code), "the app's router parses JSON values"

    form = {"grant_type": "authorization_code", "client_id": client, "code": code, "state": state}
    parts = [part for name, value in form.items() for part in ("-F", f"{name}={value}")]
    refused = curl(garth, "/oauth/token", *parts, "-F", "code_verifier=" + "x" * 86, token=None)
    assert refused.status == 400 and refused.headers["access-control-allow-origin"] in ("*", APP), refused.body
    # The redirect URI is on localhost, so consent is required each time.
    page = cookies.get(f"/oauth/authorize?{query}")
    location = cookies.submit(page, "/oauth/authorize", decision="allow").headers["location"]
    form["code"] = parse_qs(location.removeprefix(f"{callback}&"))["code"][0]
    parts = [part for name, value in form.items() for part in ("-F", f"{name}={value}")]
    response = curl(garth, "/oauth/token", *parts, "-F", f"code_verifier={VERIFIER}", token=None)
    assert response.status == 200 and response.headers["access-control-allow-origin"] in ("*", APP), response.body
    tokens = response.json()
    assert (tokens["token_type"], tokens["expires_in"], tokens["scopes"]) == ("bearer", 7200, "*"), tokens
    token = tokens["access_token"]
    assert get(garth, "/v4/profile", token=token)["username"] == "admin"

    revoked = curl(garth, "/oauth/revoke", "-d", f"client_id={client}&token={token}", token=None)
    assert revoked.status == 200 and revoked.headers["access-control-allow-origin"] in ("*", APP)
    assert curl(garth, "/v4/profile", token=token).status == 401
    page = cookies.get("/logout")
    assert page.status == 200 and page.headers["content-type"].startswith("text/html")
    assert "name=\"password\"" in cookies.get(f"/oauth/authorize?{query}").body, "the password is required again"


class Cookies:
    """A browser for the log-in pages: it stores cookies and submits forms."""

    def __init__(self, garth):
        self.garth, self.cookies = garth, {}

    def get(self, path, *more):
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        response = curl(self.garth, path, "-H", f"Cookie: {cookies}", *more, token=None)
        for cookie in response.cookies:
            name, _, value = cookie.split(";")[0].partition("=")
            self.cookies[name] = value
        return response

    def submit(self, page, path, **fields):
        for name in ("form_token", "return_to"):
            fields[name] = html.unescape(re.search(f'name="{name}" value="([^"]*)"', page.body)[1])
        parts = [part for name, value in fields.items() for part in ("--data-urlencode", f"{name}={value}")]
        response = self.get(path, *parts)
        assert response.status == 303, f"{path}: {response.status} {response.body}"
        return response


def shell(garth):
    """Requests of every page."""
    profile = get(garth, "/v4/profile")
    assert (profile["uid"], profile["username"], profile["restricted"]) == (1, "admin", False)
    assert profile["timezone"] and profile["email"]
    assert get(garth, "/v4/profile/preferences") == {}
    preferences = {"collapsedSideNavProductFamilies": [1, 2, 4], "sortKeys": {"vpcs-order": {"order": "asc", "orderBy": "label"}}}
    body = ["-X", "PUT", "-H", "Content-Type: application/json", "-d", json.dumps(preferences)]
    assert curl(garth, "/v4/profile/preferences", *body).json() == preferences == get(garth, "/v4/profile/preferences")
    account = get(garth, "/v4beta/account")
    assert "VPCs" in account["capabilities"] and account["euuid"]
    assert get(garth, "/v4beta/account/settings")["managed"] is False
    regions = get(garth, "/v4beta/regions?page_size=500")["data"]
    assert all(region["country"] and "VPCs" in region["capabilities"] for region in regions)
    available = get(garth, "/v4beta/account/availability?page_size=500")["data"]
    assert [row["region"] for row in available] == [region["id"] for region in regions]
    assert "create_vpc" in get(garth, "/v4beta/iam/users/admin/permissions/account")
    assert get(garth, "/v4beta/networking/firewalls/settings")["default_firewall_ids"]["linode"] is None
    for path in ("/v4/account/notifications?page_size=500", "/v4beta/databases/types"):
        assert get(garth, path)["data"] == [], path
    pending = '{"status":{"+or":["pending","started","scheduled"]}}'
    assert get(garth, "/v4beta/account/maintenance", pending)["data"] == []
    unknown = curl(garth, "/v4beta/nothing/here")
    assert unknown.status == 404 and unknown.json()["errors"][0]["reason"] == "Not found"
    for path in ("/v4/account/notifications", "/v4beta/nothing/here"):
        headers = ["-H", f"Origin: {APP}", "-H", "Access-Control-Request-Method: GET"]
        preflight = curl(garth, path, "-X", "OPTIONS", *headers, token=None)
        assert preflight.status == 200 and "Authorization" in preflight.headers["access-control-allow-headers"], path

    garth.command("user", "create", "--account", "1", "--username", "bob", "--email", "bob@x.org", "--restricted")
    garth.command("user", "grant", "bob", "--global", "add_vpcs")
    bob = garth.command("token", "create", "--user", "bob")
    assert get(garth, "/v4/profile", token=bob)["restricted"] is True
    grants = get(garth, "/v4/profile/grants", token=bob)
    assert grants["global"]["add_vpcs"] is True and grants["vpc"] == grants["linode"] == []


def pages_about_other_products(garth):
    """Lists of other products that the pages about instances, the account and the profile request."""
    for path, sent in (
        ("/v4beta/networking/firewalls?page=1&page_size=25", '{"+order":"asc","+order_by":"label"}'),
        ("/v4/account/service-transfers?page=1&page_size=25", '{"status":"pending"}'),
        ("/v4/account/service-transfers", '{"+and":[{"is_sender":false},{"status":{"+neq":"pending"}}]}'),
        ("/v4/account/invoices", '{"+order":"desc","+order_by":"date","date":{"+gte":"2026-05-16T00:00:00"}}'),
        ("/v4/account/payments", '{"+order":"desc","+order_by":"date"}'),
        ("/v4/account/payment-methods", None),
        ("/v4/volumes?page=1&page_size=25", '{"+order":"asc","+order_by":"label"}'),
        ("/v4/networking/ipv6/ranges", None),
        ("/v4/linode/stackscripts?page=1&page_size=25", '{"mine":true,"+order":"asc","+order_by":"label"}'),
        ("/v4/profile/devices", None),
        ("/v4/nodebalancers", None),
        ("/v4/domains", None),
        ("/v4/object-storage/clusters", None),
        ("/v4beta/lke/clusters", None),
        ("/v4/managed/issues", None),
        ("/v4/managed/services", None),
        ("/v4/placement/groups", None),
        ("/v4beta/databases/instances", None),
        ("/v4beta/monitor/streams", None),
        ("/v4beta/monitor/streams/destinations", None),
        ("/v4/longview/subscriptions", None),
        ("/v4/longview/clients", None),
    ):
        found = get(garth, path, *([sent] if sent else []))
        assert (found["data"], found["pages"], found["results"]) == ([], 1, 0), path
    assert get(garth, "/v4/longview/plan") == {}
    assert get(garth, "/v4beta/account/agreements")["privacy_policy"] is True
    assert get(garth, "/v4/account/transfer")["region_transfers"] == []
    assert get(garth, "/v4/profile/security-questions")["security_questions"]
    assert get(garth, "/v4/linode/kernels/linode%2Flatest-64bit")["id"] == "linode/latest-64bit"
    assert get(garth, "/v4/linode/kernels")["results"] >= 4
    manual = '{"is_public":false,"type":"manual","+order":"asc","+order_by":"label"}'
    assert get(garth, "/v4/images?page=1&page_size=25", manual)["data"] == []
    assert get(garth, "/v4beta/iam/users/admin/permissions/vpc/1") == []
    assert get(garth, "/v4beta/iam/users/admin/permissions/linode/-1") == []


def instances_of_a_subnet(garth):
    """The rows of a subnet, the form that assigns an instance, and the menu of a row."""
    vpc = post(
        garth,
        "/v4beta/vpcs",
        '{"description":"","label":"net","region":"us-east","subnets":[{"ipv4":"10.0.0.0/24","label":"a"}]}',
    )
    one, subnet = vpc["id"], vpc["subnets"][0]["id"]
    # The test creates the instance, because the app's page for instances is not covered.
    headers = {"Authorization": f"Bearer {TOKEN}", **TEST_HEADERS}
    created = {"label": "web-1", "region": "us-east", "type": "g6-nanode-1", "booted": False}
    created = requests.post(f"{garth.root}/v4/linode/instances", json=created, headers=headers, timeout=60).json()
    instance = f"/v4/linode/instances/{created['id']}"
    config = requests.post(f"{garth.root}{instance}/configs", json={"label": "boot"}, headers=headers, timeout=60).json()["id"]
    assert get(garth, "/v4beta/linode/types/g6-nanode-1")["memory"] == 1024
    assert ids(get(garth, "/v4beta/linode/instances?page_size=500", '{"region":"us-east"}')) == [created["id"]]
    assert ids(get(garth, f"{instance}/configs?page_size=500")) == [config]
    assigned = post(
        garth,
        f"{instance}/configs/{config}/interfaces",
        '{"ip_ranges":[],"ipam_address":null,"ipv4":{"nat_1_1":""},"label":null,"primary":true,"purpose":"vpc",'
        f'"subnet_id":{subnet},"vpc_id":{one}}}',
    )
    assert (assigned["ipv4"]["vpc"], assigned["primary"], assigned["active"]) == ("10.0.0.2", True, False)
    for action, status, active in (("boot", "running", True), ("reboot", "running", True), ("shutdown", "offline", False)):
        response = curl(garth, f"{instance}/{action}", "-X", "POST")
        assert (response.status, response.json()) == (200, {})
        row = get(garth, f"/v4beta/vpcs/{one}/subnets/{subnet}")["linodes"][0]
        assert row == {"id": created["id"], "interfaces": [{"id": assigned["id"], "active": active, "config_id": config}]}
        assert get(garth, f"/v4beta{instance.removeprefix('/v4')}")["status"] == status
        assert get(garth, f"{instance}/configs/{config}")["interfaces"][0]["active"] is active
    busy = curl(garth, f"/v4beta/vpcs/{one}/subnets/{subnet}", "-X", "DELETE")
    assert busy.status == 400 and "in use by instance" in busy.json()["errors"][0]["reason"]
    unassigned = curl(garth, f"{instance}/configs/{config}/interfaces/{assigned['id']}", "-X", "DELETE")
    assert (unassigned.status, unassigned.json()) == (200, {})
    assert get(garth, f"/v4beta/vpcs/{one}/subnets/{subnet}")["linodes"] == []
    assert curl(garth, f"/v4beta/vpcs/{one}", "-X", "DELETE").status == 200


TESTS = [log_in_and_out, shell, pages_about_other_products, instances_of_a_subnet]
