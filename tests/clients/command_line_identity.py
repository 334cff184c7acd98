"""linode-cli: users, tokens, profile, account and catalog."""

from command_line import CommandLine
from python_identity import CALLBACK, authorize


def tokens_and_users(garth, folder):
    run_json = CommandLine(garth, folder).run_json
    created = run_json("profile token-create --label created --scopes", "vpc:read_write", "--expiry", "2099-01-02T03:04:05")[0]
    assert len(created["token"]) == 64 and (created["label"], created["expiry"]) == ("created", "2099-01-02T03:04:05")
    assert run_json(f"profile token-update {created['id']} --label renamed")[0]["label"] == "renamed"
    viewed = run_json(f"profile token-view {created['id']}")[0]
    assert (viewed["label"], viewed["scopes"], viewed["token"]) == ("renamed", "vpc:read_write", created["token"][:16])
    narrow = CommandLine(garth, folder, created["token"]).run_json
    assert narrow("vpcs create --label by-token --region us-mia")[0]["label"] == "by-token"
    assert "not authorized to use this endpoint" in narrow("users list", fails=True)
    assert [token["label"] for token in run_json("profile tokens-list")] == ["first start", "renamed"]
    run_json(f"profile token-delete {created['id']}")
    assert [token["label"] for token in run_json("profile tokens-list")] == ["first start"]

    ada = run_json("users create --username ada --email ada@example.com --restricted true")[0]
    assert (ada["username"], ada["email"], ada["restricted"]) == ("ada", "ada@example.com", True)
    assert "must be 3 to 32" in run_json("users create --username a --email a@example.com", fails=True).lower()
    assert [user["username"] for user in run_json("users list")] == ["admin", "ada"]
    # A user cannot be renamed: linode-cli also puts the new name into the path.
    changed = run_json("users update ada --email eda@example.com --restricted false")[0]
    assert (changed["username"], changed["email"], changed["restricted"]) == ("ada", "eda@example.com", False)
    # The old version requests the user but prints nothing.
    assert run_json("users view ada") == ([] if "5.50" in str(folder) else [changed])
    run_json("users delete ada")
    assert "Not found" in run_json("users view ada", fails=True)


def profile_and_applications(garth, folder):
    run_json = CommandLine(garth, folder).run_json
    changed = run_json("profile update --email root@example.com --timezone Europe/Berlin --email_notifications false")[0]
    assert (changed["username"], changed["email"]) == ("admin", "root@example.com")
    viewed = run_json("profile view --all-columns")[0]
    assert (viewed["email"], viewed["timezone"], viewed["restricted"]) == ("root@example.com", "Europe/Berlin", False)

    created = run_json(f"account client-create --label Tool --redirect_uri {CALLBACK} --public false")[0]
    assert len(created["secret"]) == 64 and created["label"] == "Tool"
    assert run_json(f"account client-update {created['id']} --label Other")[0]["label"] == "Other"
    secret = run_json(f"account client-reset-secret {created['id']}")[0]["secret"]
    assert len(secret) == 64 and secret != created["secret"]
    assert run_json(f"account client-view {created['id']}")[0]["label"] == "Other"
    assert [client["id"] for client in run_json("account clients-list --label Other")] == [created["id"]]

    authorize(garth, created["id"], secret)
    (login,) = run_json("profile logins-list")
    assert (login["username"], login["status"]) == ("admin", "successful")
    assert run_json(f"profile login-view {login['id']}")[0]["datetime"] == login["datetime"]
    (app,) = run_json("profile apps-list")
    assert (app["label"], app["scopes"]) == ("Other", "vpc:read_write")
    assert run_json(f"profile app-view {app['id']}")[0] == app
    run_json(f"profile app-delete {app['id']}")
    assert run_json("profile apps-list") == []
    run_json(f"account client-delete {created['id']}")
    assert run_json("account clients-list") == []


def account_and_catalog(garth, folder):
    run_json, old = CommandLine(garth, folder).run_json, "5.50" in str(folder)
    assert run_json("account view")[0]["email"] == "admin@localhost"
    assert run_json("account settings")[0]["network_helper"] is True
    regions = [region["id"] for region in run_json("regions list")]
    assert {"us-mia", "fr-par"} <= set(regions)
    mia = run_json("regions view us-mia")[0]
    assert (mia["id"], mia["label"], mia["country"]) == ("us-mia", "Miami, FL", "us")
    assert [row["region"] for row in run_json("account get-availability")] == regions
    miami = run_json("account get-account-availability us-mia")[0]
    assert (miami["region"], "VPCs" in miami["available"], miami["unavailable"]) == ("us-mia", True, [])
    assert run_json("linodes type-view g6-nanode-1")[0]["memory"] == 1024
    assert "g6-nanode-1" in [plan["id"] for plan in run_json("linodes types")]
    assert any(image["vendor"] == "Alpine" for image in run_json("images list"))
    assert run_json("images view linode/debian12")[0]["vendor"] == "Debian"

    vpc = run_json("vpcs create --label core --region us-mia --subnets.label a --subnets.ipv4 10.0.0.0/24")[0]["id"]
    subnet, vpc_event = run_json("events list")
    assert (subnet["action"], vpc_event["action"], vpc_event["entity"]["id"]) == ("subnet_create", "vpc_create", vpc)
    assert [event["id"] for event in run_json("events list --action vpc_create --entity.type vpc")] == [vpc_event["id"]]
    if old:
        run_json(f"events mark-read {vpc_event['id']}")
        assert [e["id"] for e in run_json("events list --read true")] == [vpc_event["id"]]
    run_json(f"events mark-seen {vpc_event['id']}")
    seen = {event["id"]: event["seen"] for event in run_json("events list --all-columns")}
    assert seen == {vpc_event["id"]: True, subnet["id"]: False}, "this event and all earlier ones"
    assert run_json(f"events view {subnet['id']} --all-columns")[0]["secondary_entity"]["label"] == "core"


TESTS = [tokens_and_users, profile_and_applications, account_and_catalog]
