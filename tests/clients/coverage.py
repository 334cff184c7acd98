"""The tables in docs/clients.md, generated from the operations that each client called."""

import difflib

from published_tests import FAILED_WITHOUT_FIREWALL, FIREWALL_AND, FIREWALL_ONLY, LINODEGO, NO_FIREWALLS

# Clients that are in no package registry. Sequences of requests replace them.
TERRAFORM = "Terraform provider"
LINODEGO_2 = "linodego 2"
SEQUENCES = {TERRAFORM, LINODEGO_2}

METHODS = ("get", "post", "put", "delete")

# The operations of interface §4. Every client must call them, except those in UNSUPPORTED.
INTERFACE = (
    "getVpcs createVpc getVpc updateVpc deleteVpc getVpcSubnets createVpcSubnet getVpcSubnet updateVpcSubnet "
    "deleteVpcSubnet getVpcsIps getVpcIps getTickets createTicket getTicket closeTicket getTicketReplies "
    "createTicketReply createTicketAttachment"
).split()

# Operations that a client does not support, by the prefix of the client's name, with the reason.
UNSUPPORTED = {
    ("linode-cli", "createTicketAttachment"): "linode-cli has no command for attachments",
    ("linode-cli 5.50.0", "getVpcsIps"): "linode-cli has a command for it only in later releases",
    ("web app", "getVpcsIps"): "the web app has no page with a list of addresses",
    ("web app", "getVpcIps"): "the web app has no page with a list of addresses",
}

# Operations that no published client supports, with the reason.
UNSUPPORTED_BY_ALL = {
    "streamEvents": "Garth's own addition; clients poll `/account/events`",
    "getQuotas": "Garth's own addition",
    "getTicketAttachments": "Garth's own addition; clients show the names in the ticket",
    "getTicketAttachment": "Garth's own addition",
    "getSupportLimits": "Garth's own addition",
    "getAuthorizationServer": "for OAuth libraries; clients of the public service have the endpoints built in",
    "getForgotPasswordPage": "a page for people; the web app links to it",
    "requestPasswordReset": "a page for people; `tests/browser` uses it",
    "getPasswordPage": "a page for people; `tests/browser` uses it",
    "setPassword": "a page for people; `tests/browser` uses it",
    "getOauthStyle": "the stylesheet of these pages",
    "getService": "for discovery with curl; clients have the paths built in",
    "getApi": "for discovery with curl; clients have the paths built in",
    "getHealth": "for operators of the server",
    "getReadiness": "for operators of the server",
    "getOpenapi": "the description of this server",
    "getDocs": "the description of this server",
    "getDocsPage": "the description of this server",
    "getDocsStyle": "the description of this server",
    "getDocsScript": "the description of this server",
    "getIcon": "the description of this server",
}
# Operations that published clients support, but that Garth always refuses, with the reason.
REFUSED = {
    "assignIps": "Garth does not move addresses between instances",
    "shareIps": "Garth does not share addresses between instances",
}
# Products that Garth does not have. Clients are not required to call them, and changes are refused.
OTHER_PRODUCTS = "Other products"
# Test runs that `./check` cannot repeat.
RUN_BY_HAND = """
## Tests that were run by hand

These tests were run on 2026-11-16. `./check` does not run them. The last section lists the failing tests, with reasons.

- **The Terraform provider** (commit 6aef35f5, with linodego 1.69.1 and Terraform 1.11.4): acceptance tests for VPCs,
  subnets, instances, disks, configs, addresses, reverse DNS, VLANs, SSH keys, tokens, users, regions, types, kernels
  and availability. 103 passed, and 31 failed. Four of the 103 first failed, and passed after Garth was changed; the
  others ran shortly before that change. `TestAccResourceInstance_configInterfacesNoReboot` passes alone. In parallel it
  can fail, because the tests share the settings of one provider. The provider skips 12 more tests by default. After the
  built-in regions, types and images were changed, the tests of regions, types, images, kernels, instances, disks and
  configs ran again, and the 12 tests with IPv6 (dual stack) for the first time: 65 passed, and 33 failed. The tests of
  images need the additional capability Object Storage. Tests with rescue mode and connections to the instance were not
  run.
- **linodego 2** (commit 676b9dbe): the 135 integration tests for products that Garth has. They ran after a log-in to
  the console, with the settings below, the additional capability Cloud Firewall, no rate limits, and a poll interval of
  half a second. 95 passed, and 40 failed.
- **The web app** (version 1.156.0, commit aab5b227), built from its source, in a headless browser: it logged in, and
  its forms were used. These succeeded: create, change and delete a VPC; create, change and delete a subnet; assign an
  instance to a subnet and unassign it; create instances with and without a VPC, and delete one; boot, reboot and shut
  down; change the label, the root password and the watchdog, and remove a tag; create, rename, resize and delete disks;
  create, change, boot and delete configs; add and delete addresses, and set reverse DNS; open a ticket with a file,
  reply with a file and close it; create, rename and revoke tokens; create, rename, restrict and delete a user, and
  change its grants; create, change and delete an SSH key; create, change, reset and delete OAuth clients; change the
  e-mail address, the time zone and the network helper. Errors of Garth appeared at their fields: an overlapping range,
  an invalid SSH key, a token without scopes, a disk smaller than its image. The refusal of an IPv6 range was a notice.
  Statistics are refused, and the app shows that they are not available. After it deletes a VPC, a subnet or a user, the
  app requests it again, and gets 404. Not tested: adding a tag to an existing instance, and changing the billing
  contact, for which the app requires a country.

### Run the instance tests of the Terraform provider

1. Start Garth with the profile `upstream`, in which regions have the capabilities that the tests require, and public
   addresses have default reverse DNS names. (`region_capabilities` adds other capabilities to every region.)

       export GARTH_BOOTSTRAP_TOKEN=$(openssl rand -hex 32)
       garth serve --profile upstream

2. In a clone of the provider, remove the firewall from the templates of the tests, because Garth refuses to create it:

       grep -rl e2e_test_firewall linode --include='*.gotf' | xargs sed -i '/e2e_test_firewall/d'

3. Run the tests, with `terraform` in the path and the token of the first step:

       export LINODE_URL=http://127.0.0.1:8080 LINODE_API_VERSION=v4beta LINODE_TOKEN=$GARTH_BOOTSTRAP_TOKEN
       TF_ACC=1 go test -v -tags instance ./linode/instance -run 'TestAccResourceInstance_(basic_smoke|VPCInterface)'
""".splitlines()

