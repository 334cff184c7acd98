"""Counts the instructions of the synchronous paths with Callgrind. The load of the machine does not affect them.

Each path runs with two numbers of repetitions. The difference is its cost, without the cost of the start.
"""

import json
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

from machine import ROOT, TOKEN, BenchmarkError, clean_environment

FILE = ROOT / "bench" / "instructions.json"
# Maximum relative difference from the stored count.
TOLERANCE = 0.03
# The two numbers of repetitions of each path.
PATHS = {
    "token": (100, 600),
    "token-again": (100, 600),
    "view": (50, 300),
    "list": (4, 24),
    "create": (50, 300),
    "revision": (50, 300),
    "json-one": (100, 600),
    "json-page": (4, 24),
}
# The function in which the instructions of a path are counted.
FUNCTIONS = {
    "create": "baseline::instructions::create",
    "revision": "garth::store::changes::PendingChanges::write",
}


def measure(programs, folder, accept):
    """Counts, prints and compares. Returns whether all counts match the stored ones."""
    prepared = folder / "prepared"
    run(programs, ["prepare", "--times", "0", "--data", prepared])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {
            (path, times): pool.submit(count, programs, folder, prepared, path, times)
            for path, both in PATHS.items()
            for times in both
        }
        try:
            counts = {job: run.result() for job, run in jobs.items()}
        except BaseException:
            # The other counts are not needed any more.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    found = {
        path: round((counts[path, more] - counts[path, few]) / (more - few)) for path, (few, more) in PATHS.items()
    }
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    changed = [path for path, number in found.items() if not within(number, known.get(path))]
    print(f"instructions: counted by Callgrind; at most {TOLERANCE:.0%} from the stored count\n")
    print(f"  {'path':<14}{'instructions':>14}{'stored':>12}{'ratio':>8}")
    for path, number in found.items():
        stored = known.get(path)
        ratio = f"{number / stored:.3f}" if stored else ""
        mark = "  CHANGED" if path in changed else ""
        print(f"  {path:<14}{number:>14,}{f'{stored:,}' if stored else 'none':>12}{ratio:>8}{mark}")
    print(flush=True)
    if accept:
        FILE.write_text(json.dumps(found, indent=2) + "\n")
        print(f"stored in {FILE.relative_to(ROOT)}")
        return True
    if changed:
        print("If the change is intended, store it with `bench/run instructions --accept`.")
    return not changed


def within(number, stored):
    return stored is not None and abs(number / stored - 1) <= TOLERANCE


def count(programs, folder, prepared, path, times):
    """The instructions of running a path this number of times."""
    data = folder / f"{path} {times}"
    shutil.copytree(prepared, data)
    out = folder / f"{path} {times}.callgrind"
    # Count only inside the function of the path, because the work of other threads varies.
    function = FUNCTIONS.get(path, "baseline::instructions::read")
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"--toggle-collect={function}"]
    # A revision is written with the commit of each create.
    runs = "create" if path == "revision" else path
    output = run(programs, [runs, "--times", str(times), "--data", data], valgrind)
    shutil.rmtree(data)
    counted = int(re.search(r"Collected : (\d+)", output)[1])
    if not counted:
        raise BenchmarkError(f"Callgrind counted no instructions for {path}: was {function} inlined?")
    return counted


def run(programs, arguments, before=()):
    command = [*before, programs.baseline, "instructions", *arguments]
    env = {**clean_environment(), "GARTH_BOOTSTRAP_TOKEN": TOKEN}
    process = subprocess.run(command, env=env, capture_output=True, text=True)
    if process.returncode != 0:
        raise BenchmarkError(f"{' '.join(map(str, command))} failed:\n{process.stdout}{process.stderr}"[-2000:])
    return process.stderr


def require_valgrind():
    if not shutil.which("valgrind"):
        raise BenchmarkError("valgrind is not installed: install it (Debian: apt-get install valgrind)")
