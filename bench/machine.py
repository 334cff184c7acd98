"""The machine under the benchmarks: what is built, and the servers that run on it."""

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


class Trouble(Exception):
    """Why nothing could be measured, for whoever started the run."""


def build():
    command = ["cargo", "build", "--release", "--bin", "garth", "--example", "baseline"]
    print(f"$ {' '.join(command)}", flush=True)
    try:
        if subprocess.run(command, cwd=ROOT).returncode != 0:
            raise Trouble("the build failed; its messages are above")
        command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
        metadata = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    except FileNotFoundError:
        raise Trouble("cargo is not there: install Rust (https://rustup.rs)") from None
    target = Path(json.loads(metadata)["target_directory"])
    return Programs(target, target / "release" / "garth", target / "release" / "examples" / "baseline")


def copy(programs, folder):
    """The same programs where another build, meanwhile, does not replace them."""
    return programs._replace(
        garth=shutil.copy2(programs.garth, folder), baseline=shutil.copy2(programs.baseline, folder)
    )


def describe(folder):
    """What a reader of the figures has to know of where they come from, and nothing that tells whose machine it is."""
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
        # These two are not the same from one benchmark to the next.
        "flush": round(flush_millis(folder), 2),
        "load": round(os.getloadavg()[0], 2),
    }


def commit():
    """What is measured; the reports of this run do not make it another."""
    git = lambda *words: subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results")
    return (git("describe", "--always") or "outside git") + (", changed" if changed else "")


def flush_millis(folder):
    """What the disk takes for the least durable write: the median of some."""
    file = os.open(folder / "flush", os.O_WRONLY | os.O_CREAT)
    times = []
    for number in range(100):
        begun = time.monotonic()
        os.pwrite(file, bytes(4096), number * 4096)
        os.fdatasync(file)
        times.append(time.monotonic() - begun)
    os.close(file)
    (folder / "flush").unlink()
    return sorted(times)[50] * 1000


def allow_many_connections(least):
    """Lets this process and its servers have as many as may be."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if most != resource.RLIM_INFINITY and most < least:
        raise Trouble(f"a process may have {most} files open, and {least} are needed: raise `ulimit -Hn`")


def refuse_memory_disk(folder):
    """A flush costs nothing there, so that nothing would be learnt about durable writes."""
    kind = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True).stdout.strip()
    if kind in ("tmpfs", "ramfs"):
        raise Trouble(f"{folder} is in memory: set CARGO_TARGET_DIR to a folder on a disk")


def run_to_end(command, what):
    """Runs a program that prepares something, showing how far it is."""
    print(f"{what} …", flush=True)
    env = {**own_environment(), "GARTH_BOOTSTRAP_TOKEN": TOKEN}
    if subprocess.run(command, env=env, stdout=subprocess.DEVNULL).returncode != 0:
        raise Trouble(f"{what} failed; its messages are above")


def own_environment():
    """Settings of whoever runs this must not reach what is measured."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GARTH_")}


def output_of(command):
    run = subprocess.run(command, env=own_environment(), capture_output=True, text=True)
    if run.returncode != 0:
        raise Trouble(f"{' '.join(map(str, command))} failed:\n{run.stdout}{run.stderr}")
    return run.stdout


def cpu_seconds(pid, with_ended_children=False):
    """User and system time of all threads of a process so far."""
    # The second field is a name in parentheses that may contain anything.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if with_ended_children else 13])) / TICKS


class Server:
    """A server of this run. Leaving its `with` ends it, by its process id."""

    def __init__(self, command, log):
        self.log = Path(log)
        self.begun = time.monotonic()
        env = {**own_environment(), "GARTH_BOOTSTRAP_TOKEN": TOKEN}
        with open(self.log, "wb") as out:
            ways = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": out}
            self.process = subprocess.Popen(command, env=env, **ways)
        try:
            self.url = self._wait_until_it_listens()
        except BaseException:
            self.end()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
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
            raise self.trouble("has ended") from None

    def peak_mib(self):
        """The most memory that it has had resident so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024

    def private_mib(self):
        """The memory that is its own and holds something of its own: what would be free without it."""
        rollup = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return int(re.search(r"Private_Dirty:\s+(\d+) kB", rollup)[1]) / 1024

    def metric(self, name):
        """A count among its metrics; one that it has not begun to count is zero."""
        place = re.search(r"metrics are at (\S+/metrics)", self.log.read_text(errors="replace"))
        lines = self._request(urllib.request.Request(place[1])).decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if re.match(rf"{name}\b", line))

    def get(self, path, patience=10):
        return self._request(urllib.request.Request(self.url + path), patience)

    def get_at_last(self, path, patience):
        """The same, asking again for as long as it has too much to do."""
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {TOKEN}"})
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(request, timeout=patience) as response:
                    return response.read()
            except urllib.error.HTTPError as answer:
                if answer.code != 503:
                    raise self.trouble(f"answered {answer.code}") from None
            time.sleep(0.01)
        raise self.trouble(f"had too much to do for {patience} seconds")

    def page(self, path, filter=None):
        """A page of a list as JSON."""
        request = urllib.request.Request(self.url + path)
        if filter:
            request.add_header("X-Filter", filter)
        return json.loads(self._request(request))

    def post(self, path, value):
        body = json.dumps(value).encode()
        return self._request(urllib.request.Request(self.url + path, data=body, method="POST"))

    def trouble(self, what):
        said = self.log.read_text(errors="replace").strip() or "nothing"
        program, pid = self.process.args[0], self.process.pid
        return Trouble(f"{program} (process {pid}) {what}. It said:\n{said[-2000:]}")

    def _request(self, request, patience=10):
        request.add_header("Authorization", f"Bearer {TOKEN}")
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=patience) as response:
                return response.read()
        except urllib.error.HTTPError as answer:
            raise self.trouble(f"answered {answer.code}: {answer.read()[:500]!r}") from None
        except OSError as cause:
            raise self.trouble(f"did not answer: {cause}") from None

    def _wait_until_it_listens(self):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            found = re.search(r"listening on (http://[\d.]+:\d+)\b.*\n", self.log.read_text(errors="replace"))
            if found:
                return found[1]
            if self.process.poll() is not None:
                raise self.trouble("could not start")
            time.sleep(0.001)
        raise self.trouble(f"did not listen within {START_SECONDS} seconds")
