"""Views and creates on PostgreSQL, with one node and with three."""

import json
import re
from contextlib import ExitStack

import load
from machine import TOKEN, BenchmarkError, output_of
from postgres import Postgres, Script, captured
from servers import CONNECTIONS, sample_all, shuffled, start_shared, vpc_regions
from verdict import AGAIN, BASELINE, COLUMNS, DATABASE_CPU, GARTH, RETRIES, SERVERS, SHARED, Goal, Table

# Unique values that identify the arguments of one create in the log.
VPC, SUBNET, LABEL = 1000001, 2000001, "bench-1-12345"


def pg_get(programs, folder, extent):
    clients, rounds, seconds = 32, extent.rounds, extent.read_seconds
    with ExitStack() as running:
        postgres = running.enter_context(Postgres(folder / "pg_get"))
        postgres.create_database("store")
        with start_shared(programs, folder / "pg_get first", postgres.url("store", log_statement="all")) as garth:
            subnets = [{"label": f"subnet-{n}", "ipv4": f"10.0.{n}.0/24"} for n in range(3)]
            garth.post("/v4/vpcs", {"label": "first", "region": "us-ord", "subnets": []})
            postgres.query("store", "SELECT setval('vpc_id_seq', 1000000)")
            vpc = json.loads(garth.post("/v4/vpcs", {"label": "core", "region": "us-ord", "subnets": subnets}))
            path = f"/v4/vpcs/{vpc['id']}"
            garth.get(path)
            script = Script(captured(postgres, "store", str(vpc["id"])), {})
        garth = running.enter_context(start_shared(programs, folder / "pg_get", postgres.url("store")))
        samplers = {
            GARTH: lambda seconds: load.run(garth, path, clients, seconds, database=postgres),
            BASELINE: lambda seconds: postgres.pgbench("store", script, CONNECTIONS, seconds),
        }
        samplers[AGAIN] = samplers[BASELINE]
        for sample in samplers.values():
            sample(1)

        table = Table(
            SHARED,
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
            SHARED,
            f"pg_create: durable create of a VPC with one subnet on PostgreSQL, {clients} clients of "
            f"{accounts} account{'s' if accounts > 1 else ''}; {rounds} rounds of {seconds} s\n"
            f"baseline: pgbench, prepared, the same statements, {CONNECTIONS} connections like Garth",
            {"throughput": Goal(">=", 0.8)},
            (*COLUMNS, DATABASE_CPU, RETRIES),
            label=f"{accounts} account{'s' if accounts > 1 else ''}",
        )
        for accounts in (32, 1)
    }
    folder = folder / "pg_create"
    with Postgres(folder) as postgres:
        tokens, regions = create_accounts(programs, folder, postgres, max(tables))
        statements = capture_create(programs, folder, postgres, regions)
        # Like create_vpc, every sample starts with a new process and an empty store.
        for _ in range(rounds):
            for name, accounts in shuffled((name, accounts) for name in SERVERS for accounts in tables):
                postgres.create_database("store", like="accounts")
                postgres.query("store", "CHECKPOINT")
                if name == GARTH:
                    arguments = [*regions, *(f"token={token}" for token in tokens[:accounts])]
                    with start_shared(programs, folder / "garth", postgres.url("store")) as server:
                        options = {"script": "create_vpc.lua", "arguments": arguments, "database": postgres}
                        sample = load.run(server, "/v4/vpcs", clients, seconds, **options)
                    pending = clients
                else:
                    script = create_script(statements, accounts, regions)
                    sample = postgres.pgbench("store", script, CONNECTIONS, seconds)
                    pending = 0
                stored = int(postgres.query("store", "SELECT count(*) FROM vpc"))
                if not sample.requests <= stored <= sample.requests + pending:
                    raise BenchmarkError(f"{name} acknowledged {sample.requests} creates, and {stored} VPCs are stored")
                tables[accounts].add(name, sample)
                postgres.drop_database("store")
    return list(tables.values())


def create_accounts(programs, folder, postgres, count):
    """Creates a database with this number of accounts; returns their tokens, and the regions with VPCs."""
    postgres.create_database("accounts")
    url = postgres.url("accounts")
    with start_shared(programs, folder / "preparing", url) as garth:
        regions = vpc_regions(garth)
    tokens = [TOKEN]
    for number in range(2, count + 1):
        username = f"user-{number}"
        email = ["--email", f"{username}@example.com"]
        for command in (
            ["account", "create", "--company", f"Company {number}", *email],
            ["user", "create", "--account", str(number), "--username", username, *email],
            ["token", "create", "--user", username],
        ):
            output = output_of([programs.garth, "--database", url, *command])
        tokens.append(output.strip())
    matching = postgres.query("accounts", "SELECT count(*) FROM app_user WHERE id = account")
    if matching != str(count):
        raise BenchmarkError(f"{matching} of {count} accounts have a user with the same ID")
    return tokens, regions


