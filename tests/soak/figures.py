"""The memory of a process over time, and its slope."""
import pathlib
import re
import time

# Seconds between two samples, and between two lines that are printed.
INTERVAL = 2.0
PRINT_EVERY = 30.0
NAMES = ("VmRSS", "RssAnon")


class Samples:
    def __init__(self, pid: int):
        self.status = pathlib.Path(f"/proc/{pid}/status")
        self.begun = time.monotonic()
        self.printed = 0.0
        self.taken: list[tuple[float, dict[str, float]]] = []

    def measure(self) -> None:
        """Forgets what was sampled so far."""
        self.taken = []

    def take(self) -> str:
        """Takes a sample; a line about it now and then."""
        now = time.monotonic() - self.begun
        text = self.status.read_text()
        found = {name: int(re.search(rf"{name}:\s+(\d+) kB", text)[1]) / 1024 for name in NAMES}
        self.taken.append((now, found))
        if now - self.printed < PRINT_EVERY:
            return ""
        self.printed = now
        return f"{now / 60:6.1f} min  heap {found['RssAnon']:7.1f} MiB  resident {found['VmRSS']:7.1f} MiB"

    def line(self, name: str) -> tuple[float, float]:
        """Least squares: MiB at the first sample, MiB a second."""
        first = self.taken[0][0]
        points = [(time - first, found[name]) for time, found in self.taken]
        mean_x = sum(x for x, _ in points) / len(points)
        mean_y = sum(y for _, y in points) / len(points)
        spread = sum((x - mean_x) ** 2 for x, _ in points)
        slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0
        return mean_y - slope * mean_x, slope

    def slope(self, name: str) -> float:
        """Percent in 10 minutes."""
        start, slope = self.line(name)
        return 100 * slope * 600 / start

    def describe(self, name: str) -> str:
        values = [found[name] for _, found in self.taken]
        start, _ = self.line(name)
        return (
            f"{start:.1f} MiB at first, least {min(values):.1f}, most {max(values):.1f}, "
            f"slope {self.slope(name):+.2f} % in 10 minutes ({len(values)} samples)"
        )
