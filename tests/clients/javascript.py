"""@linode/api-v4, the JavaScript client: `javascript.mjs` drives it, in a Node of its own."""

import json
import os
import subprocess
from pathlib import Path

from python_identity import CALLBACK, allow
from server import NOWHERE, TOKEN

TESTS = [
    "VPCs",
    "instances",
    "tickets",
    "lists of tickets",
    "attachments",
    "the provider's tickets",
    "tokens and users",
    "profile and programs",
    "the account and what there is",
]


def client(folder):
    lock = json.loads((Path(folder) / "package-lock.json").read_text())
    return f"@linode/api-v4 {lock['packages']['node_modules/@linode/api-v4']['version']}"


def run(garth, folder, name):
    program = Path(__file__).with_suffix(".mjs")
    if name == "profile and programs":
        made = garth.command("client", "create", "--label", "Tool", "--redirect-uri", CALLBACK, "--json")
        made = json.loads(made)
        allow(garth, made["id"], made["secret"])
    command = ["node", program, folder, garth.root, TOKEN, garth.staff("grace"), name]
    env = os.environ | NOWHERE
    ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr.strip()
