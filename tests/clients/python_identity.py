"""linode_api4: users, tokens, profile, account, catalog, and its log-in client."""

import html
import json
import re
from datetime import datetime

import requests
from linode_api4 import (
    AccountAvailability,
    ApiError,
    AuthorizedApp,
    Image,
    LinodeClient,
    LinodeLoginClient,
    OAuthClient,
    OAuthScopes,
    PersonalAccessToken,
    Region,
    Type,
    User,
)
from python_client import assert_refused
from server import PASSWORD, TEST_HEADERS, TOKEN


CALLBACK = "http://localhost:4567/callback"


class Browser:
    """A minimal browser for log-in: it stores cookies and submits forms.

    By default, its requests do not count as requests of the client.
    """

    def __init__(self, garth):
        self.garth = garth
        self.cookies = {}

    def send(self, path, form=None, headers=TEST_HEADERS):
        url = path if path.startswith("http") else f"{self.garth.root}/oauth/{path}"
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        response = requests.request(
            "POST" if form else "GET", url, data=form, headers={"Cookie": cookies, **headers}, allow_redirects=False, timeout=60
        )
        self.cookies |= {cookie.name: cookie.value for cookie in response.cookies}
        return response

    def submit(self, page, path, **fields):
        for name in ("form_token", "return_to"):
            fields[name] = html.unescape(re.search(f'name="{name}" value="([^"]*)"', page.text)[1])
        return self.send(path, fields)


def authorize(garth, client, secret):
    """Authorizes an application, so that it can be listed."""
    garth.command("user", "password", "admin", "--password-stdin", stdin=PASSWORD)
    browser = Browser(garth)
    page = browser.send(f"authorize?client_id={client}&response_type=code&scope=vpc:read_write&redirect_uri={CALLBACK}")
    page = browser.send(browser.submit(page, "login", username="admin", password=PASSWORD).headers["location"])
    code = browser.submit(page, "authorize", decision="allow").headers["location"].split("code=")[1].split("&")[0]
    tokens = browser.send("token", {"client_id": client, "client_secret": secret, "code": code})
    assert tokens.status_code == 200, tokens.text


def log_in(garth):
    """The log-in client of linode_api4: code, refresh and revocation of a token."""
    garth.command("user", "password", "admin", "--password-stdin", stdin=PASSWORD)
    created = garth.command("client", "create", "--label", "Python", "--redirect-uri", CALLBACK, "--json")
    created = json.loads(created)
    login = LinodeLoginClient(created["id"], created["secret"], base_url=garth.root)
    scopes = [OAuthScopes.Account.read_only, OAuthScopes.Linodes.read_write]

    browser = Browser(garth)
    page = browser.send(login.generate_login_url(scopes=scopes), headers={})
    redirect = browser.submit(page, "login", username="admin", password=PASSWORD)
    assert redirect.status_code == 303, redirect.text
    page = browser.send(redirect.headers["location"])
    callback = browser.submit(page, "authorize", decision="allow").headers["location"]
    assert callback.startswith(f"{CALLBACK}?code="), callback
    code = callback.split("code=")[1].split("&")[0]

    def works(token):
        try:
            return LinodeClient(token, base_url=f"{garth.root}/v4").profile().username == "admin"
        except ApiError as error:
            assert error.status == 401, error
            return False

    token, granted, expiry, refresh = login.finish_oauth(code)
    assert granted == scopes and works(token), granted
    client = LinodeClient(TOKEN, base_url=f"{garth.root}/v4")
    (app,) = client.profile.apps()
    assert (app.label, app.scopes) == ("Python", "account:read_only linodes:read_write") and app.expiry > app.created
    assert 7100 < (expiry - datetime.now()).total_seconds() <= 7200
    fresh, granted, _, next_refresh = login.refresh_oauth_token(refresh)
    assert granted == scopes and works(fresh) and not works(token)
    assert login.expire_token(fresh) and not works(fresh)
    assert len(client.profile.apps()) == 0
    for refused in (lambda: login.refresh_oauth_token(next_refresh), lambda: login.finish_oauth(code)):
        try:
            refused()
            raise AssertionError("a revoked token was accepted")
        except ApiError as error:
            assert error.status == 400 and error.errors, error

    page = browser.send(login.generate_login_url(scopes=scopes), headers={})
    callback = browser.submit(page, "authorize", decision="allow").headers["location"]
    token = login.finish_oauth(callback.split("code=")[1].split("&")[0])[0]
    (app,) = client.profile.apps()
    app = client.load(AuthorizedApp, app.id)
    assert app.label == "Python" and works(token)
    assert app.delete() and not works(token), "revoked by the user"
    assert_refused(404, "Not found", lambda: client.load(AuthorizedApp, app.id).label)


def tokens(garth):
    client = LinodeClient(TOKEN, base_url=f"{garth.root}/v4")
    token = client.profile.token_create(label="first", scopes="vpc:read_write", expiry=datetime(2099, 1, 2, 3, 4, 5))
    assert len(token.token) == 64 and [t.label for t in client.profile.tokens()] == ["first start", "first"]
    created = LinodeClient(token.token, base_url=f"{garth.root}/v4")
    vpc = created.vpcs.create("by-token", "us-mia")
    assert_refused(401, "Your OAuth token is not authorized to use this endpoint.", created.account.users)
    token.label = "renamed"
    assert token.save()
    loaded = client.load(PersonalAccessToken, token.id)
    assert (loaded.label, loaded.scopes, loaded.token) == ("renamed", "vpc:read_write", token.token[:16])
    assert loaded.expiry == datetime(2099, 1, 2, 3, 4, 5)
    assert token.delete() and [t.label for t in client.profile.tokens()] == ["first start"]
    assert_refused(401, "Invalid Token", vpc.delete)


