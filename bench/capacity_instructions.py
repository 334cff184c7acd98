"""Instructions of a request in stores of different sizes, counted with Callgrind. Other load does not affect them."""

import http.client
import re
import subprocess
import time
from contextlib import closing

from capacity_operations import OPERATIONS, choose_senders
from machine import BenchmarkError
from verdict import EMBEDDED, Figures, Goal

REQUESTS, WARM_UP = 100, 50
# The program starts slowly under Callgrind.
START_SECONDS = 300
FLAT = Goal("<=", 1.10)


def measure_instructions(run):
    """The instructions outside the kernel of each operation, on the embedded stores."""
    sizes = {size: name for name, size in reversed(run.sizes.items())}
    counts = {size: count_all(run, sizes[size]) for size in sorted(sizes)}
    smallest = min(counts)
    figures = Figures(EMBEDDED, f"instructions of a request, mean of {REQUESTS}; compared with {smallest:,} tenants")
    for operation in OPERATIONS:
        for size, of in counts.items():
            compared = None if size == smallest else counts[smallest][operation.about]
            goal = FLAT if compared and operation.goals else None
            figures.add(f"{operation.about}, {size:,} tenants", of[operation.about], "instructions", compared, goal)
    return figures


def count_all(run, name):
    out = run.folder / f"callgrind {name}"
    callgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
    with run.start(EMBEDDED, name, under=callgrind, start_seconds=START_SECONDS) as server:
        control(server, "--instr=on")
        return {
            operation.about: count(server, out, operation, choose_senders(run, name, operation))
            for operation in OPERATIONS
        }


def count(server, out, operation, senders):
    address = server.url.removeprefix("http://")
    with closing(http.client.HTTPConnection(address, timeout=START_SECONDS)) as connection:
        for number in range(WARM_UP):
            send(server, connection, operation, senders, number)
        dump(server, out)
        for number in range(WARM_UP, WARM_UP + REQUESTS):
            send(server, connection, operation, senders, number)
        return dump(server, out) / REQUESTS


def send(server, connection, operation, senders, number):
    tenant = senders[number % len(senders)]
    names = {"VPC": str(tenant.vpc), "TICKET": str(tenant.ticket), "COUNT": str(number)}
    fill = lambda text: text and re.sub("VPC|TICKET|COUNT", lambda found: names[found[0]], text)
    headers = {"Authorization": f"Bearer {tenant.token}", "Content-Type": "application/json"}
    connection.request(operation.method, fill(operation.path), fill(operation.body), headers)
    response = connection.getresponse()
    body = response.read()
    if response.status != 200:
        raise server.error(f"returned {response.status}: {body[:200]!r}")


def dump(server, out):
    """Writes the counts since the last dump to a file; returns their total."""
    before = set(out.parent.glob(f"{out.name}.*"))
    control(server, "--dump")
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        for file in set(out.parent.glob(f"{out.name}.*")) - before:
            total = re.search(r"^(?:totals|summary): (\d+)", file.read_text(), re.MULTILINE)
            if total:
                return int(total[1])
        time.sleep(0.1)
    raise BenchmarkError("Callgrind wrote no counts")


def control(server, option):
    command = ["callgrind_control", option, str(server.process.pid)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise BenchmarkError(f"{' '.join(command)} failed:\n{run.stdout}{run.stderr}")
