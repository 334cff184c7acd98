"""A client on Python's standard library, and pytest's own fixture for tests of plugins."""

import json
import os
import shutil
import urllib.error
import urllib.request
from dataclasses import dataclass

import pytest

pytest_plugins = ["pytester"]
# The binary of the environment, for tests that change it.
BINARY = os.environ.get("GARTH_BINARY") or shutil.which("garth")


@dataclass
class Client:
    url: str
    token: str

    def send(self, method, path, body=None):
        """Returns the status and the decoded body."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def create_vpc(self, label):
        status, vpc = self.send("POST", "/vpcs", {"label": label, "region": "us-east"})
        assert status == 200, vpc
        return vpc

    def labels(self):
        status, page = self.send("GET", "/vpcs")
        assert status == 200, page
        return [vpc["label"] for vpc in page["data"]]


@pytest.fixture
def client_of():
    return lambda owner: Client(owner.api_url, owner.token)


@pytest.fixture
def client(garth_tenant, client_of):
    return client_of(garth_tenant)


@pytest.fixture
def binary():
    assert BINARY, "set GARTH_BINARY to the path of garth"
    return BINARY
