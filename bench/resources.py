"""Resources of an idle server, and its behavior under overload."""

import http.client
import json
import select
import socket
import time
from contextlib import ExitStack, closing, contextmanager
from statistics import median

import datasets
import load
from machine import TOKEN, BenchmarkError, allow_many_connections
from postgres import Postgres
from servers import create_vpcs, start_garth, start_shared
from verdict import EMBEDDED, SHARED, Figures, Goal

REQUEST = "GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " + TOKEN + "\r\n\r\n"


def start(programs, folder, extent):
    """The time until the first response, and the memory of an idle server."""
    full = datasets.embedded(programs, "vpcs", extent.rows)
    with Postgres(folder / "start pg") as postgres:
        postgres.create_database("store")
        empty = folder / "start"
        starts = {
            "with an empty store": (EMBEDDED, lambda: start_garth(programs, empty)),
            f"with {extent.rows:,} VPCs": (
                EMBEDDED,
                lambda: start_garth(programs, full, *datasets.OPTIONS, log=folder / "start full.log"),
            ),
            "with an empty database": (
                SHARED,
                lambda: start_shared(programs, folder / "start shared", postgres.url("store")),
            ),
        }
        tables = {}
        for what, (engine, start_server) in starts.items():
            figures = tables.setdefault(engine, Figures(engine, "start: from process start to the first response"))
            times, memory = [], []
            # The first start creates the store.
            for number in range(extent.rounds + 1):
                with start_server() as server:
                    server.get("/v4/vpcs")
                    took = (time.monotonic() - server.started) * 1000
                    time.sleep(0.2)
                    if number:
                        times.append(took)
                        memory.append(server.private_mib())
            figures.add(f"start {what}", times, "ms")
            figures.add(f"idle memory {what}", memory, "MiB")
    return list(tables.values())


def memory(programs, folder, extent):
    """The memory after reading all rows."""
    results = []
    with ExitStack() as running:
        embedded = datasets.embedded(programs, "vpcs", extent.rows)
        postgres = running.enter_context(datasets.shared(programs, extent.rows))
        starts = {
            EMBEDDED: lambda: start_garth(programs, embedded, *datasets.OPTIONS, log=folder / "memory.log"),
            SHARED: lambda: start_shared(programs, folder / "memory pg", postgres.url("vpcs"), *datasets.OPTIONS),
        }
        for engine, start_server in starts.items():
            with start_server() as server:
                server.get("/v4/vpcs")
                time.sleep(1)
                idle = server.private_mib()
                rows = read_all(server)
                if rows != extent.rows:
                    raise BenchmarkError(f"{rows} rows were read of {extent.rows}")
                figures = Figures(engine, f"memory: after reading {rows:,} VPCs in pages of 500")
                figures.add("private memory, idle", idle, "MiB")
                figures.add("private memory after reading", server.private_mib(), "MiB", idle, Goal("<=", 5.0))
                results.append(figures)
    return results


def read_all(server):
    address, rows, page, pages = server.url.removeprefix("http://"), 0, 1, 1
    with closing(http.client.HTTPConnection(address, timeout=60)) as connection:
        while page <= pages:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            connection.request("GET", f"/v4/vpcs?page={page}&page_size=500", headers=headers)
            response = connection.getresponse()
            body = response.read()
            if response.status != 200:
                raise server.error(f"returned {response.status}: {body[:200]!r}")
            body = json.loads(body)
            rows, page, pages = rows + len(body["data"]), page + 1, body["pages"]
    return rows


def connections(programs, folder, extent):
    """The cost of idle connections and event streams, and the time until all streams have an event."""
    allow_many_connections(extent.connections + 1_000)
    results = []
    with ExitStack() as running:
        postgres = running.enter_context(Postgres(folder / "connections pg"))
        postgres.create_database("store")
        starts = {
            EMBEDDED: lambda: start_garth(programs, folder / "connections"),
            SHARED: lambda: start_shared(programs, folder / "connections shared", postgres.url("store")),
        }
        for engine, start_server in starts.items():
            figures = Figures(
                engine, f"connections: {extent.connections:,} idle connections, and {extent.streams:,} event streams"
            )
            with start_server() as server:
                measure_idle(server, extent.connections, figures)
            with start_server() as server:
                notify_streams(server, extent.streams, extent.rounds, figures)
            results.append(figures)
    return results


def measure_idle(server, count, figures):
    server.get("/v4/vpcs")
    time.sleep(0.5)
    before = server.private_mib()
    with opened(server, count, "/v4/vpcs") as sockets:
        time.sleep(1)
        after = server.private_mib()
        cpu = server.cpu_seconds()
        time.sleep(3)
        cpu = server.cpu_seconds() - cpu
        closed = sum(1 for connection in sockets if not is_open(connection))
        if closed:
            raise server.error(f"closed {closed} of {count} idle connections")
        server.get("/v4/vpcs")
    figures.add(f"memory of each of {count:,} idle connections", (after - before) * 1024 / count, "KiB")
    figures.add(f"CPU of {count:,} idle connections", cpu / 3 * 100, "% of a core")


