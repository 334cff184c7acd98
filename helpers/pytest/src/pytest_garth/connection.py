"""Requests to the operations under `/_test`."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 60


class GarthError(Exception):
    """The server did not start, is not reachable, or refused an operation."""


class Connection:
    """Sends each request on its own connection, and never through a proxy. Threads can share it."""

    def __init__(self, url: str):
        self.url = url.rstrip("/")
        parts = urlsplit(self.url)
        if parts.scheme != "http" or not parts.hostname or parts.path:
            raise GarthError(f"{url} is not the URL of a server; it must look like http://127.0.0.1:8080")
        self.host, self.port = parts.hostname, parts.port or 80

    def send(self, method: str, path: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=TIMEOUT_SECONDS)
        try:
            connection.request(method, f"/_test{path}", None if body is None else json.dumps(body))
            response = connection.getresponse()
            status, content = response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise GarthError(f"{method} {self.url}/_test{path}: {error or type(error).__name__}") from error
        finally:
            connection.close()
        if status != 200:
            raise GarthError(f"{method} {self.url}/_test{path}: {status} {reasons(content)}")
        return json.loads(content)


def reasons(content: bytes) -> str:
    """The errors of a response as text."""
    try:
        errors = json.loads(content)["errors"]
        return "; ".join(": ".join(filter(None, (error.get("field"), error["reason"]))) for error in errors)
    except (ValueError, KeyError, TypeError):
        return content[:200].decode(errors="replace")
