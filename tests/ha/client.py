"""A client process: writers and readers that record every request in a file, one JSON object on each line.

    client.py URL PREFIX LOG TOKEN…

Each writer creates VPCs and opens tickets, each with a new name, and never repeats a request. Readers read objects that
were acknowledged. The process ends when its standard input is closed.
"""
import http.client
import json
import random
import sys
import threading
import time
import urllib.parse

WRITERS_PER_TOKEN = 2
# Longer than any response of Garth takes.
TIMEOUT = 40
PAUSE_AFTER_SUCCESS = 0.1
PAUSE_AFTER_FAILURE = 0.25


class Client:
    def __init__(self, url: str, token: str):
        self.address, self.token = urllib.parse.urlsplit(url).netloc, token
        self.connection = None

    def send(self, method: str, path: str, body=None):
        """Returns the status and the JSON of the response. Status 0: no response."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection(self.address, timeout=TIMEOUT)
            self.connection.request(method, path, body and json.dumps(body), headers)
            reply = self.connection.getresponse()
            content = reply.read()
            if reply.will_close:
                self.close()
            return reply.status, json.loads(content) if reply.status == 200 else None
        except (http.client.HTTPException, OSError, ValueError):
            self.close()
            return 0, None

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
        self.connection = None


class Recorder:
    def __init__(self, path: str):
        self.file, self.lock = open(path, "w", buffering=1), threading.Lock()
        # The latest acknowledged objects of each token: kind and ID.
        self.acknowledged: dict[str, tuple[str, int]] = {}

    def record(self, **fields) -> None:
        with self.lock:
            self.file.write(json.dumps(fields) + "\n")


def write(client: Client, recorder: Recorder, prefix: str, stop: threading.Event) -> None:
    number = 0
    while not stop.is_set():
        number += 1
        name = f"{prefix}-{number}"
        kind = "vpc" if number % 2 else "ticket"
        started = time.monotonic()
        status, created = client.send("POST", *new_object(kind, name))
        ended = time.monotonic()
        ok = status == 200
        recorder.record(
            request="write", kind=kind, name=name, status=status, id=created["id"] if ok else None,
            token=client.token, started=started, ended=ended,
        )
        if ok:
            recorder.acknowledged[client.token] = (kind, created["id"])
        stop.wait(PAUSE_AFTER_SUCCESS if ok else PAUSE_AFTER_FAILURE)


def new_object(kind: str, name: str) -> tuple[str, dict]:
    if kind == "vpc":
        subnets = [{"label": "first", "ipv4": "10.0.0.0/24"}]
        return "/v4/vpcs", {"label": name, "region": "us-east", "subnets": subnets}
    return "/v4/support/tickets", {"summary": name, "description": "Opened by the test."}


def read(client: Client, recorder: Recorder, stop: threading.Event) -> None:
    paths = {"vpc": "/v4/vpcs", "ticket": "/v4/support/tickets"}
    while not stop.is_set():
        target = recorder.acknowledged.get(client.token)
        kind, number = target or ("vpc", None)
        started = time.monotonic()
        path = f"{paths[kind]}/{number}" if number else f"{paths[kind]}?page_size=25"
        status, _ = client.send("GET", path)
        recorder.record(request="read", status=status, id=number, kind=kind, started=started, ended=time.monotonic())
        stop.wait(PAUSE_AFTER_SUCCESS + random.random() * 0.1)


def main() -> None:
    url, prefix, log, *tokens = sys.argv[1:]
    recorder, stop = Recorder(log), threading.Event()
    threads = []
    for number, token in enumerate(tokens):
        for writer in range(WRITERS_PER_TOKEN):
            arguments = (Client(url, token), recorder, f"{prefix}-{number}-{writer}", stop)
            threads.append(threading.Thread(target=write, args=arguments))
        threads.append(threading.Thread(target=read, args=(Client(url, token), recorder, stop)))
    for thread in threads:
        thread.start()
    sys.stdin.read()
    stop.set()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