def users(garth):
    client = LinodeClient(TOKEN, base_url=f"{garth.root}/v4")
    user = client.account.user_create("ada@example.com", "ada", restricted=True)
    assert (user.username, user.email, user.restricted) == ("ada", "ada@example.com", True)
    vpc, other = client.vpcs.create("granted", "us-mia"), client.vpcs.create("other", "us-mia")
    grants = user.grants
    assert [(g.id, g.label, g.permissions) for g in grants.vpc] == [(vpc.id, "granted", None), (other.id, "other", None)]
    grants.global_grants.add_vpcs = True
    grants.vpc[0].permissions = "read_write"
    grants.save()
    user.invalidate()
    assert user.grants.vpc[0].permissions == "read_write" and user.grants.global_grants.add_vpcs

    ada = LinodeClient(garth.command("token", "create", "--user", "ada"), base_url=f"{garth.root}/v4")
    grants = ada.profile().grants
    assert [(g.id, g.permissions) for g in grants.vpc] == [(vpc.id, "read_write")] and grants.global_grants.add_vpcs
    assert [v.id for v in ada.vpcs()] == [vpc.id] and ada.vpcs.create("hers", "us-mia").label == "hers"
    assert_refused(403, "Unauthorized", ada.account.users)
    assert client.profile().grants is None, "unrestricted users have no grants"

    user.restricted = False
    assert user.save()
    loaded = client.load(User, "ada")
    assert (loaded.email, loaded.restricted) == ("ada@example.com", False) and not hasattr(loaded.grants, "vpc")
    assert [u.username for u in client.account.users()] == ["admin", "ada"]
    assert user.delete() and [u.username for u in client.account.users()] == ["admin"]


def profile(garth):
    client = LinodeClient(TOKEN, base_url=f"{garth.root}/v4")
    profile = client.profile()
    assert (profile.username, profile.uid, profile.restricted) == ("admin", 1, False)
    profile.email, profile.timezone, profile.email_notifications = "root@example.com", "Europe/Berlin", False
    assert profile.save()
    profile = client.profile()
    assert (profile.email, profile.timezone, profile.email_notifications) == ("root@example.com", "Europe/Berlin", False)
    assert client.profile.user_preferences_update(theme="dark", order={"vpcs": "asc"}).theme == "dark"
    preferences = client.profile.user_preferences()
    assert (preferences.theme, preferences.order.vpcs) == ("dark", "asc")


def account_and_catalog(garth):
    client = LinodeClient(TOKEN, base_url=f"{garth.root}/v4")
    account = client.account()
    assert account.active_since and "VPCs" in account.capabilities and len(account.euuid) == 35
    settings = client.account.settings()
    assert (settings.network_helper, settings.managed, settings.longview_subscription) == (True, False, None)

    regions = {region.id: region for region in client.regions()}
    assert "VPCs" in regions["us-mia"].capabilities
    mia = client.load(Region, "us-mia")
    assert (mia.label, mia.country, mia.status, mia.site_type) == ("Miami, FL", "us", "ok", "core")
    assert [a.region for a in client.account.availabilities()] == [*regions]
    assert client.load(AccountAvailability, "us-mia").unavailable == []
    assert "g6-nanode-1" in [plan.id for plan in client.linode.types()]
    nanode = client.load(Type, "g6-nanode-1")
    assert (nanode.memory, nanode.disk, nanode.vcpus) == (1024, 25600, 1)
    assert [i.id for i in client.images(Image.vendor == "Debian")] == [i.id for i in client.images() if i.vendor == "Debian"]
    debian = client.load(Image, "linode/debian12")
    assert (debian.vendor, debian.is_public, debian.status) == ("Debian", True, "available")


def small_lists(garth):
    """Short and empty lists for which the client has groups."""
    client = LinodeClient(TOKEN, base_url=f"{garth.root}/v4beta")
    ranges = client.vpcs.default_ranges()
    assert "10.0.0.0/8" in ranges.default_ipv4_ranges and ranges.forbidden_ipv4_ranges == ["192.168.128.0/17"]
    assert any(kernel.id == "linode/latest-64bit" for kernel in client.linode.kernels())
    settings = client.account.settings()
    settings.network_helper = False
    assert settings.save() and client.account.settings().network_helper is False
    assert client.account.transfer().quota == 0
    for empty in (client.networking.firewalls, client.networking.ipv6_pools, client.networking.vlans, client.volumes,
                  client.nodebalancers, client.domains, client.account.invoices, client.account.payments):
        assert list(empty()) == [], empty


def oauth_clients(garth):
    client = LinodeClient(TOKEN, base_url=f"{garth.root}/v4")
    app = client.account.oauth_client_create("App", "https://app.example/cb")
    secret = app.secret
    assert len(secret) == 64 and (app.label, app.redirect_uri, app.public) == ("App", "https://app.example/cb", False)
    app.label = "Other"
    assert app.save()
    loaded = client.load(OAuthClient, app.id)
    assert (loaded.label, loaded.secret, loaded.status) == ("Other", "<REDACTED>", "active")
    assert len(app.reset_secret()) == 64 and app.secret != secret
    assert [a.id for a in client.account.oauth_clients(OAuthClient.label == "Other")] == [app.id]
    assert app.delete() and len(client.account.oauth_clients()) == 0


TESTS = [tokens, users, profile, account_and_catalog, small_lists, oauth_clients, log_in]
