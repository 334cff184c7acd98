"""What Garth costs while it stands there, and what it does when too much is asked of it."""

import http.client
import json
import select
import socket
import time
from contextlib import ExitStack, closing, contextmanager
from statistics import median

import datasets
import load
from machine import TOKEN, Trouble, allow_many_connections
from postgres import Postgres
from servers import first_vpcs, start_garth, start_shared
from verdict import EMBEDDED, SHARED, Figures, Goal

ASK = "GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " + TOKEN + "\r\n\r\n"


def start(programs, folder, extent):
    """How soon it answers, and what it takes to stand there."""
    full = datasets.embedded(programs, "vpcs", extent.rows)
    with Postgres(folder / "start pg") as postgres:
        postgres.make("store")
        empty = folder / "start"
        ways = {
            "with an empty store": (EMBEDDED, lambda: start_garth(programs, empty)),
            f"with {extent.rows:,} VPCs": (
                EMBEDDED,
                lambda: start_garth(programs, full, *datasets.AS_FILLED, log=folder / "start full.log"),
            ),
            "with an empty database": (
                SHARED,
                lambda: start_shared(programs, folder / "start shared", postgres.url("store")),
            ),
        }
        tables = {}
        for what, (engine, begin) in ways.items():
            figures = tables.setdefault(engine, Figures(engine, "start: from the process's start to the first answer"))
            times, memory = [], []
            # The very first start makes the store.
            for number in range(extent.rounds + 1):
                with begin() as server:
                    server.get("/v4/vpcs")
                    took = (time.monotonic() - server.begun) * 1000
                    time.sleep(0.2)
                    if number:
                        times.append(took)
                        memory.append(server.private_mib())
            figures.add(f"start {what}", times, "ms")
            figures.add(f"idle memory {what}", memory, "MiB")
    return list(tables.values())


def memory(programs, folder, extent):
    """What reading everything leaves behind in its memory."""
    results = []
    with ExitStack() as running:
        embedded = datasets.embedded(programs, "vpcs", extent.rows)
        postgres = running.enter_context(datasets.shared(programs, extent.rows))
        ways = {
            EMBEDDED: lambda: start_garth(programs, embedded, *datasets.AS_FILLED, log=folder / "memory.log"),
            SHARED: lambda: start_shared(programs, folder / "memory pg", postgres.url("vpcs"), *datasets.AS_FILLED),
        }
        for engine, begin in ways.items():
            with begin() as server:
                server.get("/v4/vpcs")
                time.sleep(1)
                idle = server.private_mib()
                rows = read_all(server)
                if rows != extent.rows:
                    raise Trouble(f"{rows} rows were read of {extent.rows}")
                figures = Figures(engine, f"memory: after {rows:,} VPCs were read in pages of 500, one after the other")
                figures.add("private memory, idle", idle, "MiB")
                figures.add("private memory after reading", server.private_mib(), "MiB", idle, Goal("<=", 5.0))
                results.append(figures)
    return results


def read_all(server):
    place, rows, page, pages = server.url.removeprefix("http://"), 0, 1, 1
    with closing(http.client.HTTPConnection(place, timeout=60)) as connection:
        while page <= pages:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            connection.request("GET", f"/v4/vpcs?page={page}&page_size=500", headers=headers)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                raise server.trouble(f"answered {answer.status}: {body[:200]!r}")
            body = json.loads(body)
            rows, page, pages = rows + len(body["data"]), page + 1, body["pages"]
    return rows


def connections(programs, folder, extent):
    """What a connection costs that asks nothing, and a stream that hears nothing; and how soon all streams hear."""
    allow_many_connections(extent.connections + 1_000)
    results = []
    with ExitStack() as running:
        postgres = running.enter_context(Postgres(folder / "connections pg"))
        postgres.make("store")
        ways = {
            EMBEDDED: lambda: start_garth(programs, folder / "connections"),
            SHARED: lambda: start_shared(programs, folder / "connections shared", postgres.url("store")),
        }
        for engine, begin in ways.items():
            figures = Figures(
                engine, f"connections: {extent.connections:,} idle ones, and {extent.streams:,} streams of events"
            )
            with begin() as server:
                hold_idle(server, extent.connections, figures)
            with begin() as server:
                tell_streams(server, extent.streams, extent.rounds, figures)
            results.append(figures)
    return results


def hold_idle(server, count, figures):
    server.get("/v4/vpcs")
    time.sleep(0.5)
    before = server.private_mib()
    with opened(server, count, "/v4/vpcs") as sockets:
        time.sleep(1)
        after = server.private_mib()
        cpu = server.cpu_seconds()
        time.sleep(3)
        cpu = server.cpu_seconds() - cpu
        gone = sum(1 for one in sockets if not is_open(one))
        if gone:
            raise server.trouble(f"closed {gone} of {count} connections that asked once and then waited")
        server.get("/v4/vpcs")
    figures.add(f"memory of each of {count:,} idle connections", (after - before) * 1024 / count, "KiB")
    figures.add(f"CPU of {count:,} idle connections", cpu / 3 * 100, "% of a core")