PUBLISHED_TESTS = """
## Published tests that cannot succeed

These published tests require something that Garth does not have. Garth refuses their requests with 400, mostly with the
code `not_offered`. For the provider, the list has the tests that failed in the runs above, and tests with resizing,
rescue mode, volumes, NodeBalancers and reserved addresses that were not run; their rows are derived from their
requests. For linodego, it has all 40 of the 135 tests that failed. For an invalid label, the provider, linodego 1 and
linodego 2 expect three different messages. Garth sends the message that the provider expects.
""".splitlines()

DESK = "Garth's own: the desk of the provider; tested by `tests/api/support`"
HOSTS = "Garth's own: hosts and their agents; tested by `tests/api/hosting`"
PROVIDER = "Garth's own: the administration of the provider; tested by `tests/api/account`, `tests/api/compute` and `tests/api/identity`"
OWN_TAGS = {"Desk": DESK, "Hosts": HOSTS, "Agents": HOSTS, "Provider": PROVIDER, "Mail": PROVIDER}


def check(document, operations_by_client, file, update):
    """Whether the clients called all supported operations, and the file is up to date. `update` writes the file."""
    operations = {
        details["operationId"]: (f"{method.upper()} {path}", details["tags"][0])
        for path, methods in document["paths"].items()
        for method, details in methods.items()
        if method in METHODS
    }
    unsupported = {id: OWN_TAGS.get(tag) or UNSUPPORTED_BY_ALL.get(id) for id, (_, tag) in operations.items()}
    unsupported = {id: why for id, why in unsupported.items() if why}
    errors = list(find_errors(operations, unsupported, operations_by_client))
    table = render_table(operations, unsupported, operations_by_client)
    if update:
        file.write_text(table)
    written = file.read_text() if file.exists() else ""
    if table != written:
        errors.append(f"{file} is out of date; `--update` updates it:")
        errors += difflib.unified_diff(written.splitlines(), table.splitlines(), "file", "test run", n=0, lineterm="")
    for line in errors:
        print(line)
    count = sum(any(id in called for called in operations_by_client.values()) for id in operations)
    print(f"{count} operations called by clients, {len(unsupported)} not supported by any, {len(operations)} in total")
    return not errors


def find_errors(operations, unsupported, operations_by_client):
    for id in operations:
        by = [client for client, called in operations_by_client.items() if id in called]
        if id in unsupported and by:
            yield f"{id} is listed as unsupported, but {by[0]} called it"
        if id not in unsupported and not by and operations[id][1] != OTHER_PRODUCTS:
            yield f"no client called {id}"
        for client in operations_by_client.keys() - SEQUENCES if id in INTERFACE else ():
            unsupported_reason = reason(client, id)
            if client not in by and not unsupported_reason:
                yield f"{client} did not call {id}"
            if client in by and unsupported_reason:
                yield f"{client} called {id}, but: {unsupported_reason}"
    for id in [*UNSUPPORTED_BY_ALL, *REFUSED, *INTERFACE]:
        if id not in operations:
            yield f"{id} is not an operation"
    for called in operations_by_client.values():
        for id in called - operations.keys() - {"none"}:
            yield f"{id} is not in the document"


