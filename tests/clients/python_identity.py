"""linode_api4 on who its users are: tokens, users, grants, and log-in as its own client does it."""

import html
import json
import re
from datetime import datetime

import requests
from linode_api4 import ApiError, LinodeClient, LinodeLoginClient, OAuthScopes, User
from server import TOKEN


class Browser:
    """Just enough of one to log in: it keeps cookies and sends forms."""

    def __init__(self, garth):
        self.garth = garth
        self.cookies = {}

    def send(self, path, form=None):
        url = path if path.startswith("http") else f"{self.garth.root}/oauth/{path}"
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        answer = requests.request(
            "POST" if form else "GET", url, data=form, headers={"Cookie": cookies}, allow_redirects=False, timeout=60
        )
        self.cookies |= {cookie.name: cookie.value for cookie in answer.cookies}
        return answer

    def submit(self, page, path, **fields):
        for name in ("form_token", "return_to"):
            fields[name] = html.unescape(re.search(f'name="{name}" value="([^"]*)"', page.text)[1])
        return self.send(path, fields)


def log_in(garth):
    """The log-in client of linode_api4, unchanged: code, refresh and end of a token."""
    garth.command("user", "password", "admin", "--password-stdin", stdin="correct horse battery staple")
    made = garth.command("client", "create", "--label", "Python", "--redirect-uri", "http://localhost:4567/callback", "--json")
    made = json.loads(made)
    login = LinodeLoginClient(made["id"], made["secret"], base_url=garth.root)
    scopes = [OAuthScopes.Account.read_only, OAuthScopes.Linodes.read_write]

    browser = Browser(garth)
    page = browser.send(login.generate_login_url(scopes=scopes))
    sent_on = browser.submit(page, "login", username="admin", password="correct horse battery staple")
    assert sent_on.status_code == 303, sent_on.text
    page = browser.send(sent_on.headers["location"])
    back = browser.submit(page, "authorize", decision="allow").headers["location"]
    assert back.startswith("http://localhost:4567/callback?code="), back
    code = back.split("code=")[1]

    def works(token):
        try:
            return LinodeClient(token, base_url=f"{garth.root}/v4").profile().username == "admin"
        except ApiError as error:
            assert error.status == 401, error
            return False

    token, granted, expiry, refresh = login.finish_oauth(code)
    assert granted == scopes and works(token), granted
    assert 7100 < (expiry - datetime.now()).total_seconds() <= 7200
    fresh, granted, _, next_refresh = login.refresh_oauth_token(refresh)
    assert granted == scopes and works(fresh) and not works(token)
    assert login.expire_token(fresh) and not works(fresh)
    for refused in (lambda: login.refresh_oauth_token(next_refresh), lambda: login.finish_oauth(code)):
        try:
            refused()
            raise AssertionError("what has ended was given again")
        except ApiError as error:
            assert error.status == 400 and error.errors, error


def identity(garth):
    """Tokens, users, grants and OAuth clients by linode_api4."""
    client = LinodeClient(TOKEN, base_url=f"{garth.root}/v4")
    assert client.account().active_since and client.account.settings().network_helper
    token = client.profile.token_create(label="made", scopes="vpc:read_write")
    assert len(token.token) == 64 and [t.label for t in client.profile.tokens()] == ["first start", "made"]
    token.label = "renamed"
    assert token.save() and token.delete() and len(client.profile.tokens()) == 1
    user = client.account.user_create("ada@example.com", "ada", restricted=True)
    vpc = client.vpcs.create("granted", "us-mia")
    grants = user.grants
    grants.global_grants.add_vpcs = True
    grants.vpc[0].permissions = "read_write"
    grants.save()
    user.invalidate()
    assert user.grants.vpc[0].permissions == "read_write" and user.grants.global_grants.add_vpcs
    user.restricted = False
    assert user.save() and not client.load(User, "ada").restricted and not hasattr(client.load(User, "ada").grants, "vpc")
    assert user.delete() and vpc.delete() and [u.username for u in client.account.users()] == ["admin"]
    app = client.account.oauth_client_create("App", "https://app.example/cb")
    assert len(app.secret) == 64
    app.label = "Other"
    assert app.save() and len(app.reset_secret()) == 64 and app.delete()
    assert len(client.account.oauth_clients()) == 0


TESTS = [identity, log_in]
