"""The results, as a table and as JSON."""
import json
import os
import pathlib


def print_table(results: list[dict]) -> None:
    rows = [("fault", "clients", "writes", "gap (s)", "read gap (s)", "failed writes", "failed reads")]
    for result in results:
        for step in result["steps"]:
            rows.append((
                step["fault"],
                step["clients"],
                str(step["acknowledged"]),
                str(step["longest_gap_writes"]),
                str(step["longest_gap_reads"]),
                describe(step["failed_writes"]),
                describe(step["failed_reads"]),
            ))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rows.insert(1, tuple("-" * width for width in widths))
    print()
    for row in rows:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
    print()


def describe(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} x {status}" for status, count in counts.items()) or "0"


def print_verdict(result: dict) -> None:
    writes = result["writes"]
    print(
        f"{result['scenario']}: {'ok' if result['passed'] else 'FAILED'}: "
        f"{writes['acknowledged']} acknowledged writes so far, {writes['lost']} lost, {writes['repeated']} repeated; "
        f"{writes['unacknowledged_but_stored']} of {writes['unacknowledged']} unacknowledged writes are stored; "
        f"{writes['not_found_by_readers']} reads of acknowledged objects returned 404; "
        f"garth check: {'sound' if result['garth_check']['sound'] else 'PROBLEMS'}",
        flush=True,
    )
    for line in [*result["problems"], *writes["examples"]]:
        print(f"    {line}")
    if not result["garth_check"]["sound"]:
        print(result["garth_check"]["output"])


def write_json(path: pathlib.Path, results: list[dict], versions: dict[str, str], options: dict) -> None:
    document = {
        "versions": versions,
        "processors": os.cpu_count(),
        "options": options,
        "passed": all(result["passed"] for result in results),
        "scenarios": results,
    }
    path.write_text(json.dumps(document, indent=2) + "\n")
