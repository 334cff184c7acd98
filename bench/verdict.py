"""From samples to figures, and from figures to a verdict."""

import enum
from collections import namedtuple
from statistics import median

BASELINE, AGAIN, GARTH = "baseline", "baseline again", "Garth"
SERVERS = (BASELINE, AGAIN, GARTH)
MOST_NOISE = 1.5

Column = namedtuple("Column", "name unit field")
COLUMNS = (
    Column("throughput", "requests/s", "throughput"),
    Column("CPU", "CPU us/request", "cpu_micros"),
)


class Verdict(enum.Enum):
    MET = "met"
    MISSED = "MISSED"
    TOO_NOISY = "too noisy to judge"


class Goal(namedtuple("Goal", "sign ratio")):
    def __str__(self):
        return f"{self.sign} {self.ratio:.2f}x"

    def holds(self, ratio):
        return ratio >= self.ratio if self.sign == ">=" else ratio <= self.ratio


class Table:
    """The samples of one workload, one of each server in every round."""

    def __init__(self, title, goals):
        self.title = title
        self.goals = goals
        self.samples = {server: [] for server in SERVERS}

    def add(self, server, sample):
        self.samples[server].append(sample)

    def show(self):
        """Prints the figures; the verdict on each goal."""
        print(f"{self.title}\n")
        print(" " * 18 + "".join(f"{column.unit:>18}{'spread':>8}" for column in COLUMNS))
        for server in SERVERS:
            figures = [self._of(server, column) for column in COLUMNS]
            print(f"  {server:<16}" + "".join(f"{median(of):>18,.1f}{spread(of):>8.2f}" for of in figures))
        print(f"\n  {'Garth / baseline':<16}{'ratio':>10}{'goal':>12}{'noise':>8}")
        verdicts = [self._judge(column) for column in COLUMNS]
        print(flush=True)
        return verdicts

    def _judge(self, column):
        baseline = self._of(BASELINE, column) + self._of(AGAIN, column)
        # Judged as it is printed, so that nobody reads "3.00x >= 3.00x missed".
        ratio = round(median(self._of(GARTH, column)) / median(baseline), 2)
        against_itself = [a / b for a, b in zip(self._of(BASELINE, column), self._of(AGAIN, column))]
        noise, goal = spread(against_itself), self.goals[column.name]
        if noise > MOST_NOISE:
            verdict = Verdict.TOO_NOISY
        else:
            verdict = Verdict.MET if goal.holds(ratio) else Verdict.MISSED
        print(f"  {column.name:<16}{ratio:>9.2f}x{str(goal):>12}{noise:>8.2f}  {verdict.value}")
        return verdict

    def _of(self, server, column):
        return [getattr(sample, column.field) for sample in self.samples[server]]


def spread(figures):
    # A run too short for the clock to have ticked has no CPU time at all.
    return max(figures) / min(figures) if min(figures) > 0 else float("inf")