def notify_streams(server, count, rounds, figures):
    server.get("/v4/vpcs")
    time.sleep(0.5)
    before = server.private_mib()
    with opened(server, count, "/v4/account/events/stream") as sockets:
        time.sleep(0.5)
        after = server.private_mib()
        times = []
        for number in range(rounds):
            started = time.monotonic()
            label = f"event-{number}"
            server.post("/v4/vpcs", {"label": label, "region": "us-ord"})
            wait_for(server, sockets, label.encode())
            times.append((time.monotonic() - started) * 1000)
    figures.add(f"memory of each of {count:,} streams", (after - before) * 1024 / count, "KiB")
    figures.add(f"one event, from the create until all of {count:,} streams have it", times, "ms")


@contextmanager
def opened(server, count, path):
    """Opens connections that have sent one request and received a response, or the start of a stream."""
    host, port = server.url.removeprefix("http://").split(":")
    sockets = []
    try:
        for _ in range(count):
            connection = socket.create_connection((host, int(port)), timeout=20)
            connection.sendall(REQUEST.format(path=path).encode())
            if not connection.recv(65536).startswith(b"HTTP/1.1 200"):
                raise server.error("did not return 200 on all connections")
            sockets.append(connection)
        yield sockets
    finally:
        for connection in sockets:
            connection.close()


def is_open(connection):
    connection.setblocking(False)
    try:
        return bool(connection.recv(65536))
    except BlockingIOError:
        return True
    except OSError:
        return False


def wait_for(server, sockets, marker):
    poll = select.epoll()
    waiting = {connection.fileno(): connection for connection in sockets}
    received = {number: b"" for number in waiting}
    for number in waiting:
        poll.register(number, select.EPOLLIN)
    deadline = time.monotonic() + 20
    while waiting:
        if time.monotonic() > deadline:
            raise server.error(f"did not notify {len(waiting)} of {len(sockets)} streams within 20 seconds")
        for number, _ in poll.poll(1):
            if number not in waiting:
                continue
            part = waiting[number].recv(65536)
            if not part:
                raise server.error("closed a stream")
            received[number] += part
            if marker in received[number]:
                poll.unregister(number)
                del waiting[number]
    poll.close()


def overload(programs, folder, extent):
    """Four times the capacity at a constant rate. open_loop.rs explains why wrk cannot do that."""
    allow_many_connections(8_000)
    # All connections have the same address.
    share = ["--limits-connections-per-address", "8000"]
    results = []
    with ExitStack() as running:
        postgres = running.enter_context(Postgres(folder / "overload pg"))
        postgres.create_database("store")
        starts = {
            EMBEDDED: lambda: start_garth(programs, folder / "overload", *share),
            SHARED: lambda: start_shared(programs, folder / "overload shared", postgres.url("store"), *share),
        }
        for engine, start_server in starts.items():
            with start_server() as server:
                create_vpcs(server, 100)
                rounds = [overload_round(programs, server, extent.write_seconds) for _ in range(extent.rounds)]
            results.append(overload_figures(engine, rounds, extent.write_seconds))
    return results


def overload_round(programs, server, seconds):
    """Measures the peak throughput, and then the throughput under overload."""
    path = "/v4/vpcs"
    load.run(server, path, 32, 1)
    peak = load.run(server, path, 32, seconds).throughput
    # The queue is full before the measurement starts.
    seen = load.send_at_rate(
        programs.baseline, server, path, peak * 4, seconds, before=1 + seconds / 2, connections=6_000
    )
    if seen["other"] or seen["broken"]:
        raise server.error(f"returned other statuses than 200, 429 and 503: {seen}")
    if not seen["refused"]:
        raise server.error(f"refused no request at four times the capacity: {seen}")
    # The load has stopped, and the clients of the queued requests are disconnected.
    started = time.monotonic()
    server.get_with_retries(path, timeout=120)
    return {**seen, "peak": peak, "again": time.monotonic() - started}


def overload_figures(engine, rounds, seconds):
    def of(name, factor):
        return [seen[name] * factor for seen in rounds]

    lists = "lists of 100 VPCs at four times the capacity"
    figures = Figures(engine, f"overload: {lists}; {len(rounds)} rounds of {seconds} s")
    peaks, half = of("peak", 1), of("good_median", 1 / 1000)
    figures.add("peak, 32 clients that wait for each response", peaks, "responses/s")
    figures.add("successful responses under overload", of("good", 1 / seconds), "responses/s", median(peaks), Goal(">=", 0.8))
    figures.add("refusals (429 or 503)", of("refused", 1 / seconds), "responses/s")
    figures.add("time of a successful response, median", half, "ms")
    figures.add("time of a successful response, 99th percentile", of("good_late", 1 / 1000), "ms")
    figures.add("time of a refusal, median", of("refused_median", 1 / 1000), "ms", median(half), Goal("<=", 0.5))
    figures.add("time of a refusal, 99th percentile", of("refused_late", 1 / 1000), "ms")
    figures.add("time of the next response after the overload", of("again", 1000), "ms")
    return figures
