"""Runs the client commands of the README as written.

Only the address is replaced with the address of the server under test.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import requests
from server import NO_NETWORK, TEST_HEADERS, TOKEN

README_ADDRESS = "127.0.0.1:8080"
HEADING = "## Point a client at Garth"
README = Path(__file__).parents[2] / "README.md"


def code_block(garth, language):
    """The only code block of a language below the heading, with the address of the server."""
    section = README.read_text().split(f"\n{HEADING}\n")[1].split("\n## ")[0]
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    assert README_ADDRESS in block, f"the {language} block has no address"
    return block.replace(README_ADDRESS, garth.address)


def assert_prints_vpc(garth, command, **env):
    """Creates a VPC and runs a command that must list it."""
    headers = {"Authorization": f"Bearer {TOKEN}", **TEST_HEADERS}
    created = requests.post(f"{garth.root}/v4/vpcs", json={"label": "core", "region": "us-east"}, headers=headers, timeout=60)
    assert created.status_code == 200, created.text
    env = {"PATH": os.environ["PATH"], "HOME": garth.folder.name, "GARTH_TOKEN": TOKEN, **NO_NETWORK, **env}
    result = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert result.returncode == 0 and re.search(r"\bcore\b", result.stdout), f"{result.stdout} {result.stderr}"


def python(garth):
    assert_prints_vpc(garth, [sys.executable, "-c", code_block(garth, "python")])


def command_line(garth, folder):
    path = f"{Path(folder).resolve()}/bin:{os.environ['PATH']}"
    assert_prints_vpc(garth, ["bash", "-euc", code_block(garth, "sh")], PATH=path)


def node(garth, folder):
    # Node searches for packages next to the file.
    program = Path(folder) / f"readme-{os.getpid()}.mjs"
    program.write_text(code_block(garth, "js"))
    try:
        assert_prints_vpc(garth, ["node", str(program)])
    finally:
        program.unlink()


def web_app(garth):
    """The URLs of the settings work, and the command next to them creates the client."""
    block = code_block(garth, "ini")
    settings = dict(line.split("=", 1) for line in block.splitlines())
    assert requests.get(f"{settings['REACT_APP_API_ROOT']}/regions", headers=TEST_HEADERS, timeout=60).status_code == 200
    assert requests.get(f"{settings['REACT_APP_LOGIN_ROOT']}/logout", headers=TEST_HEADERS, timeout=60).status_code == 200
    section = README.read_text().split(f"\n{HEADING}\n")[1]
    command = re.search(r"`garth (client create [^`]*)`", section)[1]
    arguments = [argument.strip('"') for argument in re.findall(r'"[^"]*"|\S+', command)]
    assert f"{settings['REACT_APP_APP_ROOT']}/oauth/callback" in arguments, arguments
    output = garth.command(*arguments)
    assert re.search(r"\b[0-9a-f]{20}\b", output), output
