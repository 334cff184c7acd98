"""The benchmarks: what each asks of Garth, and of what it is held against."""

import json
import random
import re
import shutil
from collections import namedtuple
from contextlib import ExitStack

import load
from machine import TOKEN, Server, Trouble, output_of, run_to_end
from postgres import Postgres, Script, captured
from verdict import AGAIN, BASELINE, COLUMNS, DATABASE_CPU, GARTH, RETRIES, SERVERS, Goal, Growth, Table

# How long a run goes on: rounds, and seconds for each server in each of them.
Extent = namedtuple("Extent", "rounds read_seconds write_seconds")

ANYWHERE = ["--listen", "127.0.0.1:0"]
NO_QUOTA = ["--quota-vpcs-per-region", "100000000"]
# Garth's own default, given to pgbench too.
CONNECTIONS = 8
# What tells the values of one create from each other, and from all else.
VPC, SUBNET, LABEL = 1000001, 2000001, "bench-1-12345"


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


def pg_get(programs, folder, extent):
    clients, rounds, seconds = 32, extent.rounds, extent.read_seconds
    with ExitStack() as running:
        postgres = running.enter_context(Postgres(folder / "pg_get"))
        postgres.make("store")
        with start_shared(programs, folder / "pg_get first", postgres.url("store", log_statement="all")) as garth:
            subnets = [{"label": f"subnet-{n}", "ipv4": f"10.0.{n}.0/24"} for n in range(3)]
            garth.post("/v4/vpcs", {"label": "first", "region": "us-ord", "subnets": []})
            postgres.ask("store", "SELECT setval('vpc_id_seq', 1000000)")
            vpc = json.loads(garth.post("/v4/vpcs", {"label": "core", "region": "us-ord", "subnets": subnets}))
            path = f"/v4/vpcs/{vpc['id']}"
            garth.get(path)
            script = Script(captured(postgres, "store", str(vpc["id"])), {})
        garth = running.enter_context(start_shared(programs, folder / "pg_get", postgres.url("store")))
        samplers = {
            GARTH: lambda seconds: load.put(garth, path, clients, seconds, database=postgres),
            BASELINE: lambda seconds: postgres.pgbench("store", script, CONNECTIONS, seconds),
        }
        samplers[AGAIN] = samplers[BASELINE]
        for sample in samplers.values():
            sample(1)

        table = Table(
            f"pg_get: view one VPC with 3 subnets on PostgreSQL, {clients} clients; {rounds} rounds of {seconds} s\n"
            f"baseline: pgbench, prepared, the same statements, {CONNECTIONS} connections like Garth",
            {"throughput": Goal(">=", 0.75)},
            (*COLUMNS, DATABASE_CPU),
        )
        for _ in range(rounds):
            for name in shuffled(SERVERS):
                table.add(name, samplers[name](seconds))
    return [table]


def pg_create(programs, folder, extent):
    clients, rounds, seconds = 32, extent.rounds, extent.write_seconds
    tables = {
        accounts: Table(
            f"pg_create: durable create of a VPC with one subnet on PostgreSQL, {clients} clients of "
            f"{accounts} account{'s' if accounts > 1 else ''}; {rounds} rounds of {seconds} s\n"
            f"baseline: pgbench, prepared, the same statements, {CONNECTIONS} connections like Garth",
            {"throughput": Goal(">=", 0.8)},
            (*COLUMNS, DATABASE_CPU, RETRIES),
        )
        for accounts in (32, 1)
    }
    folder = folder / "pg_create"
    with Postgres(folder) as postgres:
        tokens, regions = furnish_accounts(programs, folder, postgres, max(tables))
        statements = capture_create(programs, folder, postgres, regions)
        # As with create_vpc, every sample begins with a new process on an empty store.
        for _ in range(rounds):
            for name, accounts in shuffled((name, accounts) for name in SERVERS for accounts in tables):
                postgres.make("store", like="furnished")
                postgres.ask("store", "CHECKPOINT")
                if name == GARTH:
                    arguments = [*regions, *(f"token={token}" for token in tokens[:accounts])]
                    with start_shared(programs, folder / "garth", postgres.url("store")) as server:
                        ways = {"script": "create_vpc.lua", "arguments": arguments, "database": postgres}
                        sample = load.put(server, "/v4/vpcs", clients, seconds, **ways)
                    unanswered = clients
                else:
                    script = create_script(statements, accounts, regions)
                    sample = postgres.pgbench("store", script, CONNECTIONS, seconds)
                    unanswered = 0
                kept = int(postgres.ask("store", "SELECT count(*) FROM vpc"))
                if not sample.requests <= kept <= sample.requests + unanswered:
                    raise Trouble(f"{name} was answered {sample.requests} creates, and {kept} VPCs are kept")
                tables[accounts].add(name, sample)
                postgres.drop("store")
    return list(tables.values())


