"""Pages of long lists, and filters."""

import json
from contextlib import ExitStack
from datetime import datetime, timedelta

import datasets
import load
from machine import Server, BenchmarkError
from postgres import Postgres
from servers import ANY_PORT, create_vpcs, sample_all, start_garth, start_shared
from verdict import AGAIN, BASELINE, COLUMNS, DATABASE_CPU, EMBEDDED, GARTH, SHARED, Goal, Table

CLIENTS, FEW = 8, 1_000
# At most twice the time of the baseline is at least half of its throughput.
HALF = {"throughput": Goal(">=", 0.5), "CPU": Goal("<=", 2.0)}
# The lists, with the kind of the filled store and the path.
LISTS = {
    "VPCs": ("vpcs", "/v4/vpcs"),
    "subnets of one VPC": ("subnets", "/v4/vpcs/1/subnets"),
    "tickets": ("tickets", "/v4/support/tickets"),
    "events": ("vpcs", "/v4/account/events"),
}


def list_vpcs(programs, folder, extent):
    clients, rounds, seconds = 32, extent.rounds, extent.read_seconds
    folder, path = folder / "list_vpcs", "/v4/vpcs"
    with ExitStack() as running:
        embedded = running.enter_context(start_garth(programs, folder))
        create_vpcs(embedded, 100)
        servers = {}
        for name in (BASELINE, AGAIN):
            command = [programs.baseline, "rows", *ANY_PORT, "--data", folder]
            servers[name] = running.enter_context(Server(command, folder.with_name(f"list_vpcs {name}.log")))
            if servers[name].get(path) != embedded.get(path):
                raise BenchmarkError("the baseline does not return the same list as Garth")
        postgres = running.enter_context(Postgres(folder.with_name("list_vpcs pg")))
        postgres.create_database("store")
        shared = running.enter_context(
            start_shared(programs, folder.with_name("list_vpcs shared"), postgres.url("store"))
        )
        create_vpcs(shared, 100)

        def measured(engine, garth, goals):
            table = Table(
                engine,
                f"list_vpcs: list 100 VPCs with 2 subnets each, {clients} clients; {rounds} rounds of {seconds} s\n"
                "baseline: a handler in the same stack that writes the same rows from memory as JSON",
                goals,
            )
            sampler = lambda server: lambda: load.run(server, path, clients, seconds)
            samplers = {name: sampler(server) for name, server in {**servers, GARTH: garth}.items()}
            return sample_all(table, samplers, rounds)

        for server in (embedded, shared, *servers.values()):
            load.run(server, path, clients, 1)
        # The goal is for rows in the same process. PostgreSQL sends rows over a connection.
        return [measured(EMBEDDED, embedded, HALF), measured(SHARED, shared, {})]


def list_flat(programs, folder, extent):
    return [table for engine in (EMBEDDED, SHARED) for table in flat_on(engine, programs, folder, extent)]


def flat_on(engine, programs, folder, extent):
    rounds, seconds = extent.rounds, extent.list_seconds
    with ExitStack() as running:
        few = Stores(running, engine, programs, folder / f"flat {engine} few", FEW)
        many = Stores(running, engine, programs, folder / f"flat {engine} many", extent.rows)
        for what, (kind, path) in LISTS.items():
            last = many.of(kind).page(path)["pages"]
            pages = {"first": 1, "middle": last // 2, "last": last}
            # Request each page once, so that it is in the page cache.
            for page in pages.values():
                rows = many.of(kind).page(f"{path}?page={page}")["data"]
                if len(rows) != 100:
                    raise BenchmarkError(f"page {page} of the {what} has {len(rows)} rows")
            table = Table(
                engine,
                f"list_flat: 100 of {last * 100:,} {what}, {CLIENTS} clients; {rounds} rounds of {seconds} s\n"
                f"baseline: the first page of {few.of(kind).page(path)['results']:,}",
                HALF,
                few.columns,
                contenders=[f"{name} page of {what}" for name in pages],
            )
            samplers = {name: few.sampler(kind, path, seconds) for name in (BASELINE, AGAIN)}
            for contender, page in zip(table.contenders, pages.values()):
                samplers[contender] = many.sampler(kind, f"{path}?page={page}", seconds)
            yield sample_all(table, samplers, rounds)


def filtered(programs, folder, extent):
    return [table for engine in (EMBEDDED, SHARED) for table in filtered_on(engine, programs, folder, extent)]


def filtered_on(engine, programs, folder, extent):
    rounds, seconds = extent.rounds, extent.list_seconds
    with ExitStack() as running:
        many = Stores(running, engine, programs, folder / f"filter {engine}", extent.rows)
        # The minutes in which the last few thousand rows were created.
        recent = (datetime.fromisoformat(many.last_event()) - timedelta(minutes=5)).isoformat()
        filters = {
            "VPCs": {
                "label": {"label": f"vpc-{extent.rows // 2}"},
                "region": {"region": "us-ord"},
            },
            "events": {
                "entity": {"entity.type": "vpc", "entity.id": extent.rows // 2},
                "recently created": {"created": {"+gte": recent}},
            },
            "tickets": {"closed": {"status": "closed"}},
        }
        for what, queries in filters.items():
            kind, path = LISTS[what]
            found = {}
            for name, filter in queries.items():
                found[name] = many.of(kind).page(path, json.dumps(filter))["results"]
                if not found[name]:
                    raise BenchmarkError(f"no {what} match {filter}")
            table = Table(
                engine,
                f"filter: {what} of {extent.rows:,} by X-Filter, {CLIENTS} clients; {rounds} rounds of {seconds} s\n"
                "baseline: the unfiltered first page",
                HALF,
                many.columns,
                contenders=[f"{what} by {name} ({count:,} found)" for name, count in found.items()],
            )
            samplers = {name: many.sampler(kind, path, seconds) for name in (BASELINE, AGAIN)}
            for contender, filter in zip(table.contenders, queries.values()):
                samplers[contender] = many.sampler(kind, path, seconds, [f"X-Filter: {json.dumps(filter)}"])
            yield sample_all(table, samplers, rounds)


class Stores:
    """Servers on filled stores, one for each kind of row, started on first use."""

    def __init__(self, running, engine, programs, folder, rows):
        self._running, self._programs, self._folder, self._rows = running, programs, folder, rows
        self._servers = {}
        self._postgres = None
        if engine == SHARED:
            self._postgres = running.enter_context(datasets.shared(programs, rows))
        self.columns = (*COLUMNS, DATABASE_CPU) if self._postgres else COLUMNS

    def of(self, kind):
        if kind not in self._servers:
            self._servers[kind] = self._running.enter_context(self._start(kind))
        return self._servers[kind]

    def sampler(self, kind, path, seconds, headers=()):
        server = self.of(kind)
        options = {"database": self._postgres, "headers": headers}
        return lambda: load.run(server, path, CLIENTS, seconds, **options)

    def last_event(self):
        """The time of the newest event, which is on the first or the last page."""
        pages = self.of("vpcs").page("/v4/account/events")["pages"]
        ends = [self.of("vpcs").page(f"/v4/account/events?page={page}")["data"] for page in (1, pages)]
        return max(event["created"] for end in ends for event in end)

    def _start(self, kind):
        if self._postgres:
            folder = self._folder.with_name(f"{self._folder.name} {kind}")
            return start_shared(self._programs, folder, self._postgres.url(kind), *datasets.OPTIONS)
        data = datasets.embedded(self._programs, kind, self._rows)
        log = self._folder.with_name(f"{self._folder.name} {kind}.log")
        return start_garth(self._programs, data, *datasets.OPTIONS, log=log)
