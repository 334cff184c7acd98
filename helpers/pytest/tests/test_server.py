"""Each method of the server, a tenant and a snapshot, against a real server."""

from datetime import datetime, timedelta, timezone
from http.client import RemoteDisconnected

import pytest

from pytest_garth import GarthError

NOON = datetime(2024, 6, 1, 12, tzinfo=timezone.utc)


def test_tenants_do_not_see_each_other(garth, client_of):
    first, second = garth.tenant(), garth.tenant()
    assert first.account_id != second.account_id
    vpc = client_of(first).create_vpc("core")
    assert client_of(first).labels() == ["core"]
    assert client_of(second).labels() == []
    assert client_of(second).send("GET", f"/vpcs/{vpc['id']}")[0] == 404


def test_a_tenant_has_the_fields_that_clients_need(garth, garth_tenant, client):
    assert garth_tenant.url == garth.url
    assert garth_tenant.api_url == f"{garth.url}/v4"
    status, profile = client.send("GET", "/profile")
    assert (status, profile["username"]) == (200, garth_tenant.username)


def test_a_frozen_clock_sets_the_times_of_objects(garth, client):
    assert garth.freeze(NOON) == NOON
    assert client.create_vpc("core")["created"] == "2024-06-01T12:00:00"
    assert garth.now() == NOON


def test_a_time_can_be_text_or_have_a_time_zone(garth):
    assert garth.freeze("2024-06-01T12:00:00") == NOON
    assert garth.freeze(NOON.astimezone(timezone(timedelta(hours=2)))) == NOON


def test_freezing_without_a_time_stops_the_clock_at_the_current_one(garth):
    stopped = garth.freeze()
    assert abs(stopped - datetime.now(timezone.utc)) < timedelta(minutes=1)
    assert garth.now() == stopped


def test_an_advance_moves_the_clock(garth):
    garth.freeze(NOON)
    assert garth.advance(90) == NOON + timedelta(seconds=90)
    assert garth.advance(timedelta(days=1)) == NOON + timedelta(days=1, seconds=90)
    with pytest.raises(GarthError, match="must be whole seconds"):
        garth.advance(timedelta(milliseconds=1500))


def test_a_clock_runs_on_after_unfreeze(garth):
    garth.freeze(NOON)
    garth.unfreeze()
    assert NOON <= garth.now() < NOON + timedelta(minutes=1)
    assert not garth._send("GET", "/clock")["frozen"]


def test_the_next_request_fails_with_a_status(garth, client):
    garth.fail_next(method="GET", path="/vpcs", status=503)
    assert client.send("GET", "/vpcs")[0] == 503
    assert client.send("GET", "/vpcs")[0] == 200


def test_several_failures_are_used_in_their_order(garth, client):
    garth.fail_next(operation="getVpcs", status=503)
    garth.fail_next(operation="getVpcs", status=429, times=2)
    assert [client.send("GET", "/vpcs")[0] for _ in range(4)] == [503, 429, 429, 200]


def test_a_used_failure_is_not_repeated_by_a_new_one(garth, client):
    garth.fail_next(operation="getVpcs", status=503)
    assert client.send("GET", "/vpcs")[0] == 503
    garth.fail_next(operation="getProfile", status=500)
    assert [rule["times"] for rule in garth.faults()] == [0, 1]
    assert client.send("GET", "/vpcs")[0] == 200


def test_a_failure_of_a_tenant_concerns_only_its_account(garth, client_of):
    first, second = garth.tenant(), garth.tenant()
    first.fail_next(path="/vpcs", status=500)
    assert client_of(second).send("GET", "/vpcs")[0] == 200
    assert client_of(first).send("GET", "/vpcs")[0] == 500


def test_a_connection_dropped_after_the_commit_has_an_effect(garth, client):
    garth.fail_next(method="POST", path="/vpcs", drop="after")
    with pytest.raises((RemoteDisconnected, ConnectionError)):
        client.create_vpc("core")
    assert client.labels() == ["core"]


def test_an_invalid_failure_is_refused_with_its_field(garth):
    with pytest.raises(GarthError, match="400 action.status: Must be 400 to 599"):
        garth.fail_next(path="/vpcs", status=200)
    assert garth.faults() == []


def test_failures_can_be_deleted(garth, client):
    garth.fail_next(status=500, times=None)
    assert client.send("GET", "/vpcs")[0] == 500
    garth.clear_faults()
    assert client.send("GET", "/vpcs")[0] == 200


def test_a_snapshot_restores_rows(garth, client):
    client.create_vpc("core")
    snapshot = garth.snapshot()
    client.create_vpc("edge")
    snapshot.restore()
    assert client.labels() == ["core"]
    snapshot.delete()
    with pytest.raises(GarthError, match="404"):
        snapshot.restore()


def test_a_snapshot_can_be_restored_by_name(garth, client):
    garth.snapshot("empty")
    client.create_vpc("core")
    garth.restore("empty")
    assert client.labels() == []


def test_requests_are_recorded(garth, garth_tenant, client):
    client.labels()
    garth.fail_next(status=503)
    client.send("GET", "/profile")
    first, second = garth.requests()
    sent = {"method": "GET", "path": "/v4/vpcs", "account_id": garth_tenant.account_id}
    assert first == sent | {"status": 200, "operation": "getVpcs", "fault": False}
    assert (second["operation"], second["status"], second["fault"]) == ("getProfile", 503, True)
    garth.clear_requests()
    assert garth.requests() == []


def test_changed_settings_apply_until_they_are_restored(garth, client):
    garth.change_settings({"quota.vpcs_per_region": 1})
    client.create_vpc("core")
    assert client.send("POST", "/vpcs", {"label": "edge", "region": "us-east"})[0] == 400
    garth.change_settings({"quota.vpcs_per_region": None})
    client.create_vpc("edge")


def test_a_reset_deletes_tenants_and_changes(garth, client, client_of):
    admin = client_of(garth)
    admin.create_vpc("core")
    garth.freeze(NOON)
    garth.reset()
    assert client.send("GET", "/vpcs")[0] == 401
    assert admin.labels() == []
    assert garth.now() > NOON + timedelta(days=1)
