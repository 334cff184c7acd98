"""A server with test control, and its tenants and snapshots."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Callable
from urllib.parse import quote

from .connection import Connection, GarthError

TIME_FORMAT = "%Y-%m-%dT%H:%M:%S"


class Server:
    """A running server. `url` has no path; clients need `api_url`, which ends with `/v4`.

    `token` belongs to the user `admin`. It is None if the server was not started by this package.
    """

    def __init__(self, connection: Connection, token: str | None = None, stop: Callable[[], None] = lambda: None):
        self.url = connection.url
        self.api_url = f"{self.url}/v4"
        self.token = token
        self._send = connection.send
        self._stop = stop
        self._changed_settings: set[str] = set()
        self._has_changed_clock = False
        self._has_faults = False

    def stop(self) -> None:
        """Stops the server and deletes its store, if this package started it."""
        self._stop()

    def tenant(self) -> Tenant:
        """Creates an account with an unrestricted user and a token with all scopes."""
        created = self._send("POST", "/accounts")
        return Tenant(self, created["account_id"], created["username"], created["token"])

    def reset(self) -> None:
        """Returns to the store of a first start. Deletes all tenants."""
        self._send("POST", "/reset")
        self._has_changed_clock = self._has_faults = False
        self._changed_settings.clear()

    def snapshot(self, name: str | None = None) -> Snapshot:
        """Stores all rows in the memory of the server. An existing snapshot with this name is replaced."""
        name = name or f"snapshot-{uuid.uuid4().hex}"
        self._send("POST", "/snapshots", {"name": name})
        return Snapshot(self, name)

    def restore(self, name: str) -> None:
        """Replaces all rows with those of a snapshot."""
        self._send("POST", f"/snapshots/{quote(name, safe='')}/restore")

    def now(self) -> datetime:
        """The time of the server, in UTC."""
        return parse_time(self._send("GET", "/clock")["now"])

    def freeze(self, now: datetime | str | None = None) -> datetime:
        """Stops the clock, at this time or at the current one. Returns the time.

        A time without a time zone is in UTC.
        """
        change: dict[str, Any] = {"frozen": True}
        if now is not None:
            change["now"] = now if isinstance(now, str) else format_time(now)
        self._has_changed_clock = True
        return parse_time(self._send("PUT", "/clock", change)["now"])

    def unfreeze(self) -> None:
        """Lets a frozen clock run on from its time."""
        self._has_changed_clock = True
        self._send("PUT", "/clock", {"frozen": False})

    def advance(self, seconds: int | timedelta) -> datetime:
        """Advances the clock and waits for the jobs that become due. Returns the time."""
        if isinstance(seconds, timedelta):
            if seconds % timedelta(seconds=1):
                raise GarthError(f"cannot advance the clock by {seconds}; the duration must be whole seconds")
            seconds = seconds // timedelta(seconds=1)
        self._has_changed_clock = True
        return parse_time(self._send("POST", "/clock/advance", {"seconds": seconds})["now"])

    def fail_next(
        self,
        *,
        method: str | None = None,
        path: str | None = None,
        operation: str | None = None,
        account: int | None = None,
        times: int | None = 1,
        probability: float | None = None,
        status: int | None = None,
        drop: str | None = None,
        delay_ms: int | None = None,
        truncate: int | None = None,
    ) -> None:
        """Lets the next `times` matching requests fail; all of them if `times` is None.

        `path` has no `/v4`, and `*` stands for one segment. `drop` is "before" or "after" the commit. Earlier rules
        have precedence.
        """
        match = {"method": method, "path": path, "operation": operation, "account": account}
        action = {"status": status, "drop": drop, "delay_ms": delay_ms, "truncate": truncate}
        rule = {"match": present(match), "action": present(action), "times": times, "probability": probability}
        self._has_faults = True
        self._send("POST", "/faults", present(rule))

    def faults(self) -> list[dict[str, Any]]:
        """The rules for failures, with the remaining number of requests."""
        return self._send("GET", "/faults")["data"]

    def clear_faults(self) -> None:
        """Deletes all rules for failures."""
        self._send("DELETE", "/faults")
        self._has_faults = False

    def requests(self) -> list[dict[str, Any]]:
        """The requests to the API, in the order of their ends: `method`, `path`, `status`, `operation`, `account_id`
        and `fault`.

        The record is empty at the start of a test. A request of an earlier test that ends later is in it, too.
        """
        return self._send("GET", "/requests")["data"]

    def clear_requests(self) -> None:
        """Deletes the recorded requests."""
        self._send("DELETE", "/requests")

    def change_settings(self, settings: dict[str, Any]) -> None:
        """Changes limits, such as `{"quota.vpcs_per_region": 3}`. None restores the value of the server."""
        self._send("PUT", "/settings", settings)
        self._changed_settings |= settings.keys()

    def undo_changes(self) -> None:
        """Deletes faults, restores changed settings and sets the clock to the time of the system. Rows remain."""
        if self._has_faults:
            self.clear_faults()
        if self._changed_settings:
            self._send("PUT", "/settings", dict.fromkeys(self._changed_settings))
            self._changed_settings.clear()
        if self._has_changed_clock:
            self._send("PUT", "/clock", {"now": None})
            self._has_changed_clock = False


@dataclass(frozen=True)
class Tenant:
    """An account that no other test sees, with a user and a token."""

    server: Server
    account_id: int
    username: str
    token: str

    @property
    def url(self) -> str:
        """The URL of the server, without a path."""
        return self.server.url

    @property
    def api_url(self) -> str:
        """The URL for clients, which ends with `/v4`."""
        return self.server.api_url

    def fail_next(self, **rule: Any) -> None:
        """Like `Server.fail_next`, but only for requests of this account."""
        self.server.fail_next(account=self.account_id, **rule)


@dataclass(frozen=True)
class Snapshot:
    """Rows in the memory of the server."""

    server: Server
    name: str

    def restore(self) -> None:
        """Replaces all rows of the server. Rows and tokens that are newer than the snapshot are deleted."""
        self.server.restore(self.name)

    def delete(self) -> None:
        """Deletes the snapshot."""
        self.server._send("DELETE", f"/snapshots/{quote(self.name, safe='')}")


def connect(url: str, token: str | None = None) -> Server:
    """A server that is already running with `--test-control`."""
    connection = Connection(url)
    try:
        connection.send("GET", "/clock")
    except GarthError as error:
        raise GarthError(f"{url} is not a server with test control (garth serve --test-control): {error}") from error
    return Server(connection, token)


def present(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def parse_time(text: str) -> datetime:
    return datetime.strptime(text, TIME_FORMAT).replace(tzinfo=timezone.utc)


def format_time(time: datetime) -> str:
    if time.tzinfo is not None:
        time = time.astimezone(timezone.utc)
    return time.strftime(TIME_FORMAT)
