"""Filled stores, created by Garth's own rules and reused between runs."""

import hashlib
import shutil

from machine import ROOT, run_step
from postgres import Postgres

KINDS = ("vpcs", "subnets", "tickets")
# Garth must not delete the old events of a filled store, nor apply its default quotas.
OPTIONS = ["--event-days", "36500", "--quota-subnets-per-vpc", "100000000"]
# Files that determine the rows. If other code changes the rows, use `--refill`.
FILL_FILES = (
    "src/store/migrations/*",
    "src/store/tallies.rs",
    "examples/baseline/fill.rs",
    "examples/baseline/setup.rs",
)


def key():
    files = sorted(file for pattern in FILL_FILES for file in ROOT.glob(pattern))
    return hashlib.sha256(b"".join(file.name.encode() + file.read_bytes() for file in files)).hexdigest()[:12]


def embedded(programs, kind, rows):
    """The folder of a store with this number of rows of a kind."""

    def fill(folder):
        command = [programs.baseline, "fill", kind, "--rows", str(rows), "--data", folder]
        run_step(command, f"filling a store with {rows:,} {kind} for this and later runs")

    return cached(programs, f"{kind}-{rows}", fill)


def shared(programs, rows):
    """A running PostgreSQL with a database of each kind, which has the same rows."""

    def fill(folder):
        with Postgres(folder) as postgres:
            for kind in KINDS:
                postgres.create_database(kind)
                command = [programs.garth, "copy", "--from", embedded(programs, kind, rows), "--to", postgres.url(kind)]
                run_step(command, f"copying {rows:,} {kind} to PostgreSQL for this and later runs")
                postgres.query(kind, "VACUUM ANALYZE")

    return Postgres(cached(programs, f"postgres-{rows}", fill), reuse=True)


def cached(programs, name, fill):
    cache = programs.target / "bench" / "filled"
    cache.mkdir(exist_ok=True)
    folder = cache / f"{name}-{key()}"
    if not folder.exists():
        for old in cache.glob(f"{name}-*"):
            shutil.rmtree(old)
        new = cache / f"{name}-new"
        fill(new)
        new.rename(folder)
    return folder


def delete_all(programs):
    shutil.rmtree(programs.target / "bench" / "filled", ignore_errors=True)
