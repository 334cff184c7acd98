"""From samples to figures, and from figures to a verdict."""

import enum
from collections import namedtuple
from statistics import median

BASELINE, AGAIN, GARTH = "baseline", "baseline again", "Garth"
SERVERS = (BASELINE, AGAIN, GARTH)
MOST_NOISE = 1.5

# What is `compared` has a ratio, and a verdict if there is a goal for it.
Column = namedtuple("Column", "name unit field compared", defaults=[True])
COLUMNS = (
    Column("throughput", "requests/s", "throughput"),
    Column("CPU", "CPU us/request", "cpu_micros"),
)
DATABASE_CPU = Column("PostgreSQL CPU", "PostgreSQL CPU us", "database_micros")
RETRIES = Column("retries", "retries/request", "retries", False)


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

    def __init__(self, title, goals, columns=COLUMNS):
        self.title = title
        self.goals = goals
        self.columns = columns
        self.samples = {server: [] for server in SERVERS}

    def add(self, server, sample):
        self.samples[server].append(sample)

    def show(self):
        """Prints the figures; the verdict on each goal."""
        print(f"{self.title}\n")
        print(" " * 18 + "".join(f"{column.unit:>19}{'spread':>8}" for column in self.columns))
        for server in SERVERS:
            figures = [self._of(server, column) for column in self.columns]
            print(f"  {server:<16}" + "".join(f"{written(median(of)):>19}{spread(of):>8.2f}" for of in figures))
        print(f"\n  {'Garth / baseline':<16}{'ratio':>10}{'goal':>12}{'noise':>8}")
        verdicts = [self._judge(column) for column in self.columns if column.compared]
        print(flush=True)
        return [verdict for verdict in verdicts if verdict]

    def _judge(self, column):
        baseline = self._of(BASELINE, column) + self._of(AGAIN, column)
        # Judged as it is printed, so that nobody reads "3.00x >= 3.00x missed".
        ratio = round(median(self._of(GARTH, column)) / median(baseline), 2)
        against_itself = [a / b for a, b in zip(self._of(BASELINE, column), self._of(AGAIN, column))]
        noise, goal = spread(against_itself), self.goals.get(column.name)
        if not goal:
            print(f"  {column.name:<16}{ratio:>9.2f}x{'none':>12}{noise:>8.2f}")
            return None
        if noise > MOST_NOISE:
            verdict = Verdict.TOO_NOISY
        else:
            verdict = Verdict.MET if goal.holds(ratio) else Verdict.MISSED
        print(f"  {column.name:<16}{ratio:>9.2f}x{str(goal):>12}{noise:>8.2f}  {verdict.value}")
        return verdict

    def _of(self, server, column):
        return [getattr(sample, column.field) for sample in self.samples[server]]


class Growth:
    """A figure of Garth alone, early and late in a run."""

    def __init__(self, what, early, late, goal):
        self.what, self.early, self.late, self.goal = what, early, late, goal

    def show(self):
        ratio = round(self.late / self.early, 2)
        verdict = Verdict.MET if self.goal.holds(ratio) else Verdict.MISSED
        figures = f"{self.early:,.1f}, at the end {self.late:,.1f}"
        print(f"  {self.what}: {figures}; {ratio:.2f}x, goal {self.goal}  {verdict.value}\n")
        return [verdict]


def written(figure):
    return f"{figure:,.1f}" if figure >= 10 else f"{figure:.2f}"


def spread(figures):
    # Nothing at all has no spread: retries where there is nobody to be in the way.
    if not max(figures):
        return 1.0
    # A run too short for the clock to have ticked has no CPU time at all.
    return max(figures) / min(figures) if min(figures) > 0 else float("inf")
