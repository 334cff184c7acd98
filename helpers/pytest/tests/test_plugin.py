"""The plugin in other runs of pytest: options, errors, isolation between tests, workers, and the end of the server."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pytest_garth

ONE_TEST = "def test_one(garth_tenant): pass\n"


def fake_binary(folder, script):
    path = folder / "garth"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def assert_one_error(result, *lines):
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(lines)
    # The error is the message alone, without a traceback through the plugin.
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*process.py*")


def test_a_missing_binary_is_named(pytester):
    pytester.makepyfile(ONE_TEST)
    result = pytester.runpytest("--garth-binary", "/nonexistent/garth")
    assert_one_error(result, "there is no program /nonexistent/garth; set --garth-binary or GARTH_BINARY to the path of garth")


def test_a_binary_that_is_not_on_the_path_is_reported(pytester, monkeypatch):
    monkeypatch.delenv("GARTH_BINARY", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    pytester.makepyfile(ONE_TEST)
    assert_one_error(pytester.runpytest(), "garth is not on the PATH; install it, or set *")


def test_an_old_binary_is_reported_with_the_needed_version(pytester):
    old = fake_binary(pytester.path, "echo \"error: unexpected argument '--test-control' found\" >&2; exit 2")
    pytester.makepyfile(ONE_TEST)
    result = pytester.runpytest("--garth-binary", str(old))
    assert_one_error(result, "*/garth has no option --test-control; install Garth 0.2.0 or later")


def test_an_unknown_argument_is_reported_by_the_server(pytester, binary):
    pytester.makepyfile(ONE_TEST)
    result = pytester.runpytest("--garth-binary", binary, "--garth-arg=--bogus")
    assert_one_error(result, "* did not start: *unexpected argument '--bogus' found*")


def test_a_failed_start_shows_the_message_of_the_server(pytester, binary):
    pytester.makepyfile(ONE_TEST)
    result = pytester.runpytest("--garth-binary", binary, "--garth-arg=--chaos=unknown")
    assert_one_error(result, "* did not start: *unknown*")


def test_settings_of_the_environment_do_not_affect_the_server(binary, monkeypatch):
    monkeypatch.setenv("GARTH_CHAOS", "unknown")
    pytest_garth.start(binary).stop()


def test_another_program_is_not_taken_for_a_server(pytester):
    other = fake_binary(pytester.path, "echo hello")
    pytester.makepyfile(ONE_TEST)
    assert_one_error(pytester.runpytest("--garth-binary", str(other)), "*is not Garth 0.2.0 or later; it printed 'hello?n'")


def test_a_url_without_test_control_is_reported(pytester):
    pytester.makepyfile(ONE_TEST)
    assert_one_error(pytester.runpytest("--garth-url", "http://127.0.0.1:9"), "http://127.0.0.1:9 is not a server with test control *")
    assert_one_error(pytester.runpytest("--garth-url", "127.0.0.1:9"), "127.0.0.1:9 is not the URL of a server; *")


def test_a_running_server_is_used_and_not_stopped(pytester, binary):
    server = pytest_garth.start(binary)
    try:
        pytester.makepyfile(f"def test_url(garth_tenant): assert garth_tenant.url == {server.url!r}\n")
        pytester.runpytest("--garth-url", server.url).assert_outcomes(passed=1)
        server.now()
    finally:
        server.stop()
    with pytest.raises(pytest_garth.GarthError):
        server.now()


def test_changes_end_with_the_test_and_rows_remain(pytester, binary):
    pytester.makepyfile(
        """
        from datetime import datetime, timezone
        import json, urllib.request

        tenants = []

        def get(tenant):
            request = urllib.request.Request(f"{tenant.api_url}/vpcs", headers={"Authorization": f"Bearer {tenant.token}"})
            return json.load(urllib.request.urlopen(request))["data"]

        def test_change(garth, garth_tenant):
            tenants.append(garth_tenant)
            garth.freeze("2024-06-01T12:00:00")
            garth.change_settings({"quota.vpcs_per_region": 1})
            get(garth_tenant)
            garth.fail_next(times=None, status=500)

        def test_after(garth):
            assert garth.requests() == []
            assert garth.faults() == []
            assert abs((garth.now() - datetime.now(timezone.utc)).total_seconds()) < 60
            assert not garth._send("GET", "/clock")["frozen"]
            assert garth._send("PUT", "/settings", {}) == {}
            assert get(tenants[0]) == []
        """
    )
    pytester.runpytest("-p", "no:randomly", "--garth-binary", binary).assert_outcomes(passed=2)


def test_tests_without_the_fixtures_start_no_server(pytester):
    pytester.makepyfile("def test_one(): pass")
    pytester.runpytest("--garth-binary", "/nonexistent/garth").assert_outcomes(passed=1)


def test_each_worker_of_xdist_has_a_server(pytester, binary):
    import xdist  # noqa: F401: this test needs it

    pytester.makepyfile(
        """
        import os, pathlib, pytest

        @pytest.mark.parametrize("number", range(8))
        def test_url(garth, garth_tenant, number):
            garth.freeze(f"20{10 + number}-01-01T00:00:00")
            with open("urls", "a") as file:
                file.write(f"{os.environ['PYTEST_XDIST_WORKER']} {garth.url}\\n")
            assert garth.now().year == 2010 + number
        """
    )
    pytester.runpytest("-n", "2", "--garth-binary", binary).assert_outcomes(passed=8)
    pairs = {tuple(line.split()) for line in (pytester.path / "urls").read_text().splitlines()}
    assert len(pairs) == len({worker for worker, _ in pairs}) == len({url for _, url in pairs})


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_server_ends_with_the_process_of_the_tests(pytester, binary, number):
    pytester.makepyfile(
        """
        import time

        def test_wait(garth):
            print(garth.url, flush=True)
            time.sleep(60)
        """
    )
    command = [sys.executable, "-m", "pytest", "-s", "--garth-binary", binary]
    env = os.environ | {"TMPDIR": str(pytester.path)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    url = next(word for line in process.stdout for word in line.split() if word.startswith("http://"))
    server = pytest_garth.connect(url)
    process.send_signal(number)
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and (is_running(server) or list(Path(pytester.path).glob("garth-test-*"))):
        time.sleep(0.05)
    assert not is_running(server)
    assert not list(Path(pytester.path).glob("garth-test-*")), "the temporary store remains"


def is_running(server):
    try:
        server.now()
    except pytest_garth.GarthError:
        return False
    return True
