"""How the benchmarks start Garth, and the extent of a run."""

import random
from collections import namedtuple

from machine import Server

# The extent of a run: rounds, seconds for each server and round, the size of the filled stores, and of the data plane.
Extent = namedtuple(
    "Extent",
    "rounds read_seconds write_seconds list_seconds rows used_addresses connections streams ports hosts changes",
)
FULL = Extent(7, 4, 3, 1, 1_000_000, 200_000, 10_000, 1_000, 1_000, 500, 50)
QUICK = Extent(3, 1, 1, 1, 20_000, 20_000, 2_000, 200, 100, 50, 20)

ANY_PORT = ["--listen", "127.0.0.1:0"]
NO_QUOTA = ["--quota-vpcs-per-region", "100000000"]
# The default of Garth, also for pgbench.
CONNECTIONS = 8


def start_garth(programs, folder, *more, log=None, under=(), **options):
    """Starts a server with an embedded store, `under` another program if given."""
    command = [*under, programs.garth, "serve", *ANY_PORT, *NO_QUOTA, "--log", "warn", "--data", folder, *more]
    return Server(command, log or folder.with_suffix(".log"), **options)


def start_shared(programs, folder, url, *more):
    command = [programs.garth, "serve", *ANY_PORT, *NO_QUOTA, "--log", "warn", "--data", folder.with_suffix(".data")]
    command += ["--database", url, "--database-connections", str(CONNECTIONS)]
    command += ["--metrics-listen", "127.0.0.1:0", *more]
    return Server(command, folder.with_suffix(".log"))


def start_ungrouped(programs, folder):
    command = [programs.baseline, "ungrouped", *ANY_PORT, *NO_QUOTA, "--data", folder]
    return Server(command, folder.with_suffix(".log"))


def shuffled(items):
    items = list(items)
    random.shuffle(items)
    return items


def sample_all(table, samplers, rounds):
    """Samples every server once in every round, in random order."""
    for _ in range(rounds):
        for name in shuffled(samplers):
            table.add(name, samplers[name]())
    return table


def create_vpcs(server, count):
    """Creates VPCs with two subnets each."""
    for number in range(count):
        subnets = [{"label": f"subnet-{n}", "ipv4": f"10.0.{n}.0/24"} for n in range(2)]
        server.post("/v4/vpcs", {"label": f"vpc-{number}", "region": "us-ord", "subnets": subnets})


def vpc_regions(server):
    regions = server.page("/v4/regions?page_size=500")["data"]
    return [region["id"] for region in regions if "VPCs" in region["capabilities"]]
