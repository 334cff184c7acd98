"""Snapshots of test control, compared with a copy of the database file."""

import os
import shutil
import time
from collections import namedtuple

import datasets
from machine import BenchmarkError
from servers import sample_all, start_garth
from verdict import AGAIN, BASELINE, EMBEDDED, GARTH, Column, Goal, Table

ROWS = 100_000
Restored = namedtuple("Restored", "millis")
COLUMNS = (Column("time", "ms", "millis"),)


def snapshot_restore(programs, folder, extent):
    folder = folder / "snapshot_restore"
    shutil.copytree(datasets.embedded(programs, "vpcs", ROWS), folder)
    original, copied = folder / "garth.db", folder.with_suffix(".copy")
    table = Table(
        EMBEDDED,
        f"snapshot_restore: a store of {ROWS:,} VPCs and their events, {original.stat().st_size / 1e6:.0f} MB\n"
        "baseline: copying and flushing the database file",
        {"time": Goal("<=", 2.0)},
        columns=COLUMNS,
    )

    def copy():
        shutil.copyfile(original, copied)
        with open(copied, "rb") as file:
            os.fsync(file.fileno())

    with start_garth(programs, folder, "--test-control", *datasets.OPTIONS) as garth:
        garth.post("/_test/snapshots", {"name": "full"})

        def restore():
            garth.post("/v4/vpcs", {"label": "after-the-snapshot", "region": "us-ord"})
            return milliseconds(lambda: garth.post("/_test/snapshots/full/restore", {}))

        samplers = {BASELINE: lambda: milliseconds(copy), AGAIN: lambda: milliseconds(copy), GARTH: restore}
        for sample in samplers.values():
            sample()
        sample_all(table, samplers, extent.rounds)
        left = garth.page("/v4/vpcs")["results"]
        if left != ROWS:
            raise BenchmarkError(f"{left} VPCs instead of {ROWS} after the last restore")
    return [table]


def milliseconds(work):
    started = time.monotonic()
    work()
    return Restored((time.monotonic() - started) * 1000)
