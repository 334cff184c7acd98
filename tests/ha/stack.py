"""The whole stack: databases, nodes and the proxy, and the measurement of one scenario."""
import contextlib
import pathlib
import time

import verify
from databases import Databases
from load import Load, summarize
from nodes import PROXY_URL, Nodes

WARM_UP_SECONDS = 5
# After a recovery, so that the last gap ends inside the measurement.
SETTLE_SECONDS = 5


class Stack:
    def __init__(self, binary: pathlib.Path, settings: pathlib.Path, folder: pathlib.Path, patroni: list):
        self.logs = folder / "logs"
        self.logs.mkdir()
        self.databases = Databases(settings, folder, self.logs, patroni)
        self.nodes = Nodes(binary, settings, folder, self.logs)
        # All requests of all scenarios.
        self.requests: list[dict] = []

    def start(self, replication: str, direct: bool) -> None:
        self.databases.start()
        self.databases.create_database()
        self.databases.set_replication(replication)
        if direct:
            self.nodes.connect_directly()
        self.nodes.start()

    def wait_until_recovered(self) -> None:
        self.databases.wait_until_healthy()
        self.nodes.wait_until_ready()
        time.sleep(SETTLE_SECONDS)

    def tails(self) -> str:
        services = [*self.databases.etcd.values(), *self.databases.patroni.values(), *self.nodes.garth.values()]
        services += [*self.nodes.database_proxy.values(), self.nodes.proxy]
        return "\n".join(f"--- {service.name}\n{service.tail()}" for service in services)


class Scenario:
    """Runs clients while faults are injected. Each step is one row of the result."""

    def __init__(self, stack: Stack, name: str):
        self.stack, self.name = stack, name
        self.loads = {"proxy": Load(name, PROXY_URL, stack.nodes.tokens, stack.logs)}
        self.steps: list[tuple[str, str, float, float]] = []
        self.problems: list[str] = []
        time.sleep(WARM_UP_SECONDS)

    @contextlib.contextmanager
    def step(self, fault: str):
        """Measures from here until the stack has recovered."""
        print(f"{time.strftime('%H:%M:%S')} {fault}", flush=True)
        start = time.monotonic()
        try:
            yield
            self.stack.wait_until_recovered()
        except TimeoutError as error:
            # The writes are still compared with the store.
            self.problems.append(f"{fault}: {error}")
        self.steps.append((fault, "proxy", start, time.monotonic()))

    def start_clients_on(self, site: int) -> None:
        """Starts clients in a site. They use the node of that site directly."""
        host = f"node-{site}"
        url = f"http://{host}:8080"
        self.loads[host] = Load(f"{self.name}-{host}", url, self.stack.nodes.tokens[:1], self.stack.logs, host)

    def add_step(self, fault: str, clients: str, start: float) -> None:
        """Adds a row for other clients than those of the proxy."""
        self.steps.append((fault, clients, start, time.monotonic()))

    def finish(self) -> dict:
        """Ends the clients, and compares the store with their writes."""
        requests = {clients: load.stop() for clients, load in self.loads.items()}
        for recorded in requests.values():
            self.stack.requests += recorded
        rows = [
            {"fault": fault, "clients": clients} | summarize(requests[clients], start, end)
            for fault, clients, start, end in self.steps
        ]
        writes = verify.verify(self.stack.requests, self.stack.nodes.tokens)
        is_sound, output = self.stack.nodes.check_store()
        return {
            "scenario": self.name,
            "steps": rows,
            "problems": self.problems,
            "writes": writes,
            "garth_check": {"sound": is_sound, "output": output},
            "passed": is_sound and verify.is_sound(writes) and not self.problems,
        }
