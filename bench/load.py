"""Load from wrk, and what it cost the server."""

import os
import shutil
import subprocess
from collections import namedtuple
from pathlib import Path

from machine import TOKEN, Trouble

HERE = Path(__file__).resolve().parent

Sample = namedtuple("Sample", "throughput cpu_micros requests")


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


def put(server, path, clients, seconds, script="result.lua", arguments=()):
    """Keeps a server busy for a while; every answer must be a 200."""
    command = ["wrk", "--threads", "1", "--connections", str(clients), "--duration", f"{seconds}s"]
    # A slow disk is for the figures to show; it is no error.
    command += ["--timeout", "30s", "--script", script]
    command += ["--header", f"Authorization: Bearer {TOKEN}", "--header", "Content-Type: application/json"]
    command += [server.url + path, "--", *arguments]
    before = server.cpu_seconds()
    try:
        wrk = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=seconds + 20)
    except subprocess.TimeoutExpired:
        raise server.trouble(f"kept wrk from ending within {seconds + 20} seconds") from None
    cpu = server.cpu_seconds() - before

    lines = [line for line in wrk.stdout.splitlines() if line.startswith("RESULT ")]
    if wrk.returncode != 0 or not lines:
        raise Trouble(f"wrk failed:\n{wrk.stdout}{wrk.stderr}")
    result = {name: int(value) for name, value in (word.split("=") for word in lines[0].split()[1:])}
    if result["not_200"] or result["broken"] or not result["requests"]:
        raise server.trouble(f"did not answer every request with 200: wrk counted {lines[0][7:]}")
    requests = result["requests"]
    return Sample(requests / (result["micros"] / 1e6), cpu * 1e6 / requests, requests)
