"""The data plane: throughput, convergence, many ports on a host, and many hosts of a server."""

import json
import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import simulated_hosts
from machine import BenchmarkError, clean_environment
from verdict import AGAIN, BASELINE, GARTH, Column, Goal, Table

KERNEL = "Linux"
SCRIPT = Path(__file__).resolve().parent / "dataplane_namespaces.py"
# Programs, and the Debian package of each.
TOOLS = {"ip": "iproute2", "nft": "nftables", "iperf3": "iperf3", "nsenter": "util-linux", "sysctl": "procps"}
NAMESPACES = ["--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
MAX_MINUTES = 30
# A cold start takes about a minute.
MAX_COLD_STARTS = 3

FROM_STATE, FROM_API = "from the desired state", "from the response of the API"
Traffic = namedtuple("Traffic", "megabits packets")
Duration = namedtuple("Duration", "millis")


def dataplane(programs, folder, extent):
    require_tools()
    yield from traffic(programs, extent)
    yield convergence(programs, extent)
    for driver in ("tap", "netns"):
        yield cold_start(programs, extent, driver)
    yield from simulated_hosts.changes(programs, folder, extent)


def require_tools():
    missing = {package for tool, package in TOOLS.items() if not shutil.which(tool, path=search_path())}
    if missing:
        raise BenchmarkError(f"programs are missing: apt-get install {' '.join(sorted(missing))}")


def search_path():
    """Debian installs some of these programs outside of the search path of ordinary users."""
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def traffic(programs, extent):
    """TCP throughput, and the rate of small UDP packets, between instances on two hosts."""
    columns = (Column("throughput", "Mbit/s", "megabits"), Column("packet rate", "packets/s", "packets"))
    goal = Goal(">=", 0.95)
    title = (
        f"dataplane: TCP throughput and UDP packets of 64 bytes between two hosts; {extent.rounds} rounds of "
        f"{extent.read_seconds} s\nbaseline: the same bridges and tunnels, made with ip and bridge, without filters"
    )
    table = Table(KERNEL, title, {"throughput": goal, "packet rate": goal}, columns, label="two hosts")
    for server, sample in samples(programs, "traffic", extent.rounds, extent.read_seconds):
        table.add(server, Traffic(*sample))
    yield table


def convergence(programs, extent):
    """The time until the first packet reaches a new instance."""
    title = (
        f"dataplane: from a change to the first answer of a new instance on another host; {extent.rounds} rounds\n"
        "baseline: the same objects without filters, made with prepared files for ip -batch and bridge -batch"
    )
    columns = (Column("convergence", "ms", "millis"),)
    table = Table(KERNEL, title, {}, columns, contenders=(FROM_STATE, FROM_API))
    for server, millis in samples(programs, "convergence", extent.rounds):
        table.add(FROM_STATE if server == GARTH else server, Duration(millis))
    for _, millis in samples(programs, "boot", extent.rounds):
        table.add(FROM_API, Duration(millis))
    return table


def cold_start(programs, extent, driver):
    """The time until all ports of a host are up, from nothing."""
    rounds = min(extent.rounds, MAX_COLD_STARTS)
    title = (
        f"dataplane: cold start of an agent with {extent.ports:,} ports, driver {driver}; {rounds} rounds\n"
        "baseline: the same objects and filters, made with prepared files for ip -batch, bridge -batch and nft -f"
    )
    goal = Goal("<=", 3)
    columns = (Column("cold start", "ms", "millis"),)
    label = f"{extent.ports:,} ports, driver {driver}"
    table = Table(KERNEL, title, {"cold start": goal}, columns, label=label)
    # Each sample has its own namespaces, so that the objects of one do not slow down another.
    order = [(BASELINE, AGAIN, GARTH), (GARTH, BASELINE, AGAIN), (AGAIN, GARTH, BASELINE)]
    for number in range(rounds):
        for server in order[number % 3]:
            mode = "cold" if server == GARTH else "cold-baseline"
            for _, millis in samples(programs, mode, extent.ports, driver):
                table.add(server, Duration(millis))
    return table


def samples(programs, *arguments):
    """The samples of a run in new namespaces: pairs of a server and its figures."""
    command = ["unshare", *NAMESPACES, sys.executable, SCRIPT, programs.garth, *map(str, arguments)]
    # The folder of the run, which is removed at its end.
    env = {**clean_environment(), "PATH": search_path(), "TMPDIR": str(Path(programs.garth).parent)}
    try:
        run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=MAX_MINUTES * 60)
    except subprocess.TimeoutExpired:
        raise BenchmarkError(f"dataplane {arguments[0]} did not end within {MAX_MINUTES} minutes") from None
    if run.returncode != 0:
        raise BenchmarkError(f"dataplane {arguments[0]} failed:\n{run.stderr[-3000:]}")
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("[")]
