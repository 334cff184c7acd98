"""The tables in docs/clients.md, generated from the operations that each client called."""

import difflib

# Clients that are in no registry. Sequences of requests stand for them.
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
    "assignIps": "not offered; clients get 400 `not_offered`",
    "shareIps": "not offered; clients get 400 `not_offered`",
    "streamEvents": "Garth's own addition; clients poll `/account/events`",
    "getQuotas": "Garth's own addition",
    "getTicketAttachments": "Garth's own addition; clients show the names in the ticket",
    "getTicketAttachment": "Garth's own addition",
    "getSupportLimits": "Garth's own addition",
    "getAuthorizationServer": "for OAuth libraries; clients of the public service have the endpoints built in",
    "getForgotPasswordPage": "a page for people; the web app links to it",
    "getPasswordPage": "a page for people; `tests/browser` uses it",
    "setPassword": "a page for people; `tests/browser` uses it",
    "getOauthStyle": "the stylesheet of these pages",
    "getService": "for discovery with curl; clients have the paths built in",
    "getHealth": "for operators of the server",
    "getReadiness": "for operators of the server",
    "getOpenapi": "the description of this server",
    "getDocs": "the description of this server",
    "getDocsStyle": "the description of this server",
    "getIcon": "the description of this server",
}
# Products that Garth does not have. Clients are not required to call them, and changes are refused.
NEIGHBORS = "Neighbors"
DESK = "Garth's own: the desk of the provider; tested by `tests/api/support`"


def check(document, operations_by_client, file, update):
    """Whether the clients called all supported operations, and the file is up to date. `update` writes the file."""
    operations = {
        details["operationId"]: (f"{method.upper()} {path}", details["tags"][0])
        for path, methods in document["paths"].items()
        for method, details in methods.items()
        if method in METHODS
    }
    unsupported = {id: DESK if tag == "Desk" else UNSUPPORTED_BY_ALL.get(id) for id, (_, tag) in operations.items()}
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
        if id not in unsupported and not by and operations[id][1] != NEIGHBORS:
            yield f"no client called {id}"
        for client in operations_by_client.keys() - SEQUENCES if id in INTERFACE else ():
            unsupported_reason = reason(client, id)
            if client not in by and not unsupported_reason:
                yield f"{client} did not call {id}"
            if client in by and unsupported_reason:
                yield f"{client} called {id}, but: {unsupported_reason}"
    for id in [*UNSUPPORTED_BY_ALL, *INTERFACE]:
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
        "The last three are not available from a package registry. Their sequences are in no table, except for the web app.",
        "",
        "Run by hand, on 2026-11-16, and not by `./check`: acceptance tests of the Terraform provider (commit 6aef35f5) for VPCs,",
        "subnets, instances, disks, configs, addresses, reverse DNS, SSH keys, tokens, users, regions, types and kernels, with",
        "Terraform 1.11. 71 passed. Five failed: two create a firewall and a NodeBalancer, two a reserved address, and one",
        "requires metrics of a region. Tests with IPv6, resizing, rescue mode, volumes and connections to the instance were not",
        "run. Some ran on a build shortly before this version. Two changes were needed:",
        "",
        "- Most tests of instances and addresses create a firewall, which Garth refuses. It was removed from their templates.",
        "- Tests require regions with the capability Disk Encryption, and addresses with a default name: the settings",
        "  `region_capabilities` and `compute.rdns_domain`.",
        "",
        "An empty cell means that the client has no call for the operation, with three exceptions:",
        "",
        "- **The web app**: the tests replay the requests with which it starts, logs in and out, and shows its pages for VPCs,",
        "  instances, support, the profile and the account. Its forms for tokens, users and OAuth clients are not tested.",
        "- **linodego** has no functions to open, answer and close tickets. The tests send these requests with its client.",
        "- **linode-cli** can log in with a browser only at the public service, because it has that address built in. The tests",
        "  use a token.",
        "",
        "The section Neighbors has the operations of [products that Garth does not have](neighbors.md). Those that create or",
        "change something are always refused, so they have no `+`.",
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
    lines += ["", "## Operations that no published client supports", "", "| operation | reason |", "|---|---|"]
    lines += [f"| `{operations[id][0]}` | {why} |" for id, why in unsupported.items() if why != DESK]
    lines.append(f"| the {list(unsupported.values()).count(DESK)} operations below `/desk` | {DESK} |")
    return "\n".join(lines) + "\n"
