"""The requests of further pages of the web app, each with its preflight request."""

from datetime import datetime, timezone

from web_app import APP, curl, post

# Requests that a browser sent on the pages of instances, VPCs, the profile, users and the account.
LISTS = """
/v4/account/notifications /v4beta/account/maintenance /v4/linode/instances/{id}/firewalls
/v4/linode/instances/{id}/volumes /v4beta/networking/firewalls /v4/linode/instances/{id}/disks /v4/tags
/v4/account/service-transfers /v4/account/payments /v4/account/invoices /v4/account/payment-methods /v4/volumes
/v4/profile/sshkeys /v4/account/logins /v4/networking/ipv6/ranges /v4/linode/stackscripts /v4/linode/kernels
/v4/profile/devices /v4/nodebalancers /v4/domains /v4/object-storage/clusters /v4beta/lke/clusters
/v4beta/databases/types /v4/managed/issues /v4/managed/services /v4/placement/groups /v4beta/databases/instances
/v4beta/monitor/streams /v4beta/monitor/streams/destinations /v4/longview/subscriptions /v4/longview/clients
/v4/networking/ips/ /v4/linode/instances /v4/linode/types /v4/images /v4/account/users /v4/profile/tokens
/v4/profile/apps /v4/account/oauth-clients /v4beta/regions /v4beta/account/availability /v4/account/events
/v4beta/vpcs /v4beta/vpcs/{vpc}/subnets /v4/support/tickets /v4/linode/instances/{id}/configs
""".split()
OBJECTS = """
/v4beta/networking/firewalls/settings /v4/account/transfer /v4/linode/kernels/linode%2Flatest-64bit
/v4/profile/security-questions /v4/linode/instances/{id}/transfer /v4beta/account/settings /v4/profile
/v4/profile/preferences /v4beta/account/agreements /v4/longview/plan /v4beta/account /v4beta/vpcs/{vpc}
/v4beta/linode/instances/{id} /v4/linode/instances/{id}/ips /v4/linode/types/g6-nanode-1
""".split()
PERMISSIONS = """
/v4beta/iam/users/admin/permissions/account /v4beta/iam/users/admin/permissions/vpc/{vpc}
/v4beta/iam/users/admin/permissions/linode/{id} /v4beta/iam/users/admin/permissions/linode/-1
""".split()
REFUSED = {
    "/v4/volumes": '{"label":"data","region":"us-mia","size":20}',
    "/v4beta/networking/firewalls": '{"label":"web"}',
    "/v4/linode/instances/{id}/rebuild": '{"image":"linode/debian12","root_pass":"a-long-secret-of-yours"}',
    "/v4/linode/instances/{id}/resize": '{"type":"g6-standard-1"}',
    "/v4/linode/instances/{id}/clone": '{"region":"us-mia"}',
    "/v4/linode/instances/{id}/rescue": "{}",
}


def objects(garth):
    """A VPC and an instance, which the paths of the pages name."""
    subnets = '[{"label":"first","ipv4":"10.0.0.0/24"}]'
    vpc = post(garth, "/v4beta/vpcs", f'{{"description":"","label":"vpc-one","region":"us-mia","subnets":{subnets}}}')
    new = '{"region":"us-mia","type":"g6-nanode-1","label":"web-1","image":"linode/debian12","root_pass":"a-long-secret"}'
    return {"vpc": vpc["id"], "id": post(garth, "/v4beta/linode/instances", new)["id"]}


def preflight(garth, path, method="GET"):
    names = "authorization,x-filter" if method == "GET" else "authorization,content-type"
    headers = ["-H", f"Access-Control-Request-Method: {method}", "-H", f"Access-Control-Request-Headers: {names}"]
    response = curl(garth, path, "-X", "OPTIONS", *headers, token=None)
    assert response.status in (200, 204), f"OPTIONS {path}: {response.status}"
    assert response.headers["access-control-allow-origin"] in ("*", APP)


def requested(garth, path):
    preflight(garth, path)
    response = curl(garth, path)
    assert response.status == 200, f"{path}: {response.status} {response.body}"
    return response.json()


def lists(garth):
    ids = objects(garth)
    for path in LISTS:
        page = requested(garth, path.format(**ids) + "?page=1&page_size=500")
        assert (page["page"], page["pages"], page["results"]) == (1, 1, len(page["data"])), path


def objects_and_permissions(garth):
    ids = objects(garth)
    for path in OBJECTS:
        assert isinstance(requested(garth, path.format(**ids)), dict), path
    permissions = [requested(garth, path.format(**ids)) for path in PERMISSIONS]
    assert "create_vpc" in permissions[0] and "view_vpc" in permissions[1] and permissions[3] == [], permissions


def intended_refusals(garth):
    """The app shows the reason of a refusal. Only for one reason, it shows an empty graph instead."""
    ids = objects(garth)
    now = datetime.now(timezone.utc)
    for stats in ("stats", f"stats/{now.year}/{now.month}"):
        path = f"/v4/linode/instances/{ids['id']}/{stats}"
        preflight(garth, path)
        response = curl(garth, path)
        reasons = [error["reason"] for error in response.json()["errors"]]
        assert (response.status, reasons) == (400, ["Stats are unavailable at this time."]), response.body
    for path, body in REFUSED.items():
        path = path.format(**ids)
        preflight(garth, path, "POST")
        response = curl(garth, path, "-H", "Content-Type: application/json", "-d", body)
        assert response.status == 400, f"{path}: {response.status} {response.body}"
        assert [error["code"] for error in response.json()["errors"]] == ["not_offered"], response.body
        assert response.headers["access-control-allow-origin"] in ("*", APP)
    preflight(garth, "/v4/no/such/path")
    assert curl(garth, "/v4/no/such/path").status == 404, "401 would log the user out"


TESTS = [lists, objects_and_permissions, intended_refusals]
