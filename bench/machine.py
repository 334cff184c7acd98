"""The machine, the build, and the servers of the benchmarks."""

import json
import os
import platform
import re
import resource
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOKEN = "be" * 32
START_SECONDS = 20
STOP_SECONDS = 10
TICKS = os.sysconf("SC_CLK_TCK")

Programs = namedtuple("Programs", "target garth baseline")


class BenchmarkError(Exception):
    """The reason why a measurement failed, for the user."""


def build():
    command = ["cargo", "build", "--release", "--bin", "garth", "--example", "baseline"]
    print(f"$ {' '.join(command)}", flush=True)
    try:
        if subprocess.run(command, cwd=ROOT).returncode != 0:
            raise BenchmarkError("the build failed; its messages are above")
        command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
        metadata = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    except FileNotFoundError:
        raise BenchmarkError("cargo is not installed: install Rust (https://rustup.rs)") from None
    target = Path(json.loads(metadata)["target_directory"])
    return Programs(target, target / "release" / "garth", target / "release" / "examples" / "baseline")


def copy(programs, folder):
    """Copies the programs, so that a concurrent build does not replace them."""
    return programs._replace(
        garth=shutil.copy2(programs.garth, folder), baseline=shutil.copy2(programs.baseline, folder)
    )


def describe(folder):
    """The facts about the machine that affect the results. They do not identify it."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = int(re.search(r"MemTotal:\s+(\d+) kB", Path("/proc/meminfo").read_text())[1]) / 1024**2
    command = ["stat", "-f", "-c", "%T", folder]
    disk = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": commit(),
        "cores": os.cpu_count(),
        "processor": model[1] if model else platform.machine(),
        "memory": f"{memory:.0f} GiB",
        "kernel": f"Linux {platform.release()}",
        "disk": disk,
        # These two differ between the benchmarks of a run.
        "flush": round(flush_millis(folder), 2),
        "load": round(os.getloadavg()[0], 2),
    }


def commit():
    """The measured commit. Changed reports do not count as changes."""
    run = lambda *command: subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    changed = run("git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results")
    return (run("git", "describe", "--always") or "outside git") + (", changed" if changed else "")


def flush_millis(folder):
    """The median time of a small durable write, in ms."""
    file = os.open(folder / "flush", os.O_WRONLY | os.O_CREAT)
    times = []
    for number in range(100):
        started = time.monotonic()
        os.pwrite(file, bytes(4096), number * 4096)
        os.fdatasync(file)
        times.append(time.monotonic() - started)
    os.close(file)
    (folder / "flush").unlink()
    return sorted(times)[50] * 1000


def allow_many_connections(minimum):
    """Raises the limit of open files for this process and its servers."""
    _, maximum = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (maximum, maximum))
    if maximum != resource.RLIM_INFINITY and maximum < minimum:
        raise BenchmarkError(f"the limit of open files is {maximum}, and {minimum} are needed: raise `ulimit -Hn`")


def require_real_disk(folder):
    """Refuses a file system in memory, where durable writes cost nothing."""
    kind = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True).stdout.strip()
    if kind in ("tmpfs", "ramfs"):
        raise BenchmarkError(f"{folder} is in memory: set CARGO_TARGET_DIR to a folder on a disk")


def run_step(command, what):
    """Runs a preparation step and shows its progress."""
    print(f"{what} …", flush=True)
    env = {**clean_environment(), "GARTH_BOOTSTRAP_TOKEN": TOKEN}
    if subprocess.run(command, env=env, stdout=subprocess.DEVNULL).returncode != 0:
        raise BenchmarkError(f"{what} failed; its messages are above")


def clean_environment():
    """The environment without the `GARTH_` settings of the user."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GARTH_")}


def output_of(command):
    run = subprocess.run(command, env=clean_environment(), capture_output=True, text=True)
    if run.returncode != 0:
        raise BenchmarkError(f"{' '.join(map(str, command))} failed:\n{run.stdout}{run.stderr}")
    return run.stdout


def cpu_seconds(pid, with_exited_children=False):
    """User and system time of all threads of a process so far."""
    # The second field is a name in parentheses that may contain anything.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if with_exited_children else 13])) / TICKS


def exact_cpu_seconds(pid, thread_name=None):
    """The time of all threads of a process that have not exited, or of those with a name. It is not in clock ticks."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            if thread_name is None or (task / "comm").read_text().strip() == thread_name:
                total += int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:
            # The thread has exited.
            continue
    return total / 1e9


class Server:
    """A server process. The end of its `with` statement stops it."""

    # The token of its requests.
    token = TOKEN

    def __init__(self, command, log, start_seconds=START_SECONDS):
        self.log = Path(log)
        self.started = time.monotonic()
        env = {**clean_environment(), "GARTH_BOOTSTRAP_TOKEN": TOKEN}
        with open(self.log, "wb") as out:
            streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": out}
            self.process = subprocess.Popen(command, env=env, **streams)
        try:
            self.url = self._wait_until_listening(start_seconds)
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def cpu_seconds(self):
        """User and system time of all its threads so far."""
        try:
            return cpu_seconds(self.process.pid)
        except FileNotFoundError:
            raise self.error("has exited") from None

    def peak_mib(self):
        """The peak resident memory so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024

    def private_mib(self):
        """The private dirty memory: the amount that would be free without the server."""
        rollup = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return int(re.search(r"Private_Dirty:\s+(\d+) kB", rollup)[1]) / 1024

    def metric(self, name):
        """The value of a metric, or zero if it does not exist yet."""
        url = re.search(r"Metrics: (\S+/metrics)", self.log.read_text(errors="replace"))
        lines = self._request(urllib.request.Request(url[1])).decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if re.match(rf"{name}\b", line))

    def get(self, path, timeout=10):
        return self._request(urllib.request.Request(self.url + path), timeout)

    def get_with_retries(self, path, timeout):
        """Like `get`, with retries while the server is overloaded."""
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {TOKEN}"})
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(request, timeout=timeout) as response:
                    return response.read()
            except urllib.error.HTTPError as response:
                if response.code != 503:
                    raise self.error(f"returned {response.code}") from None
            time.sleep(0.01)
        raise self.error(f"was overloaded for {timeout} seconds")

    def page(self, path, filter=None):
        """A page of a list as JSON."""
        request = urllib.request.Request(self.url + path)
        if filter:
            request.add_header("X-Filter", filter)
        return json.loads(self._request(request))

    def post(self, path, value):
        body = json.dumps(value).encode()
        return self._request(urllib.request.Request(self.url + path, data=body, method="POST"))

    def error(self, what):
        output = self.log.read_text(errors="replace").strip() or "nothing"
        program, pid = self.process.args[0], self.process.pid
        return BenchmarkError(f"{program} (process {pid}) {what}. Its output:\n{output[-2000:]}")

    def _request(self, request, timeout=10):
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                return response.read()
        except urllib.error.HTTPError as response:
            raise self.error(f"returned {response.code}: {response.read()[:500]!r}") from None
        except OSError as cause:
            raise self.error(f"did not respond: {cause}") from None

    def _wait_until_listening(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = re.search(r"listening on (http://[\d.]+:\d+)\b.*\n", self.log.read_text(errors="replace"))
            if found:
                return found[1]
            if self.process.poll() is not None:
                raise self.error("could not start")
            time.sleep(0.001)
        raise self.error(f"did not listen within {seconds} seconds")
