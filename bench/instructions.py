"""How many instructions the synchronous paths take, counted by Callgrind: the same on every run, busy machine or not.

A path runs so many times and then more often, and the difference is its own; what it takes to start is in both.
"""

import json
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

from machine import ROOT, TOKEN, Trouble, own_environment

FILE = ROOT / "bench" / "instructions.json"
# How far a count may be off what is kept.
TOLERANCE = 0.03
# How often each path runs, first and then.
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
    """Counts, prints and compares; whether everything is as it is kept."""
    furnished = folder / "furnished"
    run(programs, ["furnish", "--times", "0", "--data", furnished])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {
            (path, times): pool.submit(count, programs, folder, furnished, path, times)
            for path, both in PATHS.items()
            for times in both
        }
        try:
            counts = {job: run.result() for job, run in jobs.items()}
        except BaseException:
            # Nobody waits for the others any more.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    found = {
        path: round((counts[path, more] - counts[path, few]) / (more - few)) for path, (few, more) in PATHS.items()
    }
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    off = [path for path, number in found.items() if not within(number, known.get(path))]
    print(f"instructions: by Callgrind, each time; at most {TOLERANCE:.0%} off what is kept\n")
    print(f"  {'path':<14}{'instructions':>14}{'kept':>12}{'ratio':>8}")
    for path, number in found.items():
        kept = known.get(path)
        ratio = f"{number / kept:.3f}" if kept else ""
        print(
            f"  {path:<14}{number:>14,}{f'{kept:,}' if kept else 'none':>12}{ratio:>8}{'  OFF' if path in off else ''}"
        )
    print(flush=True)
    if accept:
        FILE.write_text(json.dumps(found, indent=2) + "\n")
        print(f"kept in {FILE.relative_to(ROOT)}")
        return True
    if off:
        print("If that is meant, keep it with `bench/run instructions --accept`.")
    return not off


def within(number, kept):
    return kept is not None and abs(number / kept - 1) <= TOLERANCE


def count(programs, folder, furnished, path, times):
    """The instructions of running a path so many times."""
    data = folder / f"{path} {times}"
    shutil.copytree(furnished, data)
    out = folder / f"{path} {times}.callgrind"
    # Only within the function that does it: what other threads do meanwhile is never quite the same.
    within = FUNCTIONS.get(path, "baseline::instructions::look")
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"--toggle-collect={within}"]
    # A revision is written with the commit of each create.
    runs = "create" if path == "revision" else path
    said = run(programs, [runs, "--times", str(times), "--data", data], valgrind)
    shutil.rmtree(data)
    counted = int(re.search(r"Collected : (\d+)", said)[1])
    if not counted:
        raise Trouble(f"Callgrind has counted nothing of {path}: is {within} still a function of its own?")
    return counted


def run(programs, arguments, before=()):
    command = [*before, programs.baseline, "instructions", *arguments]
    env = {**own_environment(), "GARTH_BOOTSTRAP_TOKEN": TOKEN}
    ended = subprocess.run(command, env=env, capture_output=True, text=True)
    if ended.returncode != 0:
        raise Trouble(f"{' '.join(map(str, command))} failed:\n{ended.stdout}{ended.stderr}"[-2000:])
    return ended.stderr


def make_sure_of_valgrind():
    if not shutil.which("valgrind"):
        raise Trouble("valgrind is not there: install it (Debian: apt-get install valgrind)")
