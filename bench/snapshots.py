"""Snapshots of test control, compared with a copy of the database file."""

import os
import shutil
import time
from collections import namedtuple

import datasets
from machine import BenchmarkError
from servers import sample_all, start_garth
from verdict import AGAIN, BASELINE, EMBEDDED, Column, Goal, Table

ROWS = 100_000
CHANGED, RESET = "after one change", "after a reset"
# A restore can leave work to the write that follows it: a checkpoint of the write-ahead log.
Restored = namedtuple("Restored", "millis with_write")
COLUMNS = (Column("time", "ms", "millis"), Column("time with the next write", "ms", "with_write"))


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
        contenders=(CHANGED, RESET),
    )

    def copy():
        started = time.monotonic()
        shutil.copyfile(original, copied)
        with open(copied, "rb") as file:
            os.fsync(file.fileno())
        millis = milliseconds_since(started)
        return Restored(millis, millis)

    with start_garth(programs, folder, "--test-control", *datasets.OPTIONS) as garth:
        garth.post("/_test/snapshots", {"name": "full"})

        def create(label):
            garth.post("/v4/vpcs", {"label": label, "region": "us-ord"})

        def restore():
            started = time.monotonic()
            garth.post("/_test/snapshots/full/restore", {})
            millis = milliseconds_since(started)
            create("after-the-restore")
            return Restored(millis, milliseconds_since(started))

        def restore_after_change():
            create("after-the-snapshot")
            return restore()

        def restore_after_reset():
            garth.post("/_test/reset", {})
            return restore()

        samplers = {BASELINE: copy, AGAIN: copy, CHANGED: restore_after_change, RESET: restore_after_reset}
        for sample in samplers.values():
            sample()
        sample_all(table, samplers, extent.rounds)
        garth.post("/_test/snapshots/full/restore", {})
        left = garth.page("/v4/vpcs")["results"]
        if left != ROWS:
            raise BenchmarkError(f"{left} VPCs instead of {ROWS} after the last restore")
    return [table]


def milliseconds_since(started):
    return (time.monotonic() - started) * 1000
