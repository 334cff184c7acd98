"""Runs wrk and other load generators, and measures the server."""

import os
import shutil
import subprocess
import sys
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from machine import TOKEN, BenchmarkError, clean_environment

HERE = Path(__file__).resolve().parent

# With PostgreSQL: its CPU time and the retried transactions, per request.
Sample = namedtuple("Sample", "throughput cpu_micros requests database_micros retries", defaults=[None, None])


def require_wrk():
    if shutil.which("wrk"):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise BenchmarkError("wrk is not installed: install it (Debian: apt-get install wrk)")
    print("wrk is not installed: installing it with apt-get", flush=True)
    install = ["apt-get", "install", "--yes", "--quiet", "wrk"]
    # A new machine may have no package lists yet.
    for command in (install, ["apt-get", "update", "--quiet"], install):
        subprocess.run(command, stdout=subprocess.DEVNULL)
        if shutil.which("wrk"):
            return
    raise BenchmarkError("apt-get could not install wrk; its messages are above")


def run(server, path, clients, seconds, script="result.lua", arguments=(), database=None, headers=(), token=TOKEN):
    """Runs wrk for some seconds. Every response must be a 200."""
    command = ["wrk", "--threads", "1", "--connections", str(clients), "--duration", f"{seconds}s"]
    # A slow disk affects the figures; it is not an error.
    command += ["--timeout", "30s", "--script", script]
    command += ["--header", f"Authorization: Bearer {token}", "--header", "Content-Type: application/json"]
    command += [word for header in headers for word in ("--header", header)]
    command += [server.url + path, "--", *arguments]
    retries_before = server.metric("garth_store_retries_total") if database else 0
    database_before = database.cpu_seconds() if database else 0
    before = server.cpu_seconds()
    try:
        wrk = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=seconds + 20)
    except subprocess.TimeoutExpired:
        raise server.error(f"did not respond: wrk did not finish within {seconds + 20} seconds") from None
    cpu = server.cpu_seconds() - before
    database_cpu = database.cpu_seconds() - database_before if database else 0

    result = read_result("wrk", wrk)
    if result["not_200"] or result["broken"] or not result["requests"]:
        raise server.error(f"did not return 200 for every request: wrk counted {result}")
    requests = result["requests"]
    throughput, each = requests / (result["micros"] / 1e6), 1e6 / requests
    if not database:
        return Sample(throughput, cpu * each, requests)
    retries = server.metric("garth_store_retries_total") - retries_before
    return Sample(throughput, cpu * each, requests, database_cpu * each, retries / requests)


def run_on_all(servers, path, clients, seconds, database, node_options):
    """Runs wrk on several nodes concurrently, each with its share of the clients and its own options."""
    database_before = database.cpu_seconds()
    with ThreadPoolExecutor() as pool:
        shares = [clients // len(servers) + (number < clients % len(servers)) for number in range(len(servers))]
        runs = [
            pool.submit(run, server, path, share, seconds, **options)
            for server, share, options in zip(servers, shares, node_options)
        ]
        samples = [run.result() for run in runs]
    requests = sum(sample.requests for sample in samples)
    cpu = sum(sample.cpu_micros * sample.requests for sample in samples)
    database_micros = (database.cpu_seconds() - database_before) * 1e6
    throughput = sum(sample.throughput for sample in samples)
    return Sample(throughput, cpu / requests, requests, database_micros / requests)


def write_rows(program, folder, seconds, *more):
    """Writes the rows of creates directly to SQLite."""
    before = os.times()
    command = [program, "raw", "--data", folder, "--seconds", str(seconds), *more]
    env = {**clean_environment(), "GARTH_BOOTSTRAP_TOKEN": TOKEN}
    writer = subprocess.run(command, capture_output=True, text=True, env=env)
    after = os.times()
    result = read_result("writing rows", writer)
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    requests = result["requests"]
    return Sample(requests / (result["micros"] / 1e6), cpu * 1e6 / requests, requests)


def send_at_rate(program, server, path, rate, seconds, before, connections):
    """Sends requests at a constant rate, independent of responses; returns the counts."""
    command = [program, "open-loop", "--to", server.url.removeprefix("http://"), "--path", path, "--rate", str(rate)]
    command += ["--seconds", str(seconds), "--before", str(before), "--connections", str(connections)]
    env = {**clean_environment(), "GARTH_BOOTSTRAP_TOKEN": TOKEN}
    process = subprocess.run(command, capture_output=True, text=True, env=env, timeout=seconds + before + 60)
    return read_result("open-loop", process)


def write_files(folder, threads, seconds):
    """Writes the files of upload.lua directly, and deletes them."""
    folder.mkdir()
    before = os.times()
    command = [sys.executable, HERE / "write_files.py", folder, str(threads), str(seconds)]
    writer = subprocess.run(command, capture_output=True, text=True)
    after = os.times()
    result = read_result("writing files", writer)
    shutil.rmtree(folder)
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    requests = result["requests"]
    return Sample(requests / (result["micros"] / 1e6), cpu * 1e6 / requests, requests)


def read_result(name, process):
    lines = [line for line in process.stdout.splitlines() if line.startswith("RESULT ")]
    if process.returncode != 0 or not lines:
        raise BenchmarkError(f"{name} failed:\n{process.stdout}{process.stderr}")
    return {name: int(value) for name, value in (word.split("=") for word in lines[0].split()[1:])}
