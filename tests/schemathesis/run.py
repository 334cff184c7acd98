"""Runs schemathesis against a server: every operation of its OpenAPI document, all checks, all phases.

`./check` runs this with the Python of an environment that has schemathesis. hooks.py has the exceptions
and their reasons; any other difference from the document is a failure. So is an operation that never
succeeds, because then it was not tested.

A longer run: run.py GARTH --examples 200 --seed 7
"""

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fixtures import Fixtures

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "clients"))
from server import Garth  # noqa: E402

# The users of each part of the API: the first sends the requests, and the others must not see its objects.
PARTS = {"tenants": ["ada", "eve"], "the desk": ["grace"], "public": []}

# Operations that may never succeed, because their input cannot be generated. tests/api and tests/clients
# test all of them.
UNREACHABLE = {
    "assignIps": "is not offered",
    "shareIps": "is not offered",
    "deleteInstanceIp": "needs an instance with two public addresses",
    "setInstancePassword": "needs an instance that is shut down and has one disk",
    "createTicketAttachment": "needs a file name with an accepted extension",
    "createDeskAttachment": "needs a file name with an accepted extension",
    "orderConfigInterfaces": "needs the IDs of all current interfaces of a config",
    "getProfileLogin": "needs a log-in in a browser",
    "getAccountLogin": "needs a log-in in a browser",
    "getProfileApp": "needs an application that a user has authorized in a browser",
    "deleteProfileApp": "needs an application that a user has authorized in a browser",
    "authorizeDecision": "needs the form of a page, and its cookie",
    "joinAgent": "needs a join token",
    "setBrandingLogo": "needs an image",
    "setBrandingFavicon": "needs an image",
    "updateProviderAccountUser": "needs a user of the same account",
    "getProviderAccountUserMails": "needs a user of the same account",
    "reactivateProviderAccount": "needs a suspended account",
    "mergeDeskTicket": "needs two open tickets of one account",
    "deleteSuppressedAddress": "needs an address that a mail server has refused",
    "cancelJob": "needs a job that is not recurring",
    "logIn": "needs the form of a page, and its cookie",
    "getOauthToken": "needs a code that a user has authorized in a browser",
    "requestPasswordReset": "needs the form of a page, and its cookie",
    "getPasswordPage": "needs a link that was sent to a user",
    "setPassword": "needs a link that was sent to a user",
}

SETTINGS = """
request-timeout = 30
max-redirects = 0
# A stream never ends. Its first event represents all of them.
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
# docs/decisions/0003 defines the order of checks: size limits first, and If-Match before the body.
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 412, 413, 414, 415, 431]
# Any other 4xx needs one of the codes in hooks.py.
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", 401, 403, 404]
# An idle stream sends nothing: few requests, and a short timeout.
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
    """The IDs of the operations of a part."""
    for path in document["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict) and "operationId" in operation:
                if "Agents" in operation["tags"] and operation["security"]:
                    # No user can use these operations. tests/api tests them.
                    continue
                secured = "the desk" if {"Desk", "Hosts", "Provider", "Mail"} & set(operation["tags"]) else "tenants"
                if part == (secured if operation["security"] else "public"):
                    yield operation["operationId"]


def settings(folder, fixtures, users, examples):
    """Writes the settings file of a run: users and number of examples."""
    auth = ""
    if users:
        header = lambda user: {"name": "Authorization", "value": f"Bearer {fixtures.tokens[user]}"}
        entries = [{"name": user, "fixedHeaders": [header(user)]} for user in users]
        path = folder / "users.json"
        path.write_text(json.dumps({"auth": entries}))
        auth = AUTH.format(path=json.dumps(str(path)), user=json.dumps(users[0]))
        if len(users) > 1:
            auth += f"peers = {json.dumps(users)}\n"
    file = folder / "schemathesis.toml"
    file.write_text(SETTINGS.format(auth=auth, examples=examples))
    return file


def unreached(chosen, responses, document):
    """The operations that never succeeded, but should have. Operations that Garth does not offer are excluded."""
    all_operations = [operation for path in document["paths"].values() for operation in path.values()]
    not_offered = {
        operation["operationId"]
        for operation in all_operations
        if isinstance(operation, dict) and not any(status[0] in "23" for status in operation["responses"])
    }
    lines = responses.read_text().splitlines() if responses.exists() else []
    succeeded = {line.split()[0] for line in lines if line.split()[1][0] in "23"}
    return [name for name in chosen if name not in succeeded and name not in UNREACHABLE and name not in not_offered]


def run(part, options):
    """Tests one part with its own server; returns whether it passed, and the output."""
    started = time.monotonic()
    with Garth(options.binary) as garth:
        fixtures = Fixtures(garth)
        folder = Path(garth.folder.name)
        chosen = [name for name in operations(fixtures.document, part) if name in (options.operation or [name])]
        if not chosen:
            return True, ""
        responses = folder / "responses"
        file = settings(folder, fixtures, PARTS[part], options.examples)
        program = Path(sys.executable).with_name("schemathesis")
        command = [program, "--config-file", file, "run", f"{garth.root}/openapi.json", "--no-color"]
        command += ["--checks", "all", "--phases", "examples,coverage,fuzzing,stateful", "--continue-on-failure"]
        command += ["--seed", options.seed]
        # The generator is slow on a busy machine, which says nothing about the server.
        command += ["--suppress-health-check", "too_slow"]
        for name in chosen:
            command += ["--include-operation-id", name]
        env = {**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE)}
        env |= {"GARTH_PROTECTED_IDS": json.dumps(fixtures.protected), "GARTH_RESPONSES_FILE": str(responses)}
        result = subprocess.run(list(map(str, command)), env=env, cwd=folder, text=True, capture_output=True)
        fixtures.check_tokens()
        missing = [] if options.operation else unreached(chosen, responses, fixtures.document)
    passed = result.returncode == 0 and not missing
    output = [] if passed and not options.verbose else [result.stdout, result.stderr]
    output += [f"{name} never succeeded" for name in missing]
    counted = next((line.strip() for line in result.stdout.splitlines() if " generated" in line), "no count")
    took = time.monotonic() - started
    output.append(f"{'ok    ' if passed else 'FAILED'} {part}: {len(chosen)} operations, {counted} ({took:.0f} s)")
    return passed, "\n".join(output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the garth binary")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the random generator")
    parser.add_argument("--examples", type=int, default=5, help="the number of random requests per operation")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part")
    parser.add_argument("--operation", action="append", metavar="ID", help="only this operation")
    parser.add_argument("--verbose", action="store_true", help="show the output of schemathesis")
    options = parser.parse_args()
    all_passed = True
    with ThreadPoolExecutor(2) as pool:
        for passed, output in pool.map(lambda part: run(part, options), options.part or PARTS):
            all_passed = all_passed and passed
            print(output, flush=True)
    return 0 if all_passed else 1


if __name__ == "__main__":
    sys.exit(main())