def furnish_accounts(programs, folder, postgres, count):
    """Makes a database with so many accounts; a token of each, and the regions that have VPCs."""
    postgres.make("furnished")
    url = postgres.url("furnished")
    with start_shared(programs, folder / "furnishing", url) as garth:
        regions = json.loads(garth.get("/v4/regions?page_size=500"))["data"]
    tokens = [TOKEN]
    for number in range(2, count + 1):
        username = f"user-{number}"
        email = ["--email", f"{username}@example.com"]
        for command in (
            ["account", "create", "--company", f"Company {number}", *email],
            ["user", "create", "--account", str(number), "--username", username, *email],
            ["token", "create", "--user", username],
        ):
            said = output_of([programs.garth, "--database", url, *command])
        tokens.append(said.strip())
    alike = postgres.ask("furnished", "SELECT count(*) FROM app_user WHERE id = account")
    if alike != str(count):
        raise Trouble(f"{count} accounts with a user of the same number were to be made, and {alike} were")
    return tokens, [region["id"] for region in regions if "VPCs" in region["capabilities"]]


def capture_create(programs, folder, postgres, regions):
    """What Garth sends for one create, by account 1."""
    postgres.make("captured", like="furnished")
    for table, last in {"vpc": VPC - 1, "subnet": SUBNET - 1}.items():
        postgres.ask("captured", f"SELECT setval('{table}_id_seq', {last - 1})")
    with start_shared(programs, folder / "capturing", postgres.url("captured", log_statement="all")) as garth:
        # The first request also looks up who asks.
        for label in ("first", LABEL):
            subnets = [{"label": "first", "ipv4": "10.0.0.0/24"}]
            garth.post("/v4/vpcs", {"label": label, "region": regions[0], "subnets": subnets})
        statements = captured(postgres, "captured", LABEL)
    postgres.drop("captured")
    return statements


def create_script(statements, accounts, regions):
    """Connections share no account while there are enough, because Garth gives them none to share."""
    known = {"1": "account", LABEL: "label", regions[0]: "region", str(VPC): "vpc_id", str(SUBNET): "subnet_id"}
    own = accounts // CONNECTIONS
    account = f"1 + :client_id + {CONNECTIONS} * random(0, {own - 1})" if own else "1"
    lock = re.search(r"pg_advisory_lock\((\d+)\)", statements[0].sql)
    head = [
        f"\\set account {account}",
        f"\\set lock {int(lock[1]) - 1} + :account",
        "\\set label random(100000000000, 999999999999)",
        f"\\set region random(1, {len(regions)})",
    ]
    return Script(statements, known, "\n".join(head))


def upload(programs, folder, extent):
    clients, rounds, seconds = 8, extent.rounds, extent.write_seconds
    folder = folder / "upload"
    with start_garth(programs, folder, "--attachments-max-per-ticket", "10000") as garth:

        def attach(seconds):
            ticket = json.loads(garth.post("/v4/support/tickets", {"summary": "Files", "description": "Many."}))
            path = f"/v4/support/tickets/{ticket['id']}/attachments"
            return load.put(garth, path, clients, seconds, "upload.lua")

        samplers = {
            GARTH: attach,
            BASELINE: lambda seconds: load.write_files(folder / "by hand", clients, seconds),
        }
        samplers[AGAIN] = samplers[BASELINE]
        for sample in samplers.values():
            sample(1)
        table = Table(
            f"upload: attach 5 MiB to a ticket, {clients} clients; {rounds} rounds of {seconds} s\n"
            "baseline: writing, syncing and naming the same bytes by hand, 8 threads",
            {"throughput": Goal(">=", 0.7)},
        )
        peaks = []
        for _ in range(rounds):
            for name in shuffled(SERVERS):
                table.add(name, samplers[name](seconds))
            peaks.append(garth.peak_mib())
    return [table, Growth("Garth's peak memory in MiB after the first round", peaks[0], peaks[-1], Goal("<=", 1.25))]


def start_shared(programs, folder, url):
    command = [programs.garth, "serve", *ANYWHERE, *NO_QUOTA, "--log", "warn", "--data", folder.with_suffix(".data")]
    command += ["--database", url, "--database-connections", str(CONNECTIONS)]
    command += ["--metrics-listen", "127.0.0.1:0"]
    return Server(command, folder.with_suffix(".log"))


def start_garth(programs, folder, *more):
    command = [programs.garth, "serve", *ANYWHERE, *NO_QUOTA, "--log", "warn", "--data", folder, *more]
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
    "pg_get": Benchmark("view one VPC on PostgreSQL, beside pgbench with the same statements", pg_get),
    "pg_create": Benchmark("create VPCs on PostgreSQL, beside pgbench with the same statements", pg_create),
    "upload": Benchmark("attach files, beside writing them by hand", upload),
    "assign": Benchmark("assign addresses in a crowded subnet, beside an empty one", assign),
}
