"""Stores full of rows, made by Garth's own rules and kept from run to run."""

import hashlib
import shutil

from machine import ROOT, run_to_end
from postgres import Postgres

KINDS = ("vpcs", "subnets", "tickets")
# Garth must neither sweep the events of a store that was filled a while ago, nor refuse what is in it.
AS_FILLED = ["--event-days", "36500", "--quota-subnets-per-vpc", "100000000"]
# What decides about the rows. Other code may change without them changing; `--refill` is for when it did change them.
FILLING = (
    "src/store/migrations/*",
    "src/store/tallies.rs",
    "examples/baseline/fill.rs",
    "examples/baseline/setup.rs",
)


def key():
    files = sorted(file for pattern in FILLING for file in ROOT.glob(pattern))
    return hashlib.sha256(b"".join(file.name.encode() + file.read_bytes() for file in files)).hexdigest()[:12]


def embedded(programs, kind, rows):
    """The folder of a store with so many rows of a kind."""

    def fill(folder):
        command = [programs.baseline, "fill", kind, "--rows", str(rows), "--data", folder]
        run_to_end(command, f"filling a store with {rows:,} {kind}, which is kept for other runs")

    return kept(programs, f"{kind}-{rows}", fill)


def shared(programs, rows):
    """A running PostgreSQL that has a database of each kind: the same rows, copied."""

    def fill(folder):
        with Postgres(folder) as postgres:
            for kind in KINDS:
                postgres.make(kind)
                command = [programs.garth, "copy", "--from", embedded(programs, kind, rows), "--to", postgres.url(kind)]
                run_to_end(command, f"copying {rows:,} {kind} to PostgreSQL, where they are kept for other runs")
                postgres.ask(kind, "VACUUM ANALYZE")

    return Postgres(kept(programs, f"postgres-{rows}", fill), again=True)


def kept(programs, name, fill):
    place = programs.target / "bench" / "filled"
    place.mkdir(exist_ok=True)
    folder = place / f"{name}-{key()}"
    if not folder.exists():
        for old in place.glob(f"{name}-*"):
            shutil.rmtree(old)
        new = place / f"{name}-new"
        fill(new)
        new.rename(folder)
    return folder


def forget(programs):
    shutil.rmtree(programs.target / "bench" / "filled", ignore_errors=True)
