"""Unchanged clients of the public service, driven end to end against a real server.

`./check` runs this with the Python of an environment that has linode_api4. Each test gets a server
of its own, on a fresh store, which is ended with it; with GARTH_TEST_ENGINE=postgres and below
`tests/postgres` the store is a PostgreSQL database. What each client asked for, and got, is what
docs/clients.md says: `--table` holds it to that, `--table … --update` writes it anew.
"""

import argparse
import functools
import json
import os
import subprocess
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import command_line
import command_line_identity
import coverage
import javascript
import python_client
import python_identity
import readme
import web_app
import web_app_shell
from server import Garth


def chosen(options):
    """The tests that were asked for, each with its client and its name. Those that take long come first."""
    tests = []
    for folder in options.linode_cli:
        version = Path(folder).name.removeprefix("linode-cli-")
        of_version = functools.partial(functools.partial, folder=folder)
        for test in command_line.TESTS + command_line_identity.TESTS:
            tests.append((f"linode-cli {version}", named(test), of_version(test)))
        tests.append((f"linode-cli {version}", "README", of_version(readme.command_line)))
    if options.node:
        for name in javascript.TESTS:
            test = functools.partial(javascript.run, folder=options.node, name=name)
            tests.append((javascript.client(options.node), name, test))
        tests.append((javascript.client(options.node), "README", functools.partial(readme.node, folder=options.node)))
    if options.linode_api4:
        for test in python_client.TESTS + python_identity.TESTS:
            tests.append((python_client.client(), named(test), test))
        tests.append((python_client.client(), "README", readme.python))
    if options.browser:
        for test in web_app.TESTS + web_app_shell.TESTS:
            tests.append(("web app", named(test), test))
        tests.append(("web app", "README", readme.web_app))
    return tests


def named(test):
    return test.__name__.replace("_", " ")


def run(binary, test):
    """The operations that a client asked for with success, how long it took, and what went wrong if anything did."""
    begun, driven, wrong = time.monotonic(), set(), None
    try:
        with Garth(binary) as garth:
            test(garth)
        driven = garth.driven()
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        told = f"{type(error).__name__}: {error}"[:2000] if str(error) else at.line
        wrong = f"{told} ({Path(at.filename).name}:{at.lineno})"
    return driven, time.monotonic() - begun, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the garth to drive them against")
    parser.add_argument("--linode-api4", action="store_true", help="the Python client of this environment")
    parser.add_argument("--linode-cli", action="append", default=[], metavar="FOLDER", help="an environment with it")
    parser.add_argument("--node", metavar="FOLDER", help="where the packages of package-lock.json are installed")
    parser.add_argument("--browser", action="store_true", help="what the web app sends, with curl")
    parser.add_argument("--only", default="", metavar="WORD", help="tests that have this word in their name")
    parser.add_argument("--table", metavar="FILE", help="what the clients did must be what this file says")
    parser.add_argument("--update", action="store_true", help="write the table instead")
    options = parser.parse_args()

    tests = [test for test in chosen(options) if options.only in f"{test[0]}, {test[1]}"]
    driven, failed = {client: set() for client, _, _ in tests}, 0
    # The clients' own processes are what takes the time: as many at once as there are cores, and one that waits.
    with ThreadPoolExecutor((os.cpu_count() or 1) + 1) as pool:
        running = {pool.submit(run, options.binary, test): (client, name) for client, name, test in tests}
        for done in as_completed(running):
            (client, name), (asked, seconds, wrong) = running[done], done.result()
            driven[client] |= asked
            failed += wrong is not None
            print(f"FAILED {client}, {name}: {wrong}" if wrong else f"ok     {client}, {name} ({seconds:.0f} s)", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    if options.table and not failed:
        document = json.loads(subprocess.run([options.binary, "openapi"], check=True, capture_output=True).stdout)
        failed += not coverage.hold(document, driven, Path(options.table), options.update)
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
