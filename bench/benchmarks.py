"""The benchmarks: what each asks of Garth, and of what it is held against."""

import json
import random
import shutil
from collections import namedtuple
from contextlib import ExitStack

import load
from machine import Server, Trouble, run_to_end
from verdict import AGAIN, BASELINE, GARTH, SERVERS, Goal, Table

# How long a run goes on: rounds, and seconds for each server in each of them.
Extent = namedtuple("Extent", "rounds read_seconds write_seconds")

ANYWHERE = ["--listen", "127.0.0.1:0"]
NO_QUOTA = ["--quota-vpcs-per-region", "100000000"]


def get_vpc(programs, folder, extent):
    clients, rounds, seconds = 32, extent.rounds, extent.read_seconds
    with ExitStack() as running:
        garth = running.enter_context(start_garth(programs, folder / "get_vpc"))
        subnets = [{"label": f"subnet-{n}", "ipv4": f"10.0.{n}.0/24"} for n in range(3)]
        vpc = json.loads(garth.post("/v4/vpcs", {"label": "core", "region": "us-ord", "subnets": subnets}))
        path = f"/v4/vpcs/{vpc['id']}"
        body = folder / "get_vpc.json"
        body.write_bytes(garth.get(path))
        servers = {GARTH: garth}
        for name in (BASELINE, AGAIN):
            command = [programs.baseline, "fixed", *ANYWHERE, "--path", path, "--body", body]
            servers[name] = running.enter_context(Server(command, folder / f"get_vpc {name}.log"))
            if servers[name].get(path) != body.read_bytes():
                raise Trouble("the baseline does not return the bytes it was given")
        for server in servers.values():
            load.put(server, path, clients, 1)

        table = Table(
            f"get_vpc: view one VPC with 3 subnets, {clients} clients; {rounds} rounds of {seconds} s\n"
            "baseline: a handler in the same stack that returns the same bytes",
            {"throughput": Goal(">=", 0.45), "CPU": Goal("<=", 3.0)},
        )
        for _ in range(rounds):
            for name in shuffled(SERVERS):
                table.add(name, load.put(servers[name], path, clients, seconds))
    return [table]


def create_vpc(programs, folder, extent):
    rounds, seconds = extent.rounds, extent.write_seconds
    tables = {
        clients: Table(
            f"create_vpc: durable create of a VPC with one subnet, {clients} clients; "
            f"{rounds} rounds of {seconds} s\n"
            "baseline: the same server with one transaction per request",
            {"throughput": Goal(">=", 3.0), "CPU": Goal("<=", 0.3)},
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


def create_on_empty_store(programs, folder, name, clients, seconds):
    start = start_garth if name == GARTH else start_ungrouped
    try:
        with start(programs, folder) as server:
            regions = json.loads(server.get("/v4/regions?page_size=500"))["data"]
            regions = [region["id"] for region in regions if "VPCs" in region["capabilities"]]
            server.post("/v4/vpcs", {"label": "first", "region": regions[0], "subnets": []})
            sample = load.put(server, "/v4/vpcs", clients, seconds, "create_vpc.lua", regions)
            # What was answered must be there; what wrk no longer waited for may be.
            kept = json.loads(server.get("/v4/vpcs?page_size=1"))["results"] - 1
            if not sample.requests <= kept <= sample.requests + clients:
                raise server.trouble(f"answered {sample.requests} creates and keeps {kept} VPCs")
            return sample
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def assign(programs, folder, extent):
    clients, rounds, seconds = 32, extent.rounds, extent.write_seconds
    crowd, path = (20_000 if rounds < 7 else 200_000), "/v4/linode/instances/1/configs"
    folder = folder / "assign"
    with ExitStack() as running:
        servers = {}
        for name in SERVERS:
            data = folder / name
            taken = crowd if name == GARTH else 0
            fill = [programs.baseline, "crowd", "--data", data, "--taken", str(taken)]
            run_to_end(fill, f"filling the store of {name}")
            servers[name] = running.enter_context(start_garth(programs, data))
        table = Table(
            f"assign: a config with an interface that gets the lowest free address of a /8 in which {crowd:,} are taken, "
            f"{clients} clients; {rounds} rounds of {seconds} s\n"
            "baseline: the same server on a store in which none was taken before the run",
            {"throughput": Goal(">=", 0.5), "CPU": Goal("<=", 2.0)},
        )
        for _ in range(rounds):
            for name in shuffled(SERVERS):
                table.add(name, load.put(servers[name], path, clients, seconds, "assign.lua"))
    return [table]


def start_garth(programs, folder):
    command = [programs.garth, "serve", *ANYWHERE, *NO_QUOTA, "--log", "warn", "--data", folder]
    return Server(command, folder.with_suffix(".log"))


def start_ungrouped(programs, folder):
    command = [programs.baseline, "ungrouped", *ANYWHERE, *NO_QUOTA, "--data", folder]
    return Server(command, folder.with_suffix(".log"))


def shuffled(things):
    things = list(things)
    random.shuffle(things)
    return things


Benchmark = namedtuple("Benchmark", "about run")
BENCHMARKS = {
    "get_vpc": Benchmark("view one VPC, beside a handler that returns the same bytes", get_vpc),
    "create_vpc": Benchmark("create VPCs durably, beside one transaction per request", create_vpc),
    "assign": Benchmark("assign addresses in a crowded subnet, beside an empty one", assign),
}
