"""linode-cli on who its users are and what there is for them, and on all else that tickets and VPCs do not need."""

from command_line import CommandLine
from python_identity import CALLBACK, allow


def tokens_and_users(garth, folder):
    ask = CommandLine(garth, folder).ask
    made = ask("profile token-create --label made --scopes", "vpc:read_write", "--expiry", "2099-01-02T03:04:05")[0]
    assert len(made["token"]) == 64 and (made["label"], made["expiry"]) == ("made", "2099-01-02T03:04:05")
    assert ask(f"profile token-update {made['id']} --label renamed")[0]["label"] == "renamed"
    seen = ask(f"profile token-view {made['id']}")[0]
    assert (seen["label"], seen["scopes"], seen["token"]) == ("renamed", "vpc:read_write", made["token"][:16])
    narrow = CommandLine(garth, folder, made["token"]).ask
    assert narrow("vpcs create --label by-token --region us-mia")[0]["label"] == "by-token"
    assert "not authorized to use this endpoint" in narrow("users list", fails=True)
    assert [token["label"] for token in ask("profile tokens-list")] == ["first start", "renamed"]
    ask(f"profile token-delete {made['id']}")
    assert [token["label"] for token in ask("profile tokens-list")] == ["first start"]

    ada = ask("users create --username ada --email ada@example.com --restricted true")[0]
    assert (ada["username"], ada["email"], ada["restricted"]) == ("ada", "ada@example.com", True)
    assert "must be 3 to 32" in ask("users create --username a --email a@example.com", fails=True).lower()
    assert [user["username"] for user in ask("users list")] == ["admin", "ada"]
    # A new name cannot be given: linode-cli puts it into the path as well.
    changed = ask("users update ada --email eda@example.com --restricted false")[0]
    assert (changed["username"], changed["email"], changed["restricted"]) == ("ada", "eda@example.com", False)
    # The old one has nothing to say of a user, though it asks and gets one.
    assert ask("users view ada") == ([] if "5.50" in str(folder) else [changed])
    ask("users delete ada")
    assert "Not found" in ask("users view ada", fails=True)


def profile_and_programs(garth, folder):
    ask = CommandLine(garth, folder).ask
    changed = ask("profile update --email root@example.com --timezone Europe/Berlin --email_notifications false")[0]
    assert (changed["username"], changed["email"]) == ("admin", "root@example.com")
    seen = ask("profile view --all-columns")[0]
    assert (seen["email"], seen["timezone"], seen["restricted"]) == ("root@example.com", "Europe/Berlin", False)

    made = ask(f"account client-create --label Tool --redirect_uri {CALLBACK} --public false")[0]
    assert len(made["secret"]) == 64 and made["label"] == "Tool"
    assert ask(f"account client-update {made['id']} --label Other")[0]["label"] == "Other"
    secret = ask(f"account client-reset-secret {made['id']}")[0]["secret"]
    assert len(secret) == 64 and secret != made["secret"]
    assert ask(f"account client-view {made['id']}")[0]["label"] == "Other"
    assert [client["id"] for client in ask("account clients-list --label Other")] == [made["id"]]

    allow(garth, made["id"], secret)
    (app,) = ask("profile apps-list")
    assert (app["label"], app["scopes"]) == ("Other", "vpc:read_write")
    assert ask(f"profile app-view {app['id']}")[0] == app
    ask(f"profile app-delete {app['id']}")
    assert ask("profile apps-list") == []
    ask(f"account client-delete {made['id']}")
    assert ask("account clients-list") == []


def account_and_what_there_is(garth, folder):
    ask, old = CommandLine(garth, folder).ask, "5.50" in str(folder)
    assert ask("account view")[0]["email"] == "admin@localhost"
    assert ask("account settings")[0]["network_helper"] is True
    regions = [region["id"] for region in ask("regions list")]
    assert {"us-mia", "fr-par"} <= set(regions)
    mia = ask("regions view us-mia")[0]
    assert (mia["id"], mia["label"], mia["country"]) == ("us-mia", "Miami, FL", "us")
    assert [row["region"] for row in ask("account get-availability")] == regions
    assert ask("account get-account-availability us-mia")[0] == {"region": "us-mia", "unavailable": []}
    assert ask("linodes type-view g6-nanode-1")[0]["memory"] == 1024
    assert "g6-nanode-1" in [plan["id"] for plan in ask("linodes types")]
    assert any(image["vendor"] == "Alpine" for image in ask("images list"))
    assert ask("images view linode/debian12")[0]["vendor"] == "Debian"

    vpc = ask("vpcs create --label told --region us-mia --subnets.label a --subnets.ipv4 10.0.0.0/24")[0]["id"]
    subnet, whole = ask("events list")
    assert (subnet["action"], whole["action"], whole["entity"]["id"]) == ("subnet_create", "vpc_create", vpc)
    assert [event["id"] for event in ask("events list --action vpc_create --entity.type vpc")] == [whole["id"]]
    if old:
        ask(f"events mark-read {whole['id']}")
        assert [e["id"] for e in ask("events list --read true")] == [whole["id"]]
    ask(f"events mark-seen {whole['id']}")
    seen = {event["id"]: event["seen"] for event in ask("events list --all-columns")}
    assert seen == {whole["id"]: True, subnet["id"]: False}, "it and all before it"
    assert ask(f"events view {subnet['id']} --all-columns")[0]["secondary_entity"]["label"] == "told"


TESTS = [tokens_and_users, profile_and_programs, account_and_what_there_is]
