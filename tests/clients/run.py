"""Unchanged clients of the public service, driven end to end against a real server.

`./check` runs this with the Python of an environment that has linode_api4. Each test gets a server
of its own, on a fresh store, which is ended with it.
"""

import argparse
import functools
import sys
import time
import traceback
from pathlib import Path

import browser
import command_line
import javascript
import python_client
import python_identity
from server import Garth


def chosen(options):
    """The tests that were asked for, by name."""
    tests = {}
    if options.linode_api4:
        for test in python_client.TESTS + python_identity.TESTS:
            tests[f"linode_api4, {named(test)}"] = test
    for folder in options.linode_cli:
        for test in command_line.TESTS:
            tests[f"{Path(folder).name}, {named(test)}"] = functools.partial(test, folder=folder)
    if options.node:
        for name in javascript.TESTS:
            tests[f"@linode/api-v4, {name}"] = functools.partial(javascript.run, folder=options.node, name=name)
    if options.browser:
        for test in browser.TESTS:
            tests[f"the browser app's requests, {named(test)}"] = test
    return tests


def named(test):
    return test.__name__.replace("_", " ")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the garth to drive them against")
    parser.add_argument("--linode-api4", action="store_true", help="the Python client of this environment")
    parser.add_argument("--linode-cli", action="append", default=[], metavar="FOLDER", help="an environment with it")
    parser.add_argument("--node", metavar="FOLDER", help="where the packages of package-lock.json are installed")
    parser.add_argument("--browser", action="store_true", help="what the browser app sends, with curl")
    options = parser.parse_args()

    tests = chosen(options)
    failed = 0
    for name, test in tests.items():
        begun = time.monotonic()
        try:
            with Garth(options.binary) as garth:
                test(garth)
            print(f"ok     {name} ({time.monotonic() - begun:.0f} s)", flush=True)
        except Exception as error:
            failed += 1
            at = traceback.extract_tb(error.__traceback__)[-1]
            told = f"{type(error).__name__}: {error}"[:2000] if str(error) else at.line
            print(f"FAILED {name}: {told} ({Path(at.filename).name}:{at.lineno})", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
