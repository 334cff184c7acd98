"""Load from wrk, and what it cost the server."""

import os
import shutil
import subprocess
import sys
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from machine import TOKEN, Trouble, own_environment

HERE = Path(__file__).resolve().parent

# With PostgreSQL: its CPU time, and how often a transaction was undone by it and run again; per request.
Sample = namedtuple("Sample", "throughput cpu_micros requests database_micros retries", defaults=[None, None])


def make_sure_of_wrk():
    if shutil.which("wrk"):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Trouble("wrk is not there: install it (Debian: apt-get install wrk)")
    print("wrk is not there: installing it with apt-get", flush=True)
    install = ["apt-get", "install", "--yes", "--quiet", "wrk"]
    # A fresh machine may have no lists of packages yet.
    for command in (install, ["apt-get", "update", "--quiet"], install):
        subprocess.run(command, stdout=subprocess.DEVNULL)
        if shutil.which("wrk"):
            return
    raise Trouble("apt-get could not install wrk; its messages are above")


def put(server, path, clients, seconds, script="result.lua", arguments=(), database=None, headers=()):
    """Keeps a server busy for a while; every answer must be a 200."""
    command = ["wrk", "--threads", "1", "--connections", str(clients), "--duration", f"{seconds}s"]
    # A slow disk is for the figures to show; it is no error.
    command += ["--timeout", "30s", "--script", script]
    command += ["--header", f"Authorization: Bearer {TOKEN}", "--header", "Content-Type: application/json"]
    command += [word for header in headers for word in ("--header", header)]
    command += [server.url + path, "--", *arguments]
    retries_before = server.metric("garth_store_retries_total") if database else 0
    database_before = database.cpu_seconds() if database else 0
    before = server.cpu_seconds()
    try:
        wrk = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=seconds + 20)
    except subprocess.TimeoutExpired:
        raise server.trouble(f"kept wrk from ending within {seconds + 20} seconds") from None
    cpu = server.cpu_seconds() - before
    database_cpu = database.cpu_seconds() - database_before if database else 0

    result = read_result("wrk", wrk)
    if result["not_200"] or result["broken"] or not result["requests"]:
        raise server.trouble(f"did not answer every request with 200: wrk counted {result}")
    requests = result["requests"]
    throughput, each = requests / (result["micros"] / 1e6), 1e6 / requests
    if not database:
        return Sample(throughput, cpu * each, requests)
    retries = server.metric("garth_store_retries_total") - retries_before
    return Sample(throughput, cpu * each, requests, database_cpu * each, retries / requests)


def put_on_all(servers, path, clients, seconds, database, ways):
    """Keeps several nodes of one database busy at once, each with its share of the clients; `ways` are the nodes' own."""
    database_before = database.cpu_seconds()
    with ThreadPoolExecutor() as pool:
        shares = [clients // len(servers) + (number < clients % len(servers)) for number in range(len(servers))]
        runs = [
            pool.submit(put, server, path, share, seconds, **own) for server, share, own in zip(servers, shares, ways)
        ]
        samples = [run.result() for run in runs]
    requests = sum(sample.requests for sample in samples)
    cpu = sum(sample.cpu_micros * sample.requests for sample in samples)
    database_micros = (database.cpu_seconds() - database_before) * 1e6
    throughput = sum(sample.throughput for sample in samples)
    return Sample(throughput, cpu / requests, requests, database_micros / requests)


def write_rows(program, folder, seconds, *more):
    """Writes what a create writes straight into SQLite."""
    before = os.times()
    command = [program, "raw", "--data", folder, "--seconds", str(seconds), *more]
    env = {**own_environment(), "GARTH_BOOTSTRAP_TOKEN": TOKEN}
    writer = subprocess.run(command, capture_output=True, text=True, env=env)
    after = os.times()
    result = read_result("writing rows", writer)
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    requests = result["requests"]
    return Sample(requests / (result["micros"] / 1e6), cpu * 1e6 / requests, requests)


def flood(program, server, path, rate, seconds, before, connections):
    """Asks at a steady pace, answered or not; what came back."""
    command = [program, "open-loop", "--to", server.url.removeprefix("http://"), "--path", path, "--rate", str(rate)]
    command += ["--seconds", str(seconds), "--before", str(before), "--connections", str(connections)]
    env = {**own_environment(), "GARTH_BOOTSTRAP_TOKEN": TOKEN}
    ended = subprocess.run(command, capture_output=True, text=True, env=env, timeout=seconds + before + 60)
    return read_result("the flood", ended)


def write_files(folder, ways, seconds):
    """Writes the files of upload.lua by hand, and removes them."""
    folder.mkdir()
    before = os.times()
    command = [sys.executable, HERE / "write_files.py", folder, str(ways), str(seconds)]
    writer = subprocess.run(command, capture_output=True, text=True)
    after = os.times()
    result = read_result("writing files", writer)
    shutil.rmtree(folder)
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    requests = result["requests"]
    return Sample(requests / (result["micros"] / 1e6), cpu * 1e6 / requests, requests)


def read_result(what, ended):
    lines = [line for line in ended.stdout.splitlines() if line.startswith("RESULT ")]
    if ended.returncode != 0 or not lines:
        raise Trouble(f"{what} failed:\n{ended.stdout}{ended.stderr}")
    return {name: int(value) for name, value in (word.split("=") for word in lines[0].split()[1:])}
