"""Sends the requests of a sequence and checks that each response lets the client continue."""

import json

import requests

from server import TOKEN

PROVIDER_PATH = "/v4beta"


class Steps:
    """A client that sends requests in order. Each must succeed unless `status` says otherwise."""

    def __init__(self, garth, version=PROVIDER_PATH):
        self.root = garth.root + version
        self.session = requests.Session()
        self.session.headers.update({"Authorization": f"Bearer {TOKEN}"})

    def send(self, method, path, body=None, filtered=None, status=200):
        headers = {"X-Filter": json.dumps(filtered)} if filtered is not None else {}
        response = self.session.request(method, self.root + path, json=body, headers=headers, timeout=60)
        assert response.status_code == status, f"{method} {path} {body}: {response.status_code} {response.text}"
        assert response.headers["Content-Type"] == "application/json" or status == 204, response.headers
        return response.json() if response.content else None

    def get(self, path, filtered=None, status=200):
        return self.send("GET", path, filtered=filtered, status=status)

    def post(self, path, status=200, **body):
        return self.send("POST", path, body, status=status)

    def put(self, path, status=200, **body):
        return self.send("PUT", path, body, status=status)

    def delete(self, path):
        assert self.send("DELETE", path) == {}

    def gone(self, path):
        """Asserts that an object does not exist. Clients detect this by the reason of the error."""
        reasons = [error["reason"] for error in self.get(path, status=404)["errors"]]
        assert reasons == ["Not found"], reasons

    def list(self, path, filtered=None):
        """All rows of a list of one page, as linodego requests it."""
        page = self.get(f"{path}?page=1", filtered)
        assert (page["page"], page["pages"], page["results"]) == (1, 1, len(page["data"])), page
        return page["data"]

    def finished(self, action, instance, act):
        """Waits for an event as linodego does: reads the events before and after the act, then the new event."""
        filtered = {
            "+order": "desc",
            "+order_by": "created",
            "action": action,
            "entity.id": instance,
            "entity.type": "linode",
        }
        before = {event["id"] for event in self.list("/account/events", filtered)}
        result = act()
        new = [event for event in self.list("/account/events", filtered) if event["id"] not in before]
        assert len(new) == 1, f"{action}: {new}"
        event = self.get(f"/account/events/{new[0]['id']}")
        assert (event["status"], event["percent_complete"]) == ("finished", 100), event
        return result


def holds(item, **expected):
    """Checks fields of an object."""
    found = {name: item[name] for name in expected}
    assert found == expected, f"{found} is not {expected}"
    return item
