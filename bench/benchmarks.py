"""The benchmarks by name. Each is a function that returns tables and figures. The title names the baseline."""

from collections import namedtuple

import console
import creates
import dataplane
import lists
import peers
import shared
import snapshots
import operations
import resources

Benchmark = namedtuple("Benchmark", "about run")
BENCHMARKS = {
    "get_vpc": Benchmark("view one VPC, compared with a handler that returns the same bytes", operations.get_vpc),
    "list_vpcs": Benchmark("list 100 VPCs, compared with the same rows from memory", lists.list_vpcs),
    "list_flat": Benchmark("any page of a million rows, compared with the first of a thousand", lists.list_flat),
    "filter": Benchmark("X-Filter on a million rows, compared with the unfiltered page", lists.filtered),
    "console_list": Benchmark("pages of the console, compared with the JSON of the same objects", console.console_list),
    "console_scale": Benchmark("pages of a large account, compared with a small account", console.console_scale),
    "create_vpc": Benchmark("create VPCs durably, compared with one transaction per request", creates.create_vpc),
    "create_raw": Benchmark("create VPCs durably, compared with raw rows in SQLite", creates.create_raw),
    "create_alone": Benchmark("creates of one client, compared with one transaction per request", creates.create_alone),
    "assign": Benchmark("assign addresses in a used subnet, compared with an empty one", operations.assign),
    "upload": Benchmark("attach files, compared with writing them directly", operations.upload),
    "pg_get": Benchmark("view one VPC on PostgreSQL, compared with pgbench", shared.pg_get),
    "pg_create": Benchmark("create VPCs on PostgreSQL, compared with pgbench", shared.pg_create),
    "pg_nodes": Benchmark("three nodes on one database, compared with one", shared.pg_nodes),
    "start": Benchmark("time until the first response, and memory at that point", resources.start),
    "memory": Benchmark("memory after reading a million rows, compared with idle", resources.memory),
    "connections": Benchmark("10,000 idle connections and 1,000 event streams", resources.connections),
    "overload": Benchmark("four times the capacity, compared with the peak", resources.overload),
    "snapshot_restore": Benchmark("restore a snapshot, compared with a file copy", snapshots.snapshot_restore),
    "dataplane": Benchmark("host agents, compared with ip, bridge and nft; 500 simulated hosts", dataplane.dataplane),
    "peer": Benchmark("view and create, compared with alternatives", peers.peer),
}
