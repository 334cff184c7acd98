"""Garth as the benchmarks start it, and how long they go on."""

import random
from collections import namedtuple

from machine import Server

# How long a run goes on: rounds, and seconds for each server in each of them; and how full the full stores are.
Extent = namedtuple("Extent", "rounds read_seconds write_seconds list_seconds rows crowd connections streams")
FULL = Extent(7, 4, 3, 1, 1_000_000, 200_000, 10_000, 1_000)
QUICK = Extent(3, 1, 1, 1, 20_000, 20_000, 2_000, 200)

ANYWHERE = ["--listen", "127.0.0.1:0"]
NO_QUOTA = ["--quota-vpcs-per-region", "100000000"]
# Garth's own default, given to pgbench too.
CONNECTIONS = 8


def start_garth(programs, folder, *more, log=None):
    command = [programs.garth, "serve", *ANYWHERE, *NO_QUOTA, "--log", "warn", "--data", folder, *more]
    return Server(command, log or folder.with_suffix(".log"))


def start_shared(programs, folder, url, *more):
    command = [programs.garth, "serve", *ANYWHERE, *NO_QUOTA, "--log", "warn", "--data", folder.with_suffix(".data")]
    command += ["--database", url, "--database-connections", str(CONNECTIONS)]
    command += ["--metrics-listen", "127.0.0.1:0", *more]
    return Server(command, folder.with_suffix(".log"))


def start_ungrouped(programs, folder):
    command = [programs.baseline, "ungrouped", *ANYWHERE, *NO_QUOTA, "--data", folder]
    return Server(command, folder.with_suffix(".log"))


def shuffled(things):
    things = list(things)
    random.shuffle(things)
    return things


def sample_all(table, samplers, rounds):
    """Every server once in every round, in an order shuffled anew."""
    for _ in range(rounds):
        for name in shuffled(samplers):
            table.add(name, samplers[name]())
    return table


def first_vpcs(server, count):
    """As many VPCs with two subnets each."""
    for number in range(count):
        subnets = [{"label": f"subnet-{n}", "ipv4": f"10.0.{n}.0/24"} for n in range(2)]
        server.post("/v4/vpcs", {"label": f"vpc-{number}", "region": "us-ord", "subnets": subnets})


def vpc_regions(server):
    regions = server.page("/v4/regions?page_size=500")["data"]
    return [region["id"] for region in regions if "VPCs" in region["capabilities"]]
