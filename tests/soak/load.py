"""The load: threads that do what clients and people do, each over a connection of its own."""
import collections
import random
import threading

from client import Client, Refused
from journeys import FILL, JOURNEYS, follow_stream, log_in

WORKERS = 6
FILLERS = 4
STREAMS = 4
HASHED_AT_ONCE = 2


class Load:
    """Runs while it is entered."""

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

    def fill(self, wanted: bool) -> None:
        self.filling.set() if wanted else self.filling.clear()

    def hash_together(self) -> None:
        """Has the server hash as many passwords at once as it ever does: it keeps the memory, 19 MiB for each."""
        together = threading.Barrier(HASHED_AT_ONCE)

        def log_in_again_and_again():
            client = Client(self.garth.address, self.count)
            for _ in range(20):
                self._try("log in together", lambda: log_in(client, {}, together.wait))

        threads = [threading.Thread(target=log_in_again_and_again) for _ in range(HASHED_AT_ONCE)]
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
        body = {"summary": "Soak", "description": "A ticket to write in."}
        return [client.json("POST", "/v4/support/tickets", body)["id"] for _ in range(20)]

    def _work(self, number: int) -> None:
        chance = random.Random(number)
        client = Client(self.garth.address, self._pace)
        names, weights = zip(*[(journey, journey.weight) for journey in JOURNEYS])
        while not self.stop.is_set():
            journey = chance.choices(names, weights)[0]
            self._try(journey.__name__, lambda: journey(client, chance, self.tickets))

    def _fill(self, number: int) -> None:
        client = Client(self.garth.address, self.count)
        chance = random.Random(number)
        while not self.stop.is_set():
            if self.filling.wait(0.5):
                self._try("fill", lambda: FILL(client, chance, self.tickets))

    def _stream(self, number: int) -> None:
        while not self.stop.is_set():
            self._try("event stream", lambda: follow_stream(self.garth.address, 5 + number % 4, self.stop))

    def _try(self, name: str, work) -> None:
        try:
            work()
        except (Refused, OSError, ValueError, KeyError, IndexError) as cause:
            with self.lock:
                self.failures[f"{name}: {type(cause).__name__}: {cause}"[:200]] += 1
            self.stop.wait(0.2)
        else:
            with self.lock:
                self.counts[name] += 1

    def _pace(self, requests: int) -> None:
        """Each worker has its share of the rate."""
        self.count(requests)
        self.stop.wait(requests * WORKERS / self.rate * random.uniform(0.5, 1.5))
