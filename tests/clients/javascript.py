"""@linode/api-v4, the JavaScript client. `javascript.mjs` runs the tests in Node."""

import json
import os
import subprocess
from pathlib import Path

from python_identity import CALLBACK, authorize
from server import NO_NETWORK, TOKEN

TESTS = [
    "VPCs",
    "instances",
    "tickets",
    "lists of tickets",
    "attachments",
    "the provider's tickets",
    "tokens and users",
    "profile and applications",
    "account and catalog",
    "products that Garth does not have",
    "catalog, permissions and settings",
    "addresses, tags, keys and log-ins",
]


def client(folder):
    lock = json.loads((Path(folder) / "package-lock.json").read_text())
    return f"@linode/api-v4 {lock['packages']['node_modules/@linode/api-v4']['version']}"


def run(garth, folder, name):
    program = Path(__file__).with_suffix(".mjs")
    if name in ("profile and applications", "addresses, tags, keys and log-ins"):
        created = garth.command("client", "create", "--label", "Tool", "--redirect-uri", CALLBACK, "--json")
        created = json.loads(created)
        authorize(garth, created["id"], created["secret"])
    command = ["node", program, folder, garth.root, TOKEN, garth.staff("grace"), name]
    env = os.environ | NO_NETWORK
    result = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr.strip()
