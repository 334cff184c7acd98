"""Compares the stored objects with the recorded writes."""
import collections

import http_json
from nodes import PROXY_URL

PAGE_SIZE = 500
PATHS = {"vpc": ("/v4/vpcs", "label"), "ticket": ("/v4/support/tickets", "summary")}
MAX_LISTED = 20


def verify(requests: list[dict], tokens: list[str]) -> dict:
    """Every acknowledged write exists exactly once, and every other write at most once."""
    stored = stored_objects(tokens)
    lost, repeated, found_unacknowledged = [], [], 0
    writes = [request for request in requests if request["request"] == "write"]
    for write in writes:
        numbers = stored.pop((write["token"], write["kind"], write["name"]), [])
        text = f"{write['kind']} {write['name']}"
        if len(numbers) > 1:
            repeated.append(f"{text} exists as {numbers}")
        if write["status"] == 200:
            if write["id"] not in numbers:
                lost.append(f"{text}, acknowledged as {write['id']}, exists as {numbers}")
        else:
            found_unacknowledged += bool(numbers)
    acknowledged = sum(write["status"] == 200 for write in writes)
    return {
        "acknowledged": acknowledged,
        "lost": len(lost),
        "repeated": len(repeated),
        "unacknowledged": len(writes) - acknowledged,
        "unacknowledged_but_stored": found_unacknowledged,
        # Objects that no client has created.
        "unexpected": len(stored),
        "not_found_by_readers": sum(is_missing(request) for request in requests),
        "examples": (lost + repeated + [str(key[1:]) for key in stored])[:MAX_LISTED],
    }


def is_sound(result: dict) -> bool:
    return not any(result[name] for name in ("lost", "repeated", "unexpected", "not_found_by_readers"))


def is_missing(request: dict) -> bool:
    """Readers read only objects whose creation was acknowledged."""
    return request["request"] == "read" and request["status"] == 404


def stored_objects(tokens: list[str]) -> dict[tuple[str, str, str], list[int]]:
    """The IDs of all objects, by token, kind and name."""
    found = collections.defaultdict(list)
    for token in tokens:
        for kind, (path, field) in PATHS.items():
            for item in all_items(path, token):
                found[token, kind, item[field]].append(item["id"])
    return found


def all_items(path: str, token: str) -> list[dict]:
    items, page, pages = [], 1, 1
    while page <= pages:
        url = f"{PROXY_URL}{path}?page={page}&page_size={PAGE_SIZE}"
        status, answer = http_json.send("GET", url, token=token, timeout=60)
        assert status == 200, f"GET {path} returned {status}"
        items += answer["data"]
        page, pages = page + 1, answer["pages"]
    return items
