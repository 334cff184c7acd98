"""The lines of the README that point a client at Garth, run as they are written.

Only the address is replaced, by that of the server under test.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import requests
from server import NOWHERE, OWN, TOKEN

HERE = "127.0.0.1:8080"
HEADING = "## Point a client at Garth"
README = Path(__file__).parents[2] / "README.md"


def lines(garth, language):
    """The one block of that language below the heading, with the server's address in it."""
    section = README.read_text().split(f"\n{HEADING}\n")[1].split("\n## ")[0]
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    assert HERE in block, f"the lines in {language} name no server"
    return block.replace(HERE, garth.address)


def prints_the_vpc(garth, command, **env):
    """What is listed is there because it was made here."""
    own = {"Authorization": f"Bearer {TOKEN}", **OWN}
    made = requests.post(f"{garth.root}/v4/vpcs", json={"label": "core", "region": "us-east"}, headers=own, timeout=60)
    assert made.status_code == 200, made.text
    env = {"PATH": os.environ["PATH"], "HOME": garth.folder.name, "GARTH_TOKEN": TOKEN, **NOWHERE, **env}
    ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert ran.returncode == 0 and re.search(r"\bcore\b", ran.stdout), f"{ran.stdout} {ran.stderr}"


def python(garth):
    prints_the_vpc(garth, [sys.executable, "-c", lines(garth, "python")])


def command_line(garth, folder):
    path = f"{Path(folder).resolve()}/bin:{os.environ['PATH']}"
    prints_the_vpc(garth, ["bash", "-euc", lines(garth, "sh")], PATH=path)


def node(garth, folder):
    # Packages are looked for beside the file.
    program = Path(folder) / f"readme-{os.getpid()}.mjs"
    program.write_text(lines(garth, "js"))
    try:
        prints_the_vpc(garth, ["node", str(program)])
    finally:
        program.unlink()


def web_app(garth):
    """Its settings name places that are there, and a client that the command beside them makes."""
    block = lines(garth, "ini")
    settings = dict(line.split("=", 1) for line in block.splitlines())
    assert requests.get(f"{settings['REACT_APP_API_ROOT']}/regions", headers=OWN, timeout=60).status_code == 200
    assert requests.get(f"{settings['REACT_APP_LOGIN_ROOT']}/logout", headers=OWN, timeout=60).status_code == 200
    section = README.read_text().split(f"\n{HEADING}\n")[1]
    command = re.search(r"`garth (client create [^`]*)`", section)[1]
    words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', command)]
    assert f"{settings['REACT_APP_APP_ROOT']}/oauth/callback" in words, words
    said = garth.command(*words)
    assert re.search(r"\b[0-9a-f]{20}\b", said), said
