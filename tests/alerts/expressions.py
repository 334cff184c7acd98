"""The metrics and labels that an expression of PromQL uses. It reads names, and does not parse the language."""
import re

# Labels that Prometheus adds to every series of a target.
OF_TARGET = {"job", "instance"}
SELECTOR = re.compile(r"\b(garth_\w+|up)\b(?:\{([^}]*)\})?")
MATCHER = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"")
GROUPING = re.compile(r"\bby\s*\(([^)]*)\)")


def metrics_of(expression: str) -> set[str]:
    return {name for name, _ in SELECTOR.findall(expression)}


def check(expression: str, existing: dict[str, set[str]]) -> list[str]:
    """The errors in an expression. `existing` has the labels of every metric."""
    selectors = SELECTOR.findall(expression)
    if not selectors:
        return [f"there is no metric in {expression}"]
    errors = [f"there is no metric {name}" for name, _ in selectors if name not in existing]
    known = [(name, matchers) for name, matchers in selectors if name in existing]
    for name, matchers in known:
        used = set(MATCHER.findall(matchers)) - OF_TARGET
        errors += [f"{name} has no label {label}" for label in sorted(used - existing[name])]
    grouped = {label.strip() for labels in GROUPING.findall(expression) for label in labels.split(",")} - OF_TARGET
    for name, _ in known:
        errors += [f"{name} has no label {label}" for label in sorted(grouped - existing[name])]
    return errors