def capture_create(programs, folder, postgres, regions):
    """The statements of one create of account 1."""
    postgres.create_database("captured", like="accounts")
    for table, last in {"vpc": VPC - 1, "subnet": SUBNET - 1}.items():
        postgres.query("captured", f"SELECT setval('{table}_id_seq', {last - 1})")
    with start_shared(programs, folder / "capturing", postgres.url("captured", log_statement="all")) as garth:
        # The first request also loads the identity.
        for label in ("first", LABEL):
            subnets = [{"label": "first", "ipv4": "10.0.0.0/24"}]
            garth.post("/v4/vpcs", {"label": label, "region": regions[0], "subnets": subnets})
        statements = captured(postgres, "captured", LABEL)
    postgres.drop_database("captured")
    return statements


def create_script(statements, accounts, regions):
    """A script in which connections do not share accounts, like in Garth, if there are enough accounts."""
    known = {"1": "account", LABEL: "label", regions[0]: "region", str(VPC): "vpc_id", str(SUBNET): "subnet_id"}
    accounts_each = accounts // CONNECTIONS
    account = f"1 + :client_id + {CONNECTIONS} * random(0, {accounts_each - 1})" if accounts_each else "1"
    lock = re.search(r"pg_advisory_lock\((\d+)\)", statements[0].sql)
    head = [
        f"\\set account {account}",
        f"\\set lock {int(lock[1]) - 1} + :account",
        "\\set label random(100000000000, 999999999999)",
        f"\\set region random(1, {len(regions)})",
    ]
    return Script(statements, known, "\n".join(head))


def pg_nodes(programs, folder, extent):
    clients, rounds, nodes = 32, extent.rounds, 3
    folder = folder / "pg_nodes"
    with Postgres(folder) as postgres:
        tokens, regions = create_accounts(programs, folder, postgres, 32)
        view = Table(
            SHARED,
            f"pg_nodes: view one VPC with 3 subnets, {clients} clients of {nodes} nodes; "
            f"{rounds} rounds of {extent.read_seconds} s\n"
            "baseline: one node on the same database",
            {},
            (*COLUMNS, DATABASE_CPU),
            label="view, three nodes",
        )
        postgres.create_database("store", like="accounts")
        with ExitStack() as running:
            servers = start_nodes(running, programs, folder, postgres, nodes)
            subnets = [{"label": f"subnet-{n}", "ipv4": f"10.0.{n}.0/24"} for n in range(3)]
            servers[0].post("/v4/vpcs", {"label": "core", "region": regions[0], "subnets": subnets})
            path = "/v4/vpcs/1"
            for server in servers:
                load.run(server, path, clients, 1)
            run = lambda nodes: lambda: load.run_on_all(
                nodes, path, clients, extent.read_seconds, postgres, [{}] * len(nodes)
            )
            samplers = {BASELINE: run(servers[:1]), AGAIN: run(servers[:1]), GARTH: run(servers)}
            sample_all(view, samplers, rounds)
        postgres.drop_database("store")

        create = Table(
            SHARED,
            f"pg_nodes: durable create of a VPC with one subnet, {clients} clients of {len(tokens)} accounts and "
            f"{nodes} nodes; {rounds} rounds of {extent.write_seconds} s\n"
            "baseline: one node on the same database",
            {},
            (*COLUMNS, DATABASE_CPU),
            label="create, three nodes",
        )
        for _ in range(rounds):
            for name in shuffled(SERVERS):
                postgres.create_database("store", like="accounts")
                postgres.query("store", "CHECKPOINT")
                with ExitStack() as running:
                    servers = start_nodes(running, programs, folder, postgres, nodes if name == GARTH else 1)
                    common = [*regions, *(f"token={token}" for token in tokens)]
                    arguments = [[*common, f"from={n}"] for n in range(len(servers))]
                    options = [{"script": "create_vpc.lua", "arguments": each} for each in arguments]
                    sample = load.run_on_all(servers, "/v4/vpcs", clients, extent.write_seconds, postgres, options)
                stored = int(postgres.query("store", "SELECT count(*) FROM vpc"))
                if not sample.requests <= stored <= sample.requests + clients:
                    raise BenchmarkError(f"{sample.requests} creates were acknowledged, and {stored} VPCs are stored")
                create.add(name, sample)
                postgres.drop_database("store")
    return [view, create]


def start_nodes(running, programs, folder, postgres, count):
    url = postgres.url("store")
    return [running.enter_context(start_shared(programs, folder / f"node {n}", url)) for n in range(count)]
