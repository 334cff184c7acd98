"""The data plane: packets between two hosts, the time of a change, and 1,000 ports.

The measurement runs in its own user, network and mount namespaces (`dataplane_lab.py`), so it needs no root.
"""

import json
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

from machine import BenchmarkError
from verdict import SERVERS, Column, Goal, Table

SCRIPT = Path(__file__).with_name("dataplane_lab.py")
UNSHARE = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
KERNEL = "Linux"
PORTS, QUICK_PORTS = 1_000, 100

Sample = namedtuple("Sample", "value")


def measured(programs, kind, rounds, amount):
    """Runs one measurement; returns the samples of each server."""
    command = [*UNSHARE, sys.executable, SCRIPT, programs.garth, kind, str(rounds), str(amount)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    except FileNotFoundError as error:
        raise BenchmarkError(f"{error.filename} is not installed") from None
    if done.returncode:
        raise BenchmarkError(f"{kind}: the measurement failed; its messages are above")
    return json.loads(done.stdout.splitlines()[-1])


def filled(programs, kind, rounds, amount, title, column, goal):
    table = Table(KERNEL, title, {column.name: goal}, (column,), label=kind)
    samples = measured(programs, kind, rounds, amount)
    for server in SERVERS:
        for value in samples[server]:
            table.add(server, Sample(value))
    return table


def dataplane(programs, folder, extent):
    rounds, seconds = extent.rounds, extent.read_seconds
    ports = PORTS if rounds >= 7 else QUICK_PORTS
    by_hand = "baseline: the same tunnel, made with ip and bridge, without filters"
    yield filled(
        programs, "stream", rounds, seconds,
        f"dataplane: one TCP stream between instances on two hosts; {rounds} rounds of {seconds} s\n{by_hand}",
        Column("throughput", "Mbit/s", "value"), Goal(">=", 0.95),
    )  # fmt: skip
    yield filled(
        programs, "datagrams", rounds, seconds,
        f"dataplane: datagrams of 64 bytes between instances on two hosts; {rounds} rounds of {seconds} s\n{by_hand}",
        Column("packets", "packets/s", "value"), Goal(">=", 0.95),
    )  # fmt: skip
    yield filled(
        programs, "change", rounds, 1,
        f"dataplane: from a new instance in the desired state to its first packet on another host; {rounds} rounds\n"
        "baseline: the same commands, prepared as batches for ip, bridge and nft",
        Column("time", "ms", "value"), Goal("<=", 3.0),
    )  # fmt: skip
    yield filled(
        programs, "ports", min(rounds, 3), ports,
        f"dataplane: cold start of a host with {ports:,} ports in 10 VPCs (driver tap); {min(rounds, 3)} rounds\n"
        "baseline: the same commands, prepared as batches for ip, bridge and nft",
        Column("time", "ms", "value"), Goal("<=", 3.0),
    )  # fmt: skip
