"""Creates of VPCs in the embedded store."""

import shutil
import sqlite3
from contextlib import closing

import load
from machine import BenchmarkError
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
    # Every sample starts with a new process and an empty store. Otherwise, the store of the faster server would grow
    # faster from round to round. Within a sample this still counts against Garth.
    for _ in range(rounds):
        for name, clients in shuffled((name, clients) for name in SERVERS for clients in tables):
            sample = create_on_empty_store(programs, folder / "create_vpc", name, clients, seconds)
            tables[clients].add(name, sample)
    return list(tables.values())


def create_alone(programs, folder, extent):
    rounds, seconds = extent.rounds, extent.write_seconds
    table = Table(
        EMBEDDED,
        f"create_alone: durable create of a VPC with one subnet, one client that waits for each response; "
        f"{rounds} rounds of {seconds} s\n"
        "baseline: the same server with one transaction per request",
        # One client has no other writes to share a commit with, so both should be equal, apart from disk noise.
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
    against_raw = Table(
        EMBEDDED,
        f"create_raw: durable create of a VPC with one subnet; {rounds} rounds of {seconds} s\n"
        "baseline: the same rows written directly to SQLite, 32 creates per transaction",
        {"throughput": Goal(">=", 0.6)},
        contenders=[few, many],
    )
    against_few = Table(
        EMBEDDED,
        f"create_raw: durable create of a VPC with one subnet, 128 clients; {rounds} rounds of {seconds} s\n"
        "baseline: 32 clients",
        {"throughput": Goal(">=", 1.0)},
        contenders=["128 clients compared with 32"],
    )
    tallied = Table(
        EMBEDDED,
        f"create_raw: the same rows written directly to SQLite; {rounds} rounds of {seconds} s\n"
        "baseline: without tallies",
        # Tallies may cost at most 1.3x.
        {"throughput": Goal(">=", 1 / 1.3), "CPU": Goal("<=", 1.3)},
        contenders=["raw rows with tallies"],
    )
    revised = Table(
        EMBEDDED,
        f"create_raw: the same rows written directly to SQLite; {rounds} rounds of {seconds} s\n"
        "baseline: without the account's revision and its change log",
        # At most 1.1x of a create: compare the difference with the cost of a create, not of raw rows.
        {},
        contenders=["raw rows with revisions"],
    )
    require_equal_rows(programs, folder)
    untallied, untallied_again = "untallied", "untallied again"
    unlogged, unlogged_again = "unlogged", "unlogged again"
    raw_options = {
        BASELINE: [],
        AGAIN: [],
        untallied: ["--untallied"],
        untallied_again: ["--untallied"],
        unlogged: ["--unlogged"],
        unlogged_again: ["--unlogged"],
    }
    uses = {
        untallied: [(tallied, BASELINE)],
        untallied_again: [(tallied, AGAIN)],
        unlogged: [(revised, BASELINE)],
        unlogged_again: [(revised, AGAIN)],
        BASELINE: [(against_raw, BASELINE), (tallied, tallied.contenders[0]), (revised, revised.contenders[0])],
        AGAIN: [(against_raw, AGAIN)],
        few: [(against_raw, few), (against_few, BASELINE)],
        "once more": [(against_few, AGAIN)],
        many: [(against_raw, many), (against_few, against_few.contenders[0])],
    }
    for _ in range(rounds):
        for name in shuffled(uses):
            if name in raw_options:
                sample = load.write_rows(programs.baseline, folder, seconds, *raw_options[name])
                shutil.rmtree(folder)
            else:
                clients = 128 if name == many else 32
                sample = create_on_empty_store(programs, folder, GARTH, clients, seconds)
            for table, name_in_table in uses[name]:
                table.add(name_in_table, sample)
    return [against_raw, against_few, tallied, revised]


def require_equal_rows(programs, folder):
    """Checks that the baseline writes the same number of rows per VPC to each table as Garth."""
    load.write_rows(programs.baseline, folder, 0.2)
    raw = rows_per_vpc(folder)
    shutil.rmtree(folder)
    with start_garth(programs, folder) as server:
        regions = vpc_regions(server)
        load.run(server, "/v4/vpcs", 32, 1, "create_vpc.lua", regions)
    garth = rows_per_vpc(folder)
    shutil.rmtree(folder)
    if raw != garth:
        raise BenchmarkError(
            f"Garth writes {garth} rows per VPC, and the baseline {raw}: see examples/baseline/raw.rs"
        )


def rows_per_vpc(folder):
    """The number of rows per VPC in each table that creates write to, and the tallies per VPC."""
    with closing(sqlite3.connect(folder / "garth.db")) as store:
        tables = [name for (name,) in store.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        vpcs = store.execute("SELECT count(*) FROM vpc").fetchone()[0]
        rows = {table: store.execute(f"SELECT count(*) FROM {table}").fetchone()[0] / vpcs for table in tables}
        # The initial rows are much less than one row per VPC.
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
            sample = load.run(server, "/v4/vpcs", clients, seconds, "create_vpc.lua", regions)
            # Acknowledged VPCs must exist. Requests that wrk abandoned may have created some, too.
            stored = server.page("/v4/vpcs?page_size=1")["results"] - 1
            if not sample.requests <= stored <= sample.requests + clients:
                raise server.error(f"acknowledged {sample.requests} creates and stores {stored} VPCs")
            return sample
    finally:
        shutil.rmtree(folder, ignore_errors=True)
