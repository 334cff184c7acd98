"""@linode/api-v4, the JavaScript client: `javascript.mjs` drives it, in a Node of its own."""

import subprocess
from pathlib import Path

from server import TOKEN

TESTS = ["VPCs", "instances", "tickets", "lists of tickets", "attachments", "the provider's tickets"]


def run(garth, folder, name):
    program = Path(__file__).with_suffix(".mjs")
    command = ["node", program, folder, garth.root, TOKEN, garth.staff("grace"), name]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr.strip()
