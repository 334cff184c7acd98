"""schemathesis against a real server: every operation of the document it serves, all checks, all phases.

`./check` runs this with the Python of an environment that has schemathesis. What may differ from
the document, and why, is in hooks.py; whatever is not said there is a failure. So is an operation
that never succeeded: what is only ever refused is not tested.

For a longer hunt: run.py GARTH --examples 200 --seed 7
"""

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fixtures import World

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "clients"))
from server import Garth  # noqa: E402

# Who asks, by the parts of the interface: the first asks, and the others must not see what it has.
PARTS = {"tenants": ["ada", "eve"], "the desk": ["grace"], "everybody": []}

# Operations that need not succeed: what they take cannot be made up, or only by luck. tests/api and
# tests/clients do all of it.
HARD = {
    "createTicketAttachment": "needs a file whose name ends in an extension that is taken",
    "orderConfigInterfaces": "needs the ids of all interfaces that a config has at the time",
    "getProfileApp": "needs a program that a user has allowed in a browser",
    "deleteProfileApp": "needs a program that a user has allowed in a browser",
    "authorizeDecision": "needs the form of a page, and its cookie",
    "logIn": "needs the form of a page, and its cookie",
    "getOauthToken": "needs a code that a user has allowed in a browser",
    "getPasswordPage": "needs a link that was sent to a user",
    "setPassword": "needs a link that was sent to a user",
}

SETTINGS = """
request-timeout = 30
max-redirects = 0
# A stream never ends: its first event says what all of them look like.
max-stream-events = 1
{auth}
[warnings]
enabled = false
[generation]
database = "none"
max-examples = {examples}
[output.sanitization]
enabled = false
[output.truncation]
max-payload-size = 4000
[phases.stateful]
max-steps = 6
# The order of checks is that of docs/decisions/0003: If-Match is looked at before the body, and
# what is too long is refused before anything is looked at.
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 412, 413, 414, 415, 431]
# A 4xx other than these must be explained by its codes, in hooks.py.
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", 401, 403, 404]
# A stream on which nothing happens says nothing: few requests, and little patience.
[[operations]]
include-operation-id = "streamEvents"
request-timeout = 2
generation = {{ max-examples = 3 }}
"""
AUTH = """
[auth.wfc]
path = {path}
user = {user}
"""


def operations(document, part):
    """The ids of the operations of a part."""
    for path in document["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict) and "operationId" in operation:
                secured = "the desk" if "Desk" in operation["tags"] else "tenants"
                if part == (secured if operation["security"] else "everybody"):
                    yield operation["operationId"]


def settings(folder, world, users, examples):
    """The file with the settings of a run: who asks, and how much."""
    auth = ""
    if users:
        header = lambda user: {"name": "Authorization", "value": f"Bearer {world.tokens[user]}"}
        entries = [{"name": user, "fixedHeaders": [header(user)]} for user in users]
        path = folder / "users.json"
        path.write_text(json.dumps({"auth": entries}))
        auth = AUTH.format(path=json.dumps(str(path)), user=json.dumps(users[0]))
        if len(users) > 1:
            auth += f"peers = {json.dumps(users)}\n"
    file = folder / "schemathesis.toml"
    file.write_text(SETTINGS.format(auth=auth, examples=examples))
    return file


def unreached(chosen, answered):
    """The operations that never succeeded and should have."""
    lines = answered.read_text().splitlines() if answered.exists() else []
    good = {line.split()[0] for line in lines if line.split()[1][0] in "23"}
    return [name for name in chosen if name not in good and name not in HARD]


def run(part, options):
    """One part against a server of its own: whether all is well, and what to tell."""
    begun = time.monotonic()
    with Garth(options.binary) as garth:
        world = World(garth)
        folder = Path(garth.folder.name)
        chosen = [name for name in operations(world.document, part) if name in (options.operation or [name])]
        if not chosen:
            return True, ""
        answered = folder / "answered"
        file = settings(folder, world, PARTS[part], options.examples)
        program = Path(sys.executable).with_name("schemathesis")
        command = [program, "--config-file", file, "run", f"{garth.root}/openapi.json", "--no-color"]
        command += ["--checks", "all", "--phases", "examples,coverage,fuzzing,stateful", "--continue-on-failure"]
        command += ["--seed", options.seed]
        for name in chosen:
            command += ["--include-operation-id", name]
        env = {**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE)}
        env |= {"GARTH_KEPT": json.dumps(world.kept), "GARTH_ANSWERED": str(answered)}
        ran = subprocess.run(list(map(str, command)), env=env, cwd=folder, text=True, capture_output=True)
        world.still_works()
        missing = [] if options.operation else unreached(chosen, answered)
    good = ran.returncode == 0 and not missing
    told = [] if good and not options.verbose else [ran.stdout, ran.stderr]
    told += [f"{name} never succeeded" for name in missing]
    counted = next((line.strip() for line in ran.stdout.splitlines() if " generated" in line), "nothing was counted")
    took = time.monotonic() - begun
    told.append(f"{'ok    ' if good else 'FAILED'} {part}: {len(chosen)} operations, {counted} ({took:.0f} s)")
    return good, "\n".join(told)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the garth to ask")
    parser.add_argument("--seed", type=int, default=1, help="where chance begins")
    parser.add_argument("--examples", type=int, default=5, help="how many requests an operation gets by chance")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part")
    parser.add_argument("--operation", action="append", metavar="ID", help="only this operation")
    parser.add_argument("--verbose", action="store_true", help="show what schemathesis prints")
    options = parser.parse_args()
    all_good = True
    with ThreadPoolExecutor(2) as pool:
        for good, told in pool.map(lambda part: run(part, options), options.part or PARTS):
            all_good = all_good and good
            print(told, flush=True)
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main())
