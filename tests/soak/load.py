"""The load: threads that act as clients, each with its own connection."""
import collections
import random
import threading

from client import Client, UnexpectedResponse
from journeys import JOURNEYS, fill, follow_stream, log_in

WORKERS = 6
FILLERS = 4
STREAMS = 4
CONCURRENT_LOG_INS = 2


class Load:
    """Runs the load inside a `with` statement."""

    def __init__(self, garth, rate: float):
        self.garth, self.rate = garth, rate
        self.counts: collections.Counter = collections.Counter()
        self.failures: collections.Counter = collections.Counter()
        self.lock = threading.Lock()
        self.stop = threading.Event()
        self.filling = threading.Event()
        self.sent = 0
        self.tickets = self._open_tickets()
        jobs = [self._work] * WORKERS + [self._fill] * FILLERS + [self._stream] * STREAMS
        self.threads = [threading.Thread(target=job, args=(number,)) for number, job in enumerate(jobs)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def set_filling(self, enabled: bool) -> None:
        self.filling.set() if enabled else self.filling.clear()

    def log_in_concurrently(self) -> None:
        """Makes the server hash the maximum number of passwords concurrently. It retains 19 MiB of memory for each."""
        barrier = threading.Barrier(CONCURRENT_LOG_INS)

        def log_in_repeatedly():
            client = Client(self.garth.address, self.count)
            for _ in range(20):
                self._try("concurrent log-in", lambda: log_in(client, {}, barrier.wait))

        threads = [threading.Thread(target=log_in_repeatedly) for _ in range(CONCURRENT_LOG_INS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def requests(self) -> int:
        return self.sent

    def errors(self) -> int:
        return sum(self.failures.values())

    def count(self, requests: int) -> None:
        with self.lock:
            self.sent += requests

    def _open_tickets(self) -> list[int]:
        client = Client(self.garth.address, lambda _: None)
        body = {"summary": "Soak", "description": "A ticket for replies."}
        return [client.json("POST", "/v4/support/tickets", body)["id"] for _ in range(20)]

    def _work(self, number: int) -> None:
        generator = random.Random(number)
        client = Client(self.garth.address, self._pace)
        names, weights = zip(*[(journey, journey.weight) for journey in JOURNEYS])
        while not self.stop.is_set():
            journey = generator.choices(names, weights)[0]
            self._try(journey.__name__, lambda: journey(client, generator, self.tickets))

    def _fill(self, number: int) -> None:
        client = Client(self.garth.address, self.count)
        generator = random.Random(number)
        while not self.stop.is_set():
            if self.filling.wait(0.5):
                self._try("fill", lambda: fill(client, generator, self.tickets))

    def _stream(self, number: int) -> None:
        while not self.stop.is_set():
            self._try("event stream", lambda: follow_stream(self.garth.address, 5 + number % 4, self.stop))

    def _try(self, name: str, work) -> None:
        try:
            work()
        except (UnexpectedResponse, OSError, ValueError, KeyError, IndexError) as cause:
            with self.lock:
                self.failures[f"{name}: {type(cause).__name__}: {cause}"[:200]] += 1
            self.stop.wait(0.2)
        else:
            with self.lock:
                self.counts[name] += 1

    def _pace(self, requests: int) -> None:
        """Limits each worker to its share of the rate."""
        self.count(requests)
        self.stop.wait(requests * WORKERS / self.rate * random.uniform(0.5, 1.5))
