"""The benchmarks by name. Each is a function that returns tables and figures; its baseline is told in its title."""

from collections import namedtuple

import console
import creates
import lists
import peers
import shared
import operations
import resources

Benchmark = namedtuple("Benchmark", "about run")
BENCHMARKS = {
    "get_vpc": Benchmark("view one VPC, beside a handler that returns the same bytes", operations.get_vpc),
    "list_vpcs": Benchmark("list 100 VPCs, beside writing the same rows from memory", lists.list_vpcs),
    "list_flat": Benchmark("any page of a million rows, beside the first of a thousand", lists.list_flat),
    "filter": Benchmark("X-Filter on a million rows, beside the plain page", lists.filtered),
    "console_list": Benchmark("the console's page of 100 VPCs, beside the JSON of them", console.console_list),
    "create_vpc": Benchmark("create VPCs durably, beside one transaction per request", creates.create_vpc),
    "create_raw": Benchmark("create VPCs durably, beside writing the rows into SQLite", creates.create_raw),
    "create_alone": Benchmark("one client that creates, beside one transaction per request", creates.create_alone),
    "assign": Benchmark("assign addresses in a crowded subnet, beside an empty one", operations.assign),
    "upload": Benchmark("attach files, beside writing them by hand", operations.upload),
    "pg_get": Benchmark("view one VPC on PostgreSQL, beside pgbench with the same statements", shared.pg_get),
    "pg_create": Benchmark("create VPCs on PostgreSQL, beside pgbench with the same statements", shared.pg_create),
    "pg_nodes": Benchmark("three nodes on one database, beside one", shared.pg_nodes),
    "start": Benchmark("how soon it answers, and its memory then", resources.start),
    "memory": Benchmark("memory after a million rows were read, beside idle", resources.memory),
    "connections": Benchmark("10,000 idle connections and 1,000 streams of events", resources.connections),
    "overload": Benchmark("four times what can be answered, beside what can", resources.overload),
    "peer": Benchmark("view and create, beside what one might use instead", peers.peer),
}
