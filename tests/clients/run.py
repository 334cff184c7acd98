"""Tests unchanged clients of the public service against a server.

`./check` runs this with the Python of an environment that has linode_api4. Each test gets its own
server on a fresh store; with GARTH_TEST_ENGINE=postgres and `tests/postgres`, the store is a PostgreSQL
database. `--table` compares the operations that each client called with docs/clients.md, and
`--table … --update` updates that file.
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
import command_line_other_products
import coverage
import javascript
import linodego
import python_client
import python_identity
import python_other_products
import readme
import web_app
import web_app_shell
from sequences import linodego_v2, terraform_account, terraform_compute, web_app_pages
from server import Garth

# Clients that are in no registry: sequences of the requests that they send.
SEQUENCES = {
    coverage.TERRAFORM: terraform_compute.TESTS + terraform_account.TESTS,
    coverage.LINODEGO_2: linodego_v2.TESTS,
}


def selected_tests(options):
    """The selected tests, each with its client and its name. Slow tests come first."""
    tests = []
    for folder in options.linode_cli:
        version = Path(folder).name.removeprefix("linode-cli-")
        with_version = functools.partial(functools.partial, folder=folder)
        for test in command_line.TESTS + command_line_identity.TESTS + command_line_other_products.TESTS:
            tests.append((f"linode-cli {version}", title(test), with_version(test)))
        tests.append((f"linode-cli {version}", "README", with_version(readme.command_line)))
    if options.node:
        for name in javascript.TESTS:
            test = functools.partial(javascript.run, folder=options.node, name=name)
            tests.append((javascript.client(options.node), name, test))
        tests.append((javascript.client(options.node), "README", functools.partial(readme.node, folder=options.node)))
    if options.linodego:
        for name in linodego.TESTS:
            tests.append((linodego.client(), name, functools.partial(linodego.run, program=options.linodego, name=name)))
    if options.linode_api4:
        for test in python_client.TESTS + python_identity.TESTS + python_other_products.TESTS:
            tests.append((python_client.client(), title(test), test))
        tests.append((python_client.client(), "README", readme.python))
    if options.web_app:
        for test in web_app.TESTS + web_app_shell.TESTS:
            tests.append(("web app", title(test), test))
        tests.append(("web app", "README", readme.web_app))
    if options.sequences:
        for client, sequences in SEQUENCES.items():
            tests += [(client, title(test), test) for test in sequences]
        tests += [("web app", title(test), test) for test in web_app_pages.TESTS]
    return tests


def title(test):
    return test.__name__.replace("_", " ")


def run(binary, test):
    """Runs a test; returns the operations that it called, the duration, and an error or None."""
    started, called, error_text = time.monotonic(), set(), None
    try:
        with Garth(binary) as garth:
            test(garth)
        # With chaos, requests fail on purpose.
        called = set() if Garth.arguments else garth.called_operations(coverage.REFUSED)
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        message = f"{type(error).__name__}: {error}"[:2000] if str(error) else at.line
        error_text = f"{message} ({Path(at.filename).name}:{at.lineno})"
    return called, time.monotonic() - started, error_text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the garth binary")
    parser.add_argument("--linode-api4", action="store_true", help="test the Python client of this environment")
    parser.add_argument("--linode-cli", action="append", default=[], metavar="FOLDER", help="an environment with linode-cli")
    parser.add_argument("--node", metavar="FOLDER", help="the folder with the packages of package-lock.json")
    parser.add_argument("--linodego", metavar="PROGRAM", help="the program that go/ builds")
    parser.add_argument("--web-app", action="store_true", help="replay the requests of the web app")
    parser.add_argument("--sequences", action="store_true", help="send the requests of clients that are in no registry")
    parser.add_argument("--only", default="", metavar="WORD", help="only tests whose names contain this word")
    parser.add_argument("--table", metavar="FILE", help="compare the called operations with this file")
    parser.add_argument("--update", action="store_true", help="update the file instead")
    parser.add_argument("--chaos", metavar="SEED", help="with random faults, such as light-7; tests fail if the client does not retry")
    options = parser.parse_args()
    if options.chaos and options.table:
        parser.error("--chaos: the table lists operations without faults; omit --table")
    if options.chaos:
        Garth.arguments = ["--chaos", options.chaos]

    tests = [test for test in selected_tests(options) if options.only in f"{test[0]}, {test[1]}"]
    called, failed = {client: set() for client, _, _ in tests}, 0
    # The processes of the clients take most of the time. Run one for each core, and one more.
    with ThreadPoolExecutor((os.cpu_count() or 1) + 1) as pool:
        running = {pool.submit(run, options.binary, test): (client, name) for client, name, test in tests}
        for done in as_completed(running):
            (client, name), (operations, seconds, error_text) = running[done], done.result()
            called[client] |= operations
            failed += error_text is not None
            print(f"FAILED {client}, {name}: {error_text}" if error_text else f"ok     {client}, {name} ({seconds:.0f} s)", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    if options.table and not failed:
        document = json.loads(subprocess.run([options.binary, "openapi"], check=True, capture_output=True).stdout)
        failed += not coverage.check(document, called, Path(options.table), options.update)
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
