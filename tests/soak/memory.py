"""The memory of a process over time, and its slope."""
import itertools
import pathlib
import re
import statistics
import time

# Seconds between two samples, and between two printed lines.
INTERVAL = 2.0
PRINT_EVERY = 30.0
NAMES = ("VmRSS", "RssAnon")


class Samples:
    def __init__(self, pid: int):
        self.status = pathlib.Path(f"/proc/{pid}/status")
        self.started = time.monotonic()
        self.printed = 0.0
        self.samples: list[tuple[float, dict[str, float]]] = []

    def reset(self) -> None:
        """Discards the samples so far."""
        self.samples = []

    def take(self) -> str:
        """Takes a sample; returns a line to print every half minute."""
        now = time.monotonic() - self.started
        text = self.status.read_text()
        found = {name: int(re.search(rf"{name}:\s+(\d+) kB", text)[1]) / 1024 for name in NAMES}
        self.samples.append((now, found))
        if now - self.printed < PRINT_EVERY:
            return ""
        self.printed = now
        return f"{now / 60:6.1f} min  heap {found['RssAnon']:7.1f} MiB  resident {found['VmRSS']:7.1f} MiB"

    def minutes(self, name: str) -> list[tuple[float, float]]:
        """The median of each minute: seconds since the first sample, MiB."""
        first = self.samples[0][0]
        by_minute: dict[int, list[float]] = {}
        for time, found in self.samples:
            by_minute.setdefault(int((time - first) // 60), []).append(found[name])
        return [(60.0 * minute, statistics.median(values)) for minute, values in sorted(by_minute.items())]

    def slope(self, name: str) -> float:
        """Percent in 10 minutes: the median of the slopes between any two minutes (Theil and Sen).

        A leak shows in every pair of minutes. A burst, such as passwords being hashed on a busy machine, does not move it.
        """
        points = self.minutes(name)
        slopes = [(b - a) / (y - x) for (x, a), (y, b) in itertools.combinations(points, 2)]
        start = statistics.median(value for _, value in points[:5])
        return 100 * statistics.median(slopes) * 600 / start if slopes else 0.0

    def line(self, name: str) -> tuple[float, float]:
        """Least squares: MiB at the first sample, MiB a second."""
        first = self.samples[0][0]
        points = [(time - first, found[name]) for time, found in self.samples]
        mean_x = sum(x for x, _ in points) / len(points)
        mean_y = sum(y for _, y in points) / len(points)
        spread = sum((x - mean_x) ** 2 for x, _ in points)
        slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0
        return mean_y - slope * mean_x, slope

    def least_squares(self, name: str) -> float:
        """Percent in 10 minutes, by least squares. Bursts affect this value."""
        start, slope = self.line(name)
        return 100 * slope * 600 / start

    def describe(self, name: str) -> str:
        values = [found[name] for _, found in self.samples]
        start, _ = self.line(name)
        return (
            f"{start:.1f} MiB at the start, minimum {min(values):.1f}, maximum {max(values):.1f}, "
            f"slope {self.slope(name):+.2f} % in 10 minutes, by least squares {self.least_squares(name):+.2f} % "
            f"({len(values)} samples)"
        )
