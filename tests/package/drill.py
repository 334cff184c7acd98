"""The drill of docs/operating.md: its commands run as they are printed there."""
import pathlib
import re
import shutil

from machine import Machine

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/operating.md"
FOLDER = "/srv/drill"


def run(machine: Machine, package: pathlib.Path) -> None:
    """Runs all commands in one shell, which stops at the first failure. The machine has no package installed."""
    machine.run("mkdir", FOLDER)
    shutil.copy(package, machine.path(f"{FOLDER}/{package.name}"))
    script = "\n".join(["set -euo pipefail", "export DEBIAN_FRONTEND=noninteractive", f"cd {FOLDER}", *commands()])
    machine.path(f"{FOLDER}/drill.sh").write_text(script + "\n")
    printed = machine.run("bash", "-x", f"{FOLDER}/drill.sh")
    assert "core" in printed and "Notes" in printed, f"the restored objects are missing:\n{printed}"
    machine.run("apt-get", "purge", "-y", "-qq", "garth")
    machine.run("rm", "-r", FOLDER, "/var/backups/garth")


def commands() -> list[str]:
    section = PAGE.read_text().split("\n## Drill\n", 1)[1].split("\n## ", 1)[0]
    lines = re.findall(r"^    (.*)$", section, flags=re.MULTILINE)
    assert len(lines) > 25, f"the drill has only {len(lines)} lines of commands"
    return lines
