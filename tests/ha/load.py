"""Client processes, and the requests that they recorded."""
import collections
import json
import pathlib
import subprocess
import sys

import sandbox
from service import clean_environment

CLIENT = pathlib.Path(__file__).with_name("client.py")
STOP_SECONDS = 120


class Load:
    """One client process. It runs on a host, or in the core if there is none."""

    def __init__(self, name: str, url: str, tokens: list[str], logs: pathlib.Path, host: str | None = None):
        self.log = logs / f"requests-{name}.jsonl"
        arguments = [sys.executable, str(CLIENT), url, name, str(self.log), *tokens]
        command = sandbox.command_on(host, arguments) if host else arguments
        self.process = subprocess.Popen(
            command, env=clean_environment(), stdin=subprocess.PIPE, start_new_session=True
        )

    def stop(self) -> list[dict]:
        """Ends the clients after their current requests. Returns all requests."""
        self.process.stdin.close()
        self.process.wait(STOP_SECONDS)
        return self.requests()

    def requests(self) -> list[dict]:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [json.loads(line) for line in lines]


def summarize(requests: list[dict], start: float, end: float) -> dict:
    """Counts the requests that ended between two times, and finds the longest time without a successful one."""
    inside = [request for request in requests if start <= request["ended"] <= end]
    writes = [request for request in inside if request["request"] == "write"]
    reads = [request for request in inside if request["request"] == "read"]
    return {
        "seconds": round(end - start, 1),
        "acknowledged": sum(request["status"] == 200 for request in writes),
        "longest_gap_writes": longest_gap(writes, start, end),
        "longest_gap_reads": longest_gap(reads, start, end),
        "slowest_write": slowest(writes),
        "failed_writes": failures(writes),
        "failed_reads": failures(reads),
    }


def longest_gap(requests: list[dict], start: float, end: float) -> float:
    times = sorted(request["ended"] for request in requests if request["status"] == 200)
    points = [start, *times, end]
    return round(max(after - before for before, after in zip(points, points[1:])), 1)


def slowest(requests: list[dict]) -> float:
    durations = [request["ended"] - request["started"] for request in requests if request["status"] == 200]
    return round(max(durations, default=0), 1)


def failures(requests: list[dict]) -> dict[str, int]:
    """The number of failed requests by status. `none` means no response."""
    counts = collections.Counter(str(request["status"] or "none") for request in requests if request["status"] != 200)
    return dict(sorted(counts.items()))
