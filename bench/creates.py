"""Creating VPCs in the embedded store."""

import shutil
import sqlite3
from contextlib import closing

import load
from machine import Trouble
from servers import shuffled, start_garth, start_ungrouped, vpc_regions
from verdict import AGAIN, BASELINE, EMBEDDED, GARTH, SERVERS, Goal, Table


def create_vpc(programs, folder, extent):
    rounds, seconds = extent.rounds, extent.write_seconds
    tables = {
        clients: Table(
            EMBEDDED,
            f"create_vpc: durable create of a VPC with one subnet, {clients} clients; "
            f"{rounds} rounds of {seconds} s\n"
            "baseline: the same server with one transaction per request",
            {"throughput": Goal(">=", 3.0), "CPU": Goal("<=", 0.3)},
            label=f"{clients} clients",
        )
        for clients in (32, 128)
    }
    # Every sample begins with a new process on an empty store: stores that grew on from round to
    # round would grow faster where more is created in the same time. Within a sample that stays
    # so, and counts against Garth.
    for _ in range(rounds):
        for name, clients in shuffled((name, clients) for name in SERVERS for clients in tables):
            sample = create_on_empty_store(programs, folder / "create_vpc", name, clients, seconds)
            tables[clients].add(name, sample)
    return list(tables.values())


def create_alone(programs, folder, extent):
    rounds, seconds = extent.rounds, extent.write_seconds
    table = Table(
        EMBEDDED,
        f"create_alone: durable create of a VPC with one subnet, one client that waits for each answer; "
        f"{rounds} rounds of {seconds} s\n"
        "baseline: the same server with one transaction per request",
        # Alone there is nothing to share a commit with: both should be the same, within what the disk makes of it.
        {"throughput": Goal(">=", 0.95)},
    )
    for _ in range(rounds):
        for name in shuffled(SERVERS):
            table.add(name, create_on_empty_store(programs, folder / "create_alone", name, 1, seconds))
    return [table]


def create_raw(programs, folder, extent):
    rounds, seconds = extent.rounds, extent.write_seconds
    folder = folder / "create_raw"
    few, many = "Garth, 32 clients", "Garth, 128 clients"
    beside_raw = Table(
        EMBEDDED,
        f"create_raw: durable create of a VPC with one subnet; {rounds} rounds of {seconds} s\n"
        "baseline: the same rows written straight into SQLite, 32 creates to a transaction",
        {"throughput": Goal(">=", 0.6)},
        contenders=[few, many],
    )
    beside_few = Table(
        EMBEDDED,
        f"create_raw: durable create of a VPC with one subnet, 128 clients; {rounds} rounds of {seconds} s\n"
        "baseline: 32 clients",
        {"throughput": Goal(">=", 1.0)},
        contenders=["128 clients beside 32"],
    )
    tallied = Table(
        EMBEDDED,
        f"create_raw: the same rows written straight into SQLite; {rounds} rounds of {seconds} s\n"
        "baseline: without the tallies that keep lists flat",
        # A write price of at most 1.3x.
        {"throughput": Goal(">=", 1 / 1.3), "CPU": Goal("<=", 1.3)},
        contenders=["raw rows with tallies"],
    )
    revised = Table(
        EMBEDDED,
        f"create_raw: the same rows written straight into SQLite; {rounds} rounds of {seconds} s\n"
        "baseline: without the account's revision and its change log",
        # At most 1.1x of a create: the difference has to be compared with what Garth takes for one, not with raw rows.
        {},
        contenders=["raw rows with revisions"],
    )
    refuse_unlike(programs, folder)
    untallied, untallied_again = "untallied", "untallied again"
    unlogged, unlogged_again = "unlogged", "unlogged again"
    left_out = {
        BASELINE: [],
        AGAIN: [],
        untallied: ["--untallied"],
        untallied_again: ["--untallied"],
        unlogged: ["--unlogged"],
        unlogged_again: ["--unlogged"],
    }
    ways = {
        untallied: [(tallied, BASELINE)],
        untallied_again: [(tallied, AGAIN)],
        unlogged: [(revised, BASELINE)],
        unlogged_again: [(revised, AGAIN)],
        BASELINE: [(beside_raw, BASELINE), (tallied, tallied.contenders[0]), (revised, revised.contenders[0])],
        AGAIN: [(beside_raw, AGAIN)],
        few: [(beside_raw, few), (beside_few, BASELINE)],
        "once more": [(beside_few, AGAIN)],
        many: [(beside_raw, many), (beside_few, beside_few.contenders[0])],
    }
    for _ in range(rounds):
        for name in shuffled(ways):
            if name in left_out:
                sample = load.write_rows(programs.baseline, folder, seconds, *left_out[name])
                shutil.rmtree(folder)
            else:
                clients = 128 if name == many else 32
                sample = create_on_empty_store(programs, folder, GARTH, clients, seconds)
            for table, place in ways[name]:
                table.add(place, sample)
    return [beside_raw, beside_few, tallied, revised]


def refuse_unlike(programs, folder):
    """Makes sure that the baseline writes as many rows of each table for a VPC as Garth does."""
    load.write_rows(programs.baseline, folder, 0.2)
    raw = rows_per_vpc(folder)
    shutil.rmtree(folder)
    with start_garth(programs, folder) as server:
        regions = vpc_regions(server)
        load.put(server, "/v4/vpcs", 32, 1, "create_vpc.lua", regions)
    garth = rows_per_vpc(folder)
    shutil.rmtree(folder)
    if raw != garth:
        raise Trouble(
            f"a create of Garth's writes {garth} for a VPC, and the baseline {raw}: see examples/baseline/raw.rs"
        )


def rows_per_vpc(folder):
    """Of each table that creates write to: how many rows there are for each VPC, and what is tallied of them."""
    with closing(sqlite3.connect(folder / "garth.db")) as store:
        tables = [name for (name,) in store.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        vpcs = store.execute("SELECT count(*) FROM vpc").fetchone()[0]
        rows = {table: store.execute(f"SELECT count(*) FROM {table}").fetchone()[0] / vpcs for table in tables}
        # What is there from the beginning is less than one row for each VPC, and a small part of one.
        rows = {table: round(count, 1) for table, count in rows.items() if count >= 1 and table != "tally"}
        kind = "CASE WHEN instr(collection, ':') THEN substr(collection, 1, instr(collection, ':')) ELSE collection END"
        tallied = store.execute(f"SELECT {kind}, span, sum(items) FROM tally GROUP BY 1, 2")
        return rows, {(name, span): items / vpcs for name, span, items in tallied}


def create_on_empty_store(programs, folder, name, clients, seconds):
    start = start_garth if name == GARTH else start_ungrouped
    try:
        with start(programs, folder) as server:
            regions = vpc_regions(server)
            server.post("/v4/vpcs", {"label": "first", "region": regions[0], "subnets": []})
            sample = load.put(server, "/v4/vpcs", clients, seconds, "create_vpc.lua", regions)
            # What was answered must be there; what wrk no longer waited for may be.
            kept = server.page("/v4/vpcs?page_size=1")["results"] - 1
            if not sample.requests <= kept <= sample.requests + clients:
                raise server.trouble(f"answered {sample.requests} creates and keeps {kept} VPCs")
            return sample
    finally:
        shutil.rmtree(folder, ignore_errors=True)