def tell_streams(server, count, rounds, figures):
    server.get("/v4/vpcs")
    time.sleep(0.5)
    before = server.private_mib()
    with opened(server, count, "/v4/account/events/stream") as sockets:
        time.sleep(0.5)
        after = server.private_mib()
        times = []
        for number in range(rounds):
            begun = time.monotonic()
            label = f"told-{number}"
            server.post("/v4/vpcs", {"label": label, "region": "us-ord"})
            wait_for(server, sockets, label.encode())
            times.append((time.monotonic() - begun) * 1000)
    figures.add(f"memory of each of {count:,} streams", (after - before) * 1024 / count, "KiB")
    figures.add(f"one event, from the create until all of {count:,} streams have it", times, "ms")


@contextmanager
def opened(server, count, path):
    """Connections that have asked once and been answered; of a stream, the beginning."""
    host, port = server.url.removeprefix("http://").split(":")
    sockets = []
    try:
        for _ in range(count):
            one = socket.create_connection((host, int(port)), timeout=20)
            one.sendall(ASK.format(path=path).encode())
            if not one.recv(65536).startswith(b"HTTP/1.1 200"):
                raise server.trouble("did not answer one of many connections with 200")
            sockets.append(one)
        yield sockets
    finally:
        for one in sockets:
            one.close()


def is_open(one):
    one.setblocking(False)
    try:
        return bool(one.recv(65536))
    except BlockingIOError:
        return True
    except OSError:
        return False


def wait_for(server, sockets, marker):
    poll = select.epoll()
    waiting = {one.fileno(): one for one in sockets}
    heard = {number: b"" for number in waiting}
    for number in waiting:
        poll.register(number, select.EPOLLIN)
    deadline = time.monotonic() + 20
    while waiting:
        if time.monotonic() > deadline:
            raise server.trouble(f"did not tell {len(waiting)} of {len(sockets)} streams within 20 seconds")
        for number, _ in poll.poll(1):
            if number not in waiting:
                continue
            part = waiting[number].recv(65536)
            if not part:
                raise server.trouble("ended a stream")
            heard[number] += part
            if marker in heard[number]:
                poll.unregister(number)
                del waiting[number]
    poll.close()


def overload(programs, folder, extent):
    """Four times what it can answer, at a steady pace; see open_loop.rs for why wrk cannot do that."""
    allow_many_connections(8_000)
    # All of them come from one address.
    share = ["--limits-connections-per-address", "8000"]
    results = []
    with ExitStack() as running:
        postgres = running.enter_context(Postgres(folder / "overload pg"))
        postgres.make("store")
        ways = {
            EMBEDDED: lambda: start_garth(programs, folder / "overload", *share),
            SHARED: lambda: start_shared(programs, folder / "overload shared", postgres.url("store"), *share),
        }
        for engine, begin in ways.items():
            with begin() as server:
                first_vpcs(server, 100)
                rounds = [flooded(programs, server, extent.write_seconds) for _ in range(extent.rounds)]
            results.append(under_overload(engine, rounds, extent.write_seconds))
    return results


def flooded(programs, server, seconds):
    """The peak and, right after it, what is left of it."""
    path = "/v4/vpcs"
    load.put(server, path, 32, 1)
    peak = load.put(server, path, 32, seconds).throughput
    # The queue is full before it is counted.
    seen = load.flood(
        programs.baseline, server, path, peak * 4, seconds, before=1 + seconds / 2, connections=6_000
    )
    if seen["other"] or seen["broken"]:
        raise server.trouble(f"answered neither with 200 nor with a refusal: {seen}")
    if not seen["refused"]:
        raise server.trouble(f"refused nothing although four times as much was asked: {seen}")
    # Whoever flooded has gone, and what waits in the queue is for nobody.
    begun = time.monotonic()
    server.get_at_last(path, patience=120)
    return {**seen, "peak": peak, "again": time.monotonic() - begun}


def under_overload(engine, rounds, seconds):
    def of(name, factor):
        return [seen[name] * factor for seen in rounds]

    lists = "lists of 100 VPCs, four times as many as can be answered"
    figures = Figures(engine, f"overload: {lists}; {len(rounds)} rounds of {seconds} s")
    peaks, half = of("peak", 1), of("good_median", 1 / 1000)
    figures.add("peak, 32 clients that wait for their answers", peaks, "answers/s")
    figures.add("good answers under overload", of("good", 1 / seconds), "answers/s", median(peaks), Goal(">=", 0.8))
    figures.add("refusals (429 or 503)", of("refused", 1 / seconds), "answers/s")
    figures.add("a good answer takes", half, "ms")
    figures.add("a good answer takes, 99 of 100", of("good_late", 1 / 1000), "ms")
    figures.add("a refusal takes", of("refused_median", 1 / 1000), "ms", median(half), Goal("<=", 0.5))
    figures.add("a refusal takes, 99 of 100", of("refused_late", 1 / 1000), "ms")
    figures.add("when the flood has ended, the next answer takes", of("again", 1000), "ms")
    return figures
