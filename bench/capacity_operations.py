"""The operations of bench/capacity, each on all stores of a run."""

import random
from collections import namedtuple

import load
from machine import exact_cpu_seconds
from verdict import AGAIN, BASELINE, DATABASE_CPU, Column, Goal, Table

ACTIVE_TENANTS = 100
WRITER_THREAD = "store-write"
CPU = Column("CPU", "CPU us/request", "cpu_micros")
WRITER_CPU = Column("writer CPU", "writer CPU us", "writer_micros")
# A hundred times as many tenants make the trees of the database one or two levels deeper.
FLAT = {"CPU": Goal("<=", 1.25)}
VPC = '{"label":"n-COUNT","region":"us-ord","subnets":[{"label":"first","ipv4":"10.0.0.0/24"}]}'
TICKET = '{"summary":"Question COUNT","description":"Which range is free?"}'

# `senders` is who sends the requests: some tenants, all of them, or staff.
Operation = namedtuple("Operation", "about method path body senders goals clients", defaults=[None, "some", FLAT, 32])
OPERATIONS = (
    Operation("view a VPC with 2 subnets", "GET", "/v4/vpcs/VPC"),
    Operation("list 2 VPCs", "GET", "/v4/vpcs"),
    Operation("list 9 events", "GET", "/v4/account/events"),
    Operation("view a ticket", "GET", "/v4/support/tickets/TICKET"),
    Operation("list 1 ticket", "GET", "/v4/support/tickets"),
    # A tenant whose identity is not cached costs more: the cache has a limit, and starts empty.
    Operation("view a VPC, by all tenants", "GET", "/v4/vpcs/VPC", None, "all", {}),
    # The queue has as many tickets as the store has tenants, and its length is counted.
    Operation("first page of the desk's queue", "GET", "/v4/desk/tickets", None, "staff", {}, 4),
    Operation("view a ticket at the desk", "GET", "/v4/desk/tickets/TICKET", None, "staff"),
    Operation("search a word at the desk", "GET", "/v4/desk/tickets?q=subnet", None, "staff", {}, 4),
    Operation("create a VPC with a subnet", "POST", "/v4/vpcs", VPC),
    Operation("open a ticket", "POST", "/v4/support/tickets", TICKET),
)

Sample = namedtuple("Sample", "cpu_micros database_micros writer_micros")


def measure_operations(run, engine, servers, postgres):
    for operation in OPERATIONS:
        yield measure_operation(run, engine, servers, postgres, operation)


def measure_operation(run, engine, servers, postgres, operation):
    rounds = run.options.rounds
    # The operations whose cost grows with the store are slow in a large one.
    seconds = run.options.seconds * (1 if operation.clients == 32 else 3)
    contenders = [name for name in servers if name not in (next(iter(servers)), AGAIN)]
    columns = [CPU]
    if postgres:
        columns.append(DATABASE_CPU)
    elif operation.method == "POST":
        columns.append(WRITER_CPU)
    table = Table(
        engine,
        f"{operation.about}: {senders_of(operation)}, {operation.clients} clients; {rounds} rounds of {seconds} s\n"
        f"baseline: a store with {min(run.sizes.values()):,} tenants",
        operation.goals,
        tuple(columns),
        contenders,
    )
    scripts = {name: write_senders(run, name, operation) for name in servers}
    for name in servers:
        sample(servers[name], scripts[name], operation, seconds, postgres)
    for _ in range(rounds):
        for name in random.sample(list(servers), len(servers)):
            row = BASELINE if name not in (AGAIN, *contenders) else name
            table.add(row, sample(servers[name], scripts[name], operation, seconds, postgres))
    return table


def senders_of(operation):
    return {
        "some": f"{ACTIVE_TENANTS} tenants",
        "all": "all tenants",
        "staff": "a staff user",
    }[operation.senders]


def choose_senders(run, name, operation):
    tenants = run.tenants[name]
    if operation.senders == "some":
        # Spread over the store.
        return tenants[:: len(tenants) // ACTIVE_TENANTS][:ACTIVE_TENANTS]
    if operation.senders == "staff":
        return [tenant._replace(token=run.staff) for tenant in tenants[-1:]]
    return tenants


def write_senders(run, name, operation):
    """Writes the file with tokens and IDs for tenants.lua."""
    tenants = choose_senders(run, name, operation)
    file = run.folder / f"senders {operation.senders} {name}"
    file.write_text("".join(f"{tenant.token} {tenant.vpc} {tenant.ticket}\n" for tenant in tenants))
    return file


def sample(server, senders, operation, seconds, postgres):
    arguments = [str(senders), operation.method, operation.path, *([operation.body] if operation.body else [])]
    writer_before = writer_seconds(server)
    result = load.run(server, "", operation.clients, seconds, "tenants.lua", arguments, postgres)
    writer = (writer_seconds(server) - writer_before) * 1e6 / result.requests
    return Sample(result.cpu_micros, result.database_micros, writer)


def writer_seconds(server):
    """The CPU time of the thread that runs all writes of an embedded store."""
    return exact_cpu_seconds(server.process.pid, WRITER_THREAD)
