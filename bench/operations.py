"""Single operations: view a VPC, assign an address, attach a file."""

import json
from contextlib import ExitStack

import load
from machine import Server, BenchmarkError, run_step
from servers import ANY_PORT, shuffled, start_garth
from verdict import AGAIN, BASELINE, EMBEDDED, GARTH, SERVERS, Figures, Goal, Table


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
            command = [programs.baseline, "fixed", *ANY_PORT, "--path", path, "--body", body]
            servers[name] = running.enter_context(Server(command, folder / f"get_vpc {name}.log"))
            if servers[name].get(path) != body.read_bytes():
                raise BenchmarkError("the baseline does not return the given bytes")
        for server in servers.values():
            load.run(server, path, clients, 1)

        table = Table(
            EMBEDDED,
            f"get_vpc: view one VPC with 3 subnets, {clients} clients; {rounds} rounds of {seconds} s\n"
            "baseline: a handler in the same stack that returns the same bytes",
            {"throughput": Goal(">=", 0.45), "CPU": Goal("<=", 3.0)},
        )
        for _ in range(rounds):
            for name in shuffled(SERVERS):
                table.add(name, load.run(servers[name], path, clients, seconds))
    return [table]


# The number of addresses and IPv6 networks in use in the subnet with both families. A subnet has at most 4,095 networks.
USED_NETWORKS = 3900


def assign(programs, folder, extent):
    clients, rounds, seconds = 32, extent.rounds, extent.write_seconds
    used_addresses = extent.used_addresses
    folder = folder / "assign"
    with ExitStack() as running:
        servers = {}
        for name in SERVERS:
            data = folder / name
            count = used_addresses if name == GARTH else 0
            fill = [programs.baseline, "fill-subnet", "--data", data, "--taken", str(count), "--taken-dual", str(USED_NETWORKS)]
            run_step(fill, f"filling the store of {name}")
            servers[name] = running.enter_context(start_garth(programs, data))
        table = Table(
            EMBEDDED,
            f"assign: an interface that gets the lowest free address of a /8 with {used_addresses:,} in use, and is removed, "
            f"{clients} clients; {rounds} rounds of {seconds} s\n"
            "baseline: the same server, with no address in use before the run",
            {"throughput": Goal(">=", 0.5), "CPU": Goal("<=", 2.0)},
        )
        for _ in range(rounds):
            for name in shuffled(SERVERS):
                table.add(name, load.run(servers[name], "/", clients, seconds, "assign.lua"))
        families = Table(
            EMBEDDED,
            f"assign: a /64 that is routed to an interface, and removed, in a subnet with {USED_NETWORKS:,} in use, "
            f"{clients} clients; {rounds} rounds of {seconds} s\n"
            "baseline: the same with an IPv4 address, on the same server",
            {"throughput": Goal(">=", 0.91), "CPU": Goal("<=", 1.1)},
            label="IPv6",
        )
        for _ in range(rounds):
            for name in shuffled(SERVERS):
                family = "6" if name == GARTH else "4"
                sample = load.run(servers[BASELINE], "/", clients, seconds, "assign_part.lua", [family])
                families.add(name, sample)
    return [table, families]


def upload(programs, folder, extent):
    clients, rounds, seconds = 8, extent.rounds, extent.write_seconds
    folder = folder / "upload"
    with start_garth(programs, folder, "--attachments-max-per-ticket", "10000") as garth:

        def attach(seconds):
            ticket = json.loads(garth.post("/v4/support/tickets", {"summary": "Files", "description": "Many."}))
            path = f"/v4/support/tickets/{ticket['id']}/attachments"
            return load.run(garth, path, clients, seconds, "upload.lua")

        samplers = {
            GARTH: attach,
            BASELINE: lambda seconds: load.write_files(folder / "direct", clients, seconds),
        }
        samplers[AGAIN] = samplers[BASELINE]
        for sample in samplers.values():
            sample(1)
        table = Table(
            EMBEDDED,
            f"upload: attach 5 MiB to a ticket, {clients} clients; {rounds} rounds of {seconds} s\n"
            "baseline: writing, syncing and renaming the same bytes, 8 threads",
            {"throughput": Goal(">=", 0.7)},
        )
        peaks = []
        for _ in range(rounds):
            for name in shuffled(SERVERS):
                table.add(name, samplers[name](seconds))
            peaks.append(garth.peak_mib())
    growth = Figures(EMBEDDED, "upload: Garth's peak memory")
    growth.add("peak memory after the last round, compared with the first", peaks[-1], "MiB", peaks[0], Goal("<=", 1.25))
    return [table, growth]
