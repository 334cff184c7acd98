#!/usr/bin/env python3
"""Checks that the same seed and the same requests give the same bytes, with chaos and a frozen clock.

    tests/helpers/determinism.py target/debug/garth [--requests 500] [--seed SEED]
    GARTH_TEST_ENGINE=postgres tests/postgres tests/helpers/determinism.py target/debug/garth

Sends random changes, and requests for all lists that they affect, to a server with `--chaos light-SEED`, to a second
server on another empty store, and again to the first server after a reset. Statuses, headers, bodies and dropped
connections must be equal, except the ID of each request and the random `host_uuid` of each instance.

Exit code 1: the responses differ.
"""
import argparse
import hashlib
import http.client
import json
import os
import random
import re
import subprocess
import sys
import uuid
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "helpers" / "pytest" / "src"))

import pytest_garth

NOW = "2024-06-01T12:00:00"
# `date` is the time of the system, because it belongs to the connection.
OTHER_HEADERS = {"date", "x-request-id"}
# Each instance has a random value.
RANDOM_VALUES = re.compile(rb'"host_uuid":"[0-9a-f]{40}"')


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    engine = "PostgreSQL" if os.environ.get("GARTH_TEST_ENGINE") == "postgres" else "SQLite"
    print(f"{engine}, seed {options.seed}", flush=True)
    with running_server(options) as server:
        first = transcript(server, options)
        server.reset()
        after_reset = transcript(server, options)
    with running_server(options) as server:
        second = transcript(server, options)
    for name, other in (("another server", second), ("the same server after a reset", after_reset)):
        for number, (one, two) in enumerate(zip(first, other, strict=True)):
            if one != two:
                print(f"request {number} differs on {name}:\n  {one}\n  {two}")
                return 1
    statuses = [status for _, _, status, _, _ in first]
    refused = sum(status in (429, 503) for status in statuses)
    dropped = statuses.count(None)
    if not dropped or not refused:
        print(f"chaos had no effect: {dropped} dropped, {refused} refused")
        return 1
    digest = hashlib.sha256(repr(first).encode()).hexdigest()[:16]
    print(f"3 runs of {len(first)} requests are equal: {refused} refused, {dropped} dropped, SHA-256 {digest}…")
    return 0


@contextmanager
def running_server(options):
    """A server on an empty store of the engine that GARTH_TEST_ENGINE names."""
    arguments = [f"--chaos=light-{options.seed}"]
    name = None
    if os.environ.get("GARTH_TEST_ENGINE") == "postgres":
        name = f"garth_helpers_{uuid.uuid4().hex}"
        execute(f"CREATE DATABASE {name}")
        arguments += ["--database", f"{os.environ['GARTH_TEST_DATABASE'].rsplit('/', 1)[0]}/{name}"]
    server = pytest_garth.start(options.binary, arguments)
    try:
        yield server
    finally:
        server.stop()
        if name:
            execute(f"DROP DATABASE {name} WITH (FORCE)")


def execute(statement):
    program = f"{os.environ['GARTH_TEST_POSTGRES']}/psql"
    command = [program, "--quiet", "--no-psqlrc", "--dbname", os.environ["GARTH_TEST_DATABASE"], "--command", statement]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def transcript(server, options):
    """The requests and their responses."""
    server.freeze(NOW)
    generator = random.Random(options.seed)
    entries = []
    for number in range(options.requests):
        method, path, body = choose(generator, number)
        entries.append((method, path, *send(server, method, path, body)))
        if number % 50 == 0:
            server.advance(60)
    return entries


def choose(generator, number):
    """A random change, or the view of one of the lists. IDs are small, so some objects exist and others do not."""
    some = lambda: generator.randrange(1, 12)
    vpc = {"label": f"vpc-{number}", "region": "us-east", "subnets": [{"label": "a", "ipv4": "10.0.0.0/24"}]}
    dual_stack = {"label": f"dual-{number}", "region": "us-east", "ipv6": [{"range": "auto"}]}
    interface = {"purpose": "vpc", "subnet_id": some()}
    instance = {"region": "us-east", "type": "g6-nanode-1", "booted": False, "interfaces": [interface]}
    image = {"image": "linode/debian12", "root_pass": "Correct-Horse 7 Battery", "tags": ["web", f"tag-{number}"]}
    user = {"username": f"user-{number}", "email": f"user-{number}@example.com", "restricted": True}
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGarthTestsOfDeterminismWithAFixedKey00000000"
    changes = [
        ("POST", "/vpcs", vpc),
        ("POST", "/vpcs", dual_stack),
        ("PUT", f"/vpcs/{some()}", {"description": f"changed by request {number}"}),
        ("DELETE", f"/vpcs/{some()}", None),
        ("POST", f"/vpcs/{some()}/subnets", {"label": f"s-{number}", "ipv4": f"10.{some()}.0.0/24"}),
        ("POST", "/linode/instances", instance),
        ("POST", "/linode/instances", {**instance, **image}),
        ("PUT", f"/linode/instances/{some()}", {"tags": [f"tag-{some()}", "blue"]}),
        ("POST", f"/linode/instances/{some()}/boot", {}),
        ("POST", f"/linode/instances/{some()}/configs", {"label": f"config-{number}"}),
        ("POST", "/support/tickets", {"summary": f"Ticket {number}", "description": "A question"}),
        ("POST", f"/support/tickets/{some()}/replies", {"description": f"Reply {number}"}),
        ("POST", "/account/users", user),
        ("POST", "/profile/sshkeys", {"label": f"key-{number}", "ssh_key": key}),
    ]
    lists = [
        "/vpcs",
        f"/vpcs/{some()}",
        f"/vpcs/{some()}/subnets",
        "/vpcs/ips",
        "/vpcs/ipv6s",
        "/linode/instances",
        f"/linode/instances/{some()}/configs",
        f"/linode/instances/{some()}/disks",
        f"/linode/instances/{some()}/ips",
        "/networking/ips",
        "/tags",
        "/tags/blue",
        "/support/tickets",
        f"/support/tickets/{some()}/replies",
        "/account/events?page_size=50",
        "/account/users",
        "/profile/sshkeys",
        "/regions",
        "/linode/types",
        "/linode/kernels",
        "/images",
    ]
    reads = [("GET", path, None) for path in lists]
    return generator.choice(generator.choice([changes, reads]))


def send(server, method, path, body):
    """The status, the headers and the body of a response; None if the connection was dropped."""
    parts = urlsplit(server.url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    try:
        connection.request(method, f"/v4{path}", None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        headers = [(name.lower(), value) for name, value in response.getheaders()]
        content, replaced = RANDOM_VALUES.subn(b'"host_uuid":"random"', response.read())
    except (http.client.RemoteDisconnected, ConnectionError):
        return None, None, None
    finally:
        connection.close()
    if response.status >= 500 and response.status != 503:
        raise SystemExit(f"{method} {path}: {response.status} {content!r}")
    # The ETag is a hash of the body.
    omitted = OTHER_HEADERS | ({"etag"} if replaced else set())
    return response.status, [header for header in headers if header[0] not in omitted], content


if __name__ == "__main__":
    sys.exit(main())
