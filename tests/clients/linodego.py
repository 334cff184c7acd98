"""linodego, the Go client. The program in `go/` runs the tests; `./check` builds it."""

import os
import re
import subprocess
from pathlib import Path

from server import NO_NETWORK, TOKEN

TESTS = [
    "VPCs",
    "subnets",
    "addresses in VPCs",
    "instances",
    "disks",
    "configs",
    "interfaces",
    "events and waiting",
    "addresses of instances",
    "tags",
    "tickets",
    "profile and SSH keys",
    "tokens and OAuth clients",
    "users and grants",
    "account and settings",
    "regions, types and images",
    "empty collections",
    "refusals and errors",
]


def client():
    module = (Path(__file__).parent / "go" / "go.mod").read_text()
    return f"linodego {re.search(r'linode/linodego v([0-9.]+)', module)[1]}"


def run(garth, program, name):
    garth.command("user", "create", "--account", "1", "--username", "frank", "--email", "frank@example.com", "--restricted")
    restricted = garth.command("token", "create", "--user", "frank")
    command = [program, garth.root, TOKEN, restricted, name]
    env = os.environ | NO_NETWORK
    result = subprocess.run(command, env=env, capture_output=True, text=True, timeout=180)
    assert result.returncode == 0, summary(result.stderr)


def summary(panic):
    """The message of a panic and the line of the test that caused it."""
    message = next((line for line in panic.splitlines() if line.startswith("panic: ")), panic.strip())
    lines = re.findall(r"clients/((?!main)\w+\.go:\d+)", panic)
    return f"{message} ({lines[0] if lines else 'no line'})"
