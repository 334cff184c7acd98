"""Writes the report as Markdown, with a plot.

The figures are stored next to it as JSON, so that a run of one benchmark updates only its own lines.
"""

import json
import math
from html import escape
from pathlib import Path

from verdict import formatted

# The analysis of the results, written by hand.
ANALYSIS = Path(__file__).resolve().parent / "analysis.md"
KINDS = {"met": "#2f7d4f", "MISSED": "#b3261e", "too noisy to judge": "#8a8a8a"}


def store(folder, name, title_rows, machine):
    """Stores the lines of one benchmark as pairs of title and row."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "results.json"
    results = json.loads(file.read_text()) if file.exists() else {}
    rows = [{"title": title, **row._asdict()} for title, row in title_rows]
    results[name] = {"machine": machine, "rows": rows}
    file.write_text(json.dumps(results, indent=1, allow_nan=True) + "\n")


def write(folder, order, quick):
    results = json.loads((folder / "results.json").read_text())
    results = {name: results[name] for name in order if name in results}
    analysis = "" if quick or not ANALYSIS.exists() else f"\n{ANALYSIS.read_text()}"
    (folder / "REPORT.md").write_text(markdown(results, quick) + analysis)
    (folder / "plot.svg").write_text(plot(results))


def markdown(results, quick):
    same = lambda machine: {key: value for key, value in machine.items() if key not in ("flush", "load")}
    machines = {json.dumps(same(result["machine"])) for result in results.values()}
    lines = ["# Benchmark results", ""]
    if quick:
        lines += ["**A quick run: few and short rounds on less data. Its verdicts are hints.**", ""]
    lines += ["Written by `bench/run`. See `bench/README.md` for the meaning of the columns.", ""]
    for number, machine in enumerate(sorted(machines), 1):
        facts = json.loads(machine)
        where = f"Run {number}" if len(machines) > 1 else "Machine"
        names = [name for name, result in results.items() if same(result["machine"]) == facts]
        of = f" ({', '.join(names)})" if len(machines) > 1 else ""
        lines.append(f"- {where}: " + "; ".join(f"{key} {value}" for key, value in facts.items()) + of)
    for key, what in (
        ("flush", "ms to write and flush 4 KiB"),
        ("load", "load average of the minute before a benchmark"),
    ):
        figures = [result["machine"][key] for result in results.values()]
        lines.append(f"- {min(figures):.2f} to {max(figures):.2f} {what}")
    lines += ["", "![results relative to the goals](plot.svg)", ""]
    judged = [row["verdict"] for result in results.values() for row in result["rows"] if row["verdict"]]
    lines.append(", ".join(f"{judged.count(kind)} {kind}" for kind in KINDS) + ".")
    lines += [
        "",
        "| name | engine | what | figure | spread | ratio | goal | noise | verdict |",
        "|---|---|---|--:|--:|--:|--:|--:|---|",
    ]
    for name, result in results.items():
        for row in result["rows"]:
            lines.append(
                f"| `{name}` | {row['engine']} | {row['what']} | {formatted(row['figure'])} {row['unit']} | "
                f"{number_of(row['spread'])} | {times(row['ratio'])} | {row['goal'] or ''} | {number_of(row['noise'])} | "
                f"{row['verdict'] or ''} |"
            )
    lines += ["", "## Workloads and baselines", ""]
    for name, result in results.items():
        titles = dict.fromkeys(f"{row['title']} ({row['engine']})" for row in result["rows"])
        lines += [f"- {title.replace(chr(10), '; ')}" for title in titles]
    return "\n".join(lines) + "\n"


def number_of(figure):
    return "" if figure is None else f"{figure:.2f}"


def times(ratio):
    return "" if ratio is None else f"{ratio:.2f}x"


def plot(results):
    """A bar for each goal, on a logarithmic scale: met to the right of the line, missed to the left."""
    bars = []
    for name, result in results.items():
        for row in result["rows"]:
            if row["goal"]:
                sign, goal = row["goal"].split(" ")
                goal = float(goal.rstrip("x"))
                ahead = row["ratio"] / goal if sign == ">=" else goal / max(row["ratio"], 0.001)
                bars.append((f"{name} ({row['engine']}): {row['what']}", ahead, row))
    left, right, top, each = 470, 330, 44, 19
    width, height = left + right + 170, top + each * len(bars) + 30
    # From a quarter of the goal to four times the goal.
    at = lambda ahead: left + (math.log2(min(max(ahead, 0.25), 4)) + 2) / 4 * right
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{left}" y="16" font-size="13">Result relative to the goal (right of the line: met)</text>',
    ]
    for tick, label in ((0.25, "a quarter"), (0.5, "half"), (1, "the goal"), (2, "twice"), (4, "four times")):
        x = at(tick)
        svg.append(f'<text x="{x:.0f}" y="34" text-anchor="middle" fill="#555">{label}</text>')
        color, thick = ("#333", 1.5) if tick == 1 else ("#ddd", 1)
        svg.append(
            f'<line x1="{x:.0f}" y1="{top - 4}" x2="{x:.0f}" y2="{height - 24}" stroke="{color}" stroke-width="{thick}"/>'
        )
    for number, (name, ahead, row) in enumerate(bars):
        y = top + each * number
        begin, end = sorted((at(1), at(ahead)))
        svg.append(f'<text x="{left - 8}" y="{y + 11}" text-anchor="end">{escape(shortened(name))}</text>')
        svg.append(
            f'<rect x="{begin:.1f}" y="{y + 2}" width="{max(end - begin, 1.5):.1f}" height="{each - 6}" '
            f'fill="{KINDS[row["verdict"]]}"/>'
        )
        text = f"{row['ratio']:.2f}x, goal {row['goal']}"
        svg.append(f'<text x="{left + right + 8}" y="{y + 11}" fill="#333">{escape(text)}</text>')
    svg.append(
        f'<text x="{left}" y="{height - 8}" fill="#555">green: met; red: missed; gray: too noisy to judge</text>'
    )
    svg.append("</svg>")
    return "\n".join(svg) + "\n"


def shortened(text):
    return text if len(text) <= 76 else text[:75] + "…"
