"""The fixtures `garth` and `garth_tenant`, and the options of the plugin."""

from __future__ import annotations

from typing import Iterator

import pytest

from .connection import GarthError
from .process import start
from .server import Server, Tenant, connect

SERVER = pytest.StashKey[Server]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("garth")
    group.addoption("--garth-binary", metavar="FILE", help="the garth binary [default: $GARTH_BINARY, or garth on the PATH]")
    group.addoption("--garth-url", metavar="URL", help="use this running server (garth serve --test-control)")
    group.addoption(
        "--garth-arg",
        metavar="ARGUMENT",
        action="append",
        default=[],
        help="an additional argument of garth serve, such as --garth-arg=--chaos=light; can be repeated",
    )


@pytest.fixture(scope="session")
def garth(pytestconfig: pytest.Config) -> Iterator[Server]:
    """A server with test control. It ends with the session."""
    url = pytestconfig.getoption("--garth-url")
    arguments = pytestconfig.getoption("--garth-arg")
    try:
        if url and arguments:
            raise GarthError("--garth-arg has no effect on a running server; omit it or --garth-url")
        server = connect(url) if url else start(pytestconfig.getoption("--garth-binary"), arguments)
    except GarthError as error:
        pytest.fail(str(error), pytrace=False)
    pytestconfig.stash[SERVER] = server
    yield server
    del pytestconfig.stash[SERVER]
    server.stop()


@pytest.fixture
def garth_tenant(garth: Server) -> Tenant:
    """An account for this test, with a user and a token."""
    return garth.tenant()


@pytest.fixture(autouse=True)
def _garth_changes_end_with_the_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """Starts each test that uses the server with an empty record, and undoes its changes to clock, faults and settings."""
    if "garth" in request.fixturenames:
        request.getfixturevalue("garth").clear_requests()
    yield
    server = request.config.stash.get(SERVER, None)
    if server:
        server.undo_changes()