def reason(client, id):
    """Why a client does not support an operation, or None."""
    return next((why for (name, operation), why in UNSUPPORTED.items() if operation == id and client.startswith(name)), None)


def render_table(operations, unsupported, operations_by_client):
    clients = sorted(operations_by_client.keys() - SEQUENCES, key=lambda client: (client == "web app", client))
    rows = {id: [client for client in clients if id in operations_by_client[client]] for id in operations if id not in unsupported}
    refused = {id: rows.pop(id) for id in REFUSED}
    lines = [
        "# Tested clients",
        "",
        "`tests/clients` tests clients of the public service against Garth on the embedded store and on PostgreSQL. The",
        "tables below are generated from the server's log. A `+` means that the client called the operation successfully.",
        "`./check` fails if the tables differ from the test run.",
        "",
        "| client | how `./check` tests it |",
        "|---|---|",
        "| linode_api4, linode-cli, @linode/api-v4, linodego 1 | the published package runs, unchanged, and its results are checked |",
        "| the web app | its requests are replayed with curl, as a browser sent them; the app itself does not run |",
        f"| {TERRAFORM}, {LINODEGO_2} | `tests/clients/sequences` sends their requests, in their order, and checks the fields and events that the next request depends on; the programs themselves do not run |",
        "",
        "The web app, the Terraform provider and linodego 2 are not available from a package registry. The tables below contain",
        "the requests of the web app, but not those of the Terraform provider and linodego 2.",
        "",
        "An empty cell means that the test of this client does not call the operation, usually because the client does not",
        "support it. Other reasons:",
        "",
        "- **The web app**: the tests replay the requests that it sends at the start, at log-in and log-out, and for its pages",
        "  about VPCs, instances, support, the profile and the account. Its forms for tokens, users and OAuth clients are not",
        "  tested.",
        "- **linodego** has no functions to open, answer and close tickets. The tests send these requests with its client.",
        "- **linode-cli** can log in with a browser only at the public service, because that address is built in. The tests use a",
        "  token.",
        "",
        "The section Other products has the operations of [products that Garth does not have](other-products.md). Operations",
        "that create or change something are always refused, so they have no `+`.",
        *RUN_BY_HAND,
    ]
    for tag in dict.fromkeys(operations[id][1] for id in rows):
        lines += ["", f"## {tag}", "", f"| operation | {' | '.join(clients)} |", f"|---|{'---|' * len(clients)}"]
        for id, by in rows.items():
            if operations[id][1] == tag:
                marks = " | ".join("+" if client in by else " " for client in clients)
                lines.append(f"| `{operations[id][0]}` | {marks} |")
    lines += ["", "## Operations that a client does not support", ""]
    for (name, id), why in UNSUPPORTED.items():
        lines.append(f"- `{operations[id][0]}`, {name}: {why}.")
    lines += ["", "## Operations that Garth always refuses", ""]
    lines += ["The clients of this table called the operation, and got 400 `not_offered`.", ""]
    lines += ["| operation | clients | reason |", "|---|---|---|"]
    lines += [f"| `{operations[id][0]}` | {', '.join(by)} | {REFUSED[id]} |" for id, by in refused.items()]
    lines += ["", "## Operations that no published client supports", "", "| operation | reason |", "|---|---|"]
    lines += [f"| `{operations[id][0]}` | {why} |" for id, why in unsupported.items() if why not in (DESK, HOSTS, PROVIDER)]
    lines.append(f"| the {list(unsupported.values()).count(DESK)} operations below `/desk` | {DESK} |")
    lines.append(f"| the {list(unsupported.values()).count(HOSTS)} operations below `/hosts` and `/agent` | {HOSTS} |")
    lines.append(f"| the {list(unsupported.values()).count(PROVIDER)} operations below `/provider` | {PROVIDER} |")
    lines += PUBLISHED_TESTS
    lines += ["", f"### {TERRAFORM}", "", "| test | requires | without the firewall |", "|---|---|---|"]
    lines += [f"| `{test}` | a firewall | succeeds |" for test in FIREWALL_ONLY]
    lines += [f"| `{test}` | a firewall; {why} | fails |" for test, why in FIREWALL_AND.items()]
    lines += [f"| `{test}` | {why} | fails |" for test, why in FAILED_WITHOUT_FIREWALL.items()]
    lines += [f"| `{test}` | {why} | creates none |" for test, why in NO_FIREWALLS.items()]
    lines += ["", "### linodego", "", "| test | requires |", "|---|---|"]
    lines += [f"| `{test}` | {why} |" for test, why in LINODEGO.items()]
    return "\n".join(lines) + "\n"
