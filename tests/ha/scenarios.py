"""The scenarios. Each injects faults under load and returns its result."""
import time

import databases
import nodes
import sandbox
from service import wait_until
from stack import Scenario, Stack

# Longer than the `ttl` of Patroni, so that the failover happens during the fault.
FAULT_SECONDS = 60
FAILOVER_SECONDS = 120
# A supervisor such as systemd restarts a node after some seconds.
NODE_DOWN_SECONDS = 10


def kill_primary(stack: Stack) -> dict:
    """SIGKILL to Patroni and PostgreSQL of the primary."""
    scenario = Scenario(stack, "kill-primary")
    host = stack.databases.primary()
    with scenario.step("kill -9 of the primary"):
        stack.databases.kill(host)
        wait_for_another_primary(stack, host)
        stack.databases.patroni[host].start()
    return scenario.finish()


def kill_replica(stack: Stack) -> dict:
    """SIGKILL to Patroni and PostgreSQL of the synchronous replica."""
    scenario = Scenario(stack, "kill-replica")
    host = stack.databases.synchronous_replica() or another_host(stack.databases.primary())
    with scenario.step("kill -9 of the synchronous replica"):
        stack.databases.kill(host)
        time.sleep(FAULT_SECONDS / 2)
        stack.databases.patroni[host].start()
    return scenario.finish()


def partition_primary(stack: Stack) -> dict:
    """Cuts off the site of the primary. Clients inside the site still reach the primary through their node."""
    scenario = Scenario(stack, "partition-primary")
    host = stack.databases.primary()
    site = int(host[-1])
    scenario.start_clients_on(site)
    time.sleep(2)
    with scenario.step("partition of the primary's site"):
        start = time.monotonic()
        sandbox.cut_off_site(site)
        try:
            wait_for_another_primary(stack, host)
            remaining = FAULT_SECONDS - (time.monotonic() - start)
            time.sleep(max(0.0, remaining))
            scenario.add_step("partition, seen from inside the site", f"node-{site}", start)
        finally:
            sandbox.reconnect_site(site)
    return scenario.finish()


def hang_patroni(stack: Stack) -> dict:
    """Suspends Patroni on the primary: PostgreSQL still runs, and nothing demotes it."""
    scenario = Scenario(stack, "hang-patroni")
    host = stack.databases.primary()
    with scenario.step("Patroni of the primary hangs"):
        stack.databases.patroni[host].pause()
        try:
            wait_for_another_primary(stack, host)
            time.sleep(FAULT_SECONDS / 4)
        finally:
            stack.databases.patroni[host].resume()
    return scenario.finish()


def restart_all(stack: Stack) -> dict:
    """Restarts every component in turn."""
    scenario = Scenario(stack, "restart")
    for host, node in stack.nodes.garth.items():
        with scenario.step(f"restart of Garth on {host}"):
            restart(node)
    for host, proxy in stack.nodes.database_proxy.items():
        with scenario.step(f"restart of HAProxy on {host}"):
            restart(proxy)
    for host, member in stack.databases.etcd.items():
        with scenario.step(f"restart of etcd on {host}"):
            restart(member)
            stack.databases.wait_for_etcd(host)
    for host in replicas_first(stack):
        restart_database(stack, scenario, host)
    with scenario.step("restart of the proxy"):
        restart(stack.nodes.proxy)
    return scenario.finish()


def restart_database(stack: Stack, scenario: Scenario, host: str) -> None:
    if stack.databases.primary() == host:
        with scenario.step(f"switchover from {host}"):
            stack.databases.switch_over()
    role = "synchronous replica" if stack.databases.synchronous_replica() == host else "replica"
    with scenario.step(f"restart of PostgreSQL on {host} ({role})"):
        restart(stack.databases.patroni[host])


def kill_node(stack: Stack) -> dict:
    """SIGKILL to one Garth node."""
    scenario = Scenario(stack, "kill-node")
    host = nodes.HOSTS[1]
    with scenario.step("kill -9 of a Garth node"):
        stack.nodes.garth[host].kill()
        time.sleep(NODE_DOWN_SECONDS)
        stack.nodes.garth[host].start()
    return scenario.finish()


SCENARIOS = {
    "kill-primary": kill_primary,
    "kill-replica": kill_replica,
    "partition-primary": partition_primary,
    "hang-patroni": hang_patroni,
    "restart": restart_all,
    "kill-node": kill_node,
}


def restart(service) -> None:
    service.stop()
    service.start()


def replicas_first(stack: Stack) -> list[str]:
    primary = stack.databases.primary()
    return sorted(databases.HOSTS, key=lambda host: host == primary)


def wait_for_another_primary(stack: Stack, former: str) -> None:
    others = tuple(host for host in databases.HOSTS if host != former)
    wait_until(
        lambda: stack.databases.primary(others) in others, f"another primary than {former}", FAILOVER_SECONDS
    )


def another_host(host: str) -> str:
    return next(other for other in databases.HOSTS if other != host)
