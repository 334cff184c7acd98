"""Computes figures from samples, and verdicts from figures."""

import enum
from collections import namedtuple
from statistics import median

BASELINE, AGAIN, GARTH = "baseline", "baseline again", "Garth"
SERVERS = (BASELINE, AGAIN, GARTH)
MAX_NOISE = 1.5
EMBEDDED, SHARED = "SQLite", "PostgreSQL"

# A `compared` column has a ratio, and a verdict if there is a goal.
Column = namedtuple("Column", "name unit field compared", defaults=[True])
COLUMNS = (
    Column("throughput", "requests/s", "throughput"),
    Column("CPU", "CPU us/request", "cpu_micros"),
)
DATABASE_CPU = Column("PostgreSQL CPU", "PostgreSQL CPU us", "database_micros")
RETRIES = Column("retries", "retries/request", "retries", False)

# A line of the report. Missing values are None.
Row = namedtuple("Row", "engine what figure unit spread ratio goal noise verdict")


class Verdict(enum.Enum):
    MET = "met"
    MISSED = "MISSED"
    TOO_NOISY = "too noisy to judge"


class Goal(namedtuple("Goal", "sign ratio")):
    def __str__(self):
        return f"{self.sign} {self.ratio:.2f}x" if self.ratio < 10 else f"{self.sign} {self.ratio:.0f}x"

    def holds(self, ratio):
        return ratio >= self.ratio if self.sign == ">=" else ratio <= self.ratio


class Table:
    """The samples of one workload, one of each server in every round.

    There may be several contenders, such as pages of one list or numbers of clients.
    """

    def __init__(self, engine, title, goals, columns=COLUMNS, contenders=(GARTH,), label=None):
        self.engine = engine
        self.title = title
        self.goals = goals
        self.columns = columns
        self.contenders = tuple(contenders)
        # Distinguishes it from other tables of its benchmark, if Garth is the only contender.
        self.label = label
        self.samples = {server: [] for server in self.servers}

    @property
    def servers(self):
        return (BASELINE, AGAIN, *self.contenders)

    def add(self, server, sample):
        self.samples[server].append(sample)

    def show(self):
        """Prints the figures; returns the lines of the report."""
        wide = max(16, *(len(server) for server in self.servers)) + 2
        print(f"{self.title} ({self.engine})\n")
        print(" " * (wide + 2) + "".join(f"{column.unit:>19}{'spread':>8}" for column in self.columns))
        for server in self.servers:
            figures = [self._of(server, column) for column in self.columns]
            print(f"  {server:<{wide}}" + "".join(f"{formatted(median(of)):>19}{spread(of):>8.2f}" for of in figures))
        print(f"\n  {'over the baseline':<{wide + 14}}{'ratio':>12}{'goal':>14}{'noise':>8}")
        compared = [column for column in self.columns if column.compared]
        rows = [self._judge(contender, column) for contender in self.contenders for column in compared]
        for row in rows:
            goal, verdict = row.goal or "none", row.verdict or ""
            print(f"  {row.what:<{wide + 14}}{row.ratio:>11.2f}x{goal:>14}{row.noise:>8.2f}  {verdict}")
        print(flush=True)
        return rows

    def _judge(self, contender, column):
        measured = self._of(contender, column)
        baseline = self._of(BASELINE, column) + self._of(AGAIN, column)
        # Judged after rounding, so that "3.00x >= 3.00x" is not reported as missed.
        ratio = round(median(measured) / median(baseline), 2) if median(baseline) else float("inf")
        against_itself = [a / b if b else 1.0 for a, b in zip(self._of(BASELINE, column), self._of(AGAIN, column))]
        noise, goal = round(spread(against_itself), 2), self.goals.get(column.name)
        verdict = None
        if goal and noise > MAX_NOISE:
            verdict = Verdict.TOO_NOISY
        elif goal:
            verdict = Verdict.MET if goal.holds(ratio) else Verdict.MISSED
        label = self.label if contender == GARTH else contender
        what = f"{label}: {column.name}" if label else column.name
        return Row(
            self.engine, what, median(measured), column.unit, spread(measured), ratio,
            goal and str(goal), noise, verdict and verdict.value,
        )  # fmt: skip

    def _of(self, server, column):
        return [getattr(sample, column.field) for sample in self.samples[server]]


class Figures:
    """Figures of Garth alone. Some are compared with other figures of Garth."""

    def __init__(self, engine, title):
        self.engine, self.title = engine, title
        self.rows = []

    def add(self, what, figures, unit, reference=None, goal=None):
        """Adds the median of the figures, compared with `reference` if given."""
        figures = figures if isinstance(figures, list) else [figures]
        figure = median(figures)
        ratio = round(figure / reference, 2) if reference else None
        verdict = (Verdict.MET if goal.holds(ratio) else Verdict.MISSED).value if goal else None
        width = spread(figures) if len(figures) > 1 else None
        self.rows.append(Row(self.engine, what, figure, unit, width, ratio, goal and str(goal), None, verdict))

    def show(self):
        print(f"{self.title} ({self.engine})\n")
        for row in self.rows:
            around = f", spread {row.spread:.2f}" if row.spread else ""
            judged = f"; {row.ratio:.2f}x" if row.ratio is not None else ""
            judged += f", goal {row.goal}  {row.verdict}" if row.goal else ""
            print(f"  {row.what}: {formatted(row.figure)} {row.unit}{around}{judged}")
        print(flush=True)
        return self.rows


def formatted(figure):
    return f"{figure:,.1f}" if figure >= 10 else f"{figure:.2f}"


def spread(figures):
    # All values are zero, for example retries without contention.
    if not max(figures):
        return 1.0
    # A very short run has no measurable CPU time.
    return max(figures) / min(figures) if min(figures) > 0 else float("inf")
