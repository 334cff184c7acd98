"""The metrics of a running server, with their labels."""
import json
import os
import pathlib
import re
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from free_port import free_port

START_SECONDS = 60
# The checks of readiness run each second, and the gauges of jobs are read every 15 seconds.
METRICS_SECONDS = 30
TOKEN = "0" * 64
# The certificate of the server is made for the test.
WITHOUT_VERIFICATION = ssl._create_unverified_context()
LINE = re.compile(r"^(\w+)(?:\{(.*)\})? \S+$")


def of_server(garth: pathlib.Path, wanted: set[str]) -> dict[str, set[str]]:
    """Starts a server on an empty store, sends some requests, and returns the labels of each metric.

    Some metrics appear later than others, so it waits for the wanted ones. It returns without those that do not exist.
    """
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data"
        api, metrics = (f"127.0.0.1:{free_port()}" for _ in range(2))
        settings = {name: value for name, value in os.environ.items() if not name.startswith("GARTH_")}
        settings["GARTH_BOOTSTRAP_TOKEN"] = TOKEN
        command = [garth, "--data", data, "serve", "--listen", api, "--metrics-listen", metrics, "--log", "warn"]
        command += ["--archive", pathlib.Path(folder) / "archive", *tls_options(pathlib.Path(folder))]
        server = subprocess.Popen(command, env=settings, stdout=subprocess.DEVNULL)
        try:
            wait_until(lambda: send("GET", f"https://{api}/readyz") is not None, START_SECONDS, "the server")
            send_requests(f"https://{api}/v4")
            check_database(garth, data)
            return read_metrics(f"http://{metrics}/metrics", wanted)
        finally:
            server.terminate()
            server.wait()


def tls_options(folder: pathlib.Path) -> list:
    """The options of a server with a new certificate."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-out", certificate, "-keyout", key]
    subprocess.run(command, check=True, capture_output=True)
    return ["--tls-cert", certificate, "--tls-key", key]


def read_metrics(page: str, wanted: set[str]) -> dict[str, set[str]]:
    deadline = time.monotonic() + METRICS_SECONDS
    while True:
        found = labels_of(send("GET", page) or "")
        if wanted <= set(found) or time.monotonic() > deadline:
            return found
        time.sleep(0.2)


def send_requests(url: str) -> None:
    """Requests that register the metrics of responses, commits and connections."""
    # The memory of responses is counted from 4 KiB.
    ticket = {"summary": "Help", "description": "Please. " * 1000}
    assert send("POST", f"{url}/support/tickets", ticket), "no ticket was opened"


def check_database(garth: pathlib.Path, data: pathlib.Path) -> None:
    """Runs the check of the database, which otherwise begins after an hour."""
    run = lambda *command: subprocess.run([garth, "--data", data, *command], check=True, capture_output=True, text=True)
    jobs = json.loads(run("jobs", "list", "--json").stdout)
    for job in jobs:
        if job["kind"] == "database_check":
            run("jobs", "retry", str(job["id"]))
            return
    raise AssertionError("there is no job database_check")


def labels_of(page: str) -> dict[str, set[str]]:
    labels: dict[str, set[str]] = {}
    for line in page.splitlines():
        if found := LINE.match(line):
            labels.setdefault(found[1], set()).update(re.findall(r'(\w+)="', found[2] or ""))
    return labels


def send(method: str, url: str, body: dict | None = None) -> str | None:
    """The text of a response, or None if the server cannot be reached or refuses the request."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=5, context=WITHOUT_VERIFICATION) as response:
            return response.read().decode()
    except (urllib.error.URLError, ConnectionError):
        return None


def wait_until(condition, seconds: float, name: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{name} did not appear within {seconds} seconds"
        time.sleep(0.2)
