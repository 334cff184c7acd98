"""The tables in docs/clients.md, generated from the operations that each client called."""

import difflib

METHODS = ("get", "post", "put", "delete")

# The operations of interface §4: every client must have done it, but for what it cannot do.
INTERFACE = (
    "getVpcs createVpc getVpc updateVpc deleteVpc getVpcSubnets createVpcSubnet getVpcSubnet updateVpcSubnet "
    "deleteVpcSubnet getVpcsIps getVpcIps getTickets createTicket getTicket closeTicket getTicketReplies "
    "createTicketReply createTicketAttachment"
).split()

# What a client cannot do of it, by the beginning of the client's name, and why.
CANNOT = {
    ("linode-cli", "createTicketAttachment"): "linode-cli has no command for attachments",
    ("linode-cli 5.50.0", "getVpcsIps"): "linode-cli has a command for it only in later releases",
    ("web app", "getVpcsIps"): "the web app has no page with a list of addresses",
    ("web app", "getVpcIps"): "the web app has no page with a list of addresses",
}

# What no published client can call, and why.
NOBODY = {
    "streamEvents": "Garth's own addition; clients poll `/account/events`",
    "getQuotas": "Garth's own addition",
    "getTicketAttachments": "Garth's own addition; clients show the names in the ticket",
    "getTicketAttachment": "Garth's own addition",
    "getSupportLimits": "Garth's own addition",
    "getAuthorizationServer": "for OAuth libraries; clients of the public service have the endpoints built in",
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
# Products that Garth does not have. A client need not ask for each of them, and is refused where it changes one.
NEIGHBORS = "Neighbors"
DESK = "Garth's own: the desk of the provider; tested by `tests/api/support/desk.rs`"


def hold(document, driven, file, update):
    """Whether what was done is enough, and is what the file says (or is written into it)."""
    operations = {
        details["operationId"]: (f"{method.upper()} {path}", details["tags"][0])
        for path, methods in document["paths"].items()
        for method, details in methods.items()
        if method in METHODS
    }
    nobody = {id: DESK if tag == "Desk" else NOBODY.get(id) for id, (_, tag) in operations.items()}
    nobody = {id: why for id, why in nobody.items() if why}
    wrong = list(complaints(operations, nobody, driven))
    table = drawn(operations, nobody, driven)
    if update:
        file.write_text(table)
    written = file.read_text() if file.exists() else ""
    if table != written:
        wrong.append(f"{file} tells something else; `--update` writes it anew:")
        wrong += difflib.unified_diff(written.splitlines(), table.splitlines(), "written", "done", n=0, lineterm="")
    for line in wrong:
        print(line)
    done = sum(any(id in asked for asked in driven.values()) for id in operations)
    print(f"{done} operations done by clients, {len(nobody)} that none can call, {len(operations)} in all")
    return not wrong


def complaints(operations, nobody, driven):
    for id in operations:
        by = [client for client, asked in driven.items() if id in asked]
        if id in nobody and by:
            yield f"{id} is said to be nobody's, but {by[0]} asked for it"
        if id not in nobody and not by and operations[id][1] != NEIGHBORS:
            yield f"{id} was done by no client"
        for client in driven if id in INTERFACE else ():
            excused = reason(client, id)
            if client not in by and not excused:
                yield f"{id} was not done by {client}"
            if client in by and excused:
                yield f"{id} was done by {client}, of which is said: {excused}"
    for id in [*NOBODY, *INTERFACE]:
        if id not in operations:
            yield f"{id} is no operation"
    for asked in driven.values():
        for id in asked - operations.keys() - {"none"}:
            yield f"{id} is not in the document"


def reason(client, id):
    """Why a client cannot do it, if so."""
    return next((why for (name, what), why in CANNOT.items() if what == id and client.startswith(name)), None)


def drawn(operations, nobody, driven):
    clients = sorted(driven, key=lambda client: (client == "web app", client))
    rows = {id: [client for client in clients if id in driven[client]] for id in operations if id not in nobody}
    lines = [
        "# Tested clients",
        "",
        "`tests/clients` runs published clients of the public service, unchanged, against Garth on the embedded store and on",
        "PostgreSQL, and checks their results. The tables below are generated from the server's log. A `+` means that the client",
        "called the operation successfully. `./check` fails if the tables differ from the test run.",
        "",
        "An empty cell means that the client has no call for the operation, with two exceptions:",
        "",
        "- **The web app** is not available from a package registry. The tests replay with curl the requests that a browser sent",
        "  while the app started, logged in and out, and showed its pages for VPCs and support. Its pages for tokens, users and",
        "  OAuth clients are not tested.",
        "- **linode-cli** can log in with a browser only at the public service, because it has that address built in. The tests",
        "  use a token.",
    ]
    for tag in dict.fromkeys(operations[id][1] for id in rows):
        lines += ["", f"## {tag}", "", f"| operation | {' | '.join(clients)} |", f"|---|{'---|' * len(clients)}"]
        for id, by in rows.items():
            if operations[id][1] == tag:
                marks = " | ".join("+" if client in by else " " for client in clients)
                lines.append(f"| `{operations[id][0]}` | {marks} |")
    lines += ["", "## Operations that a client does not support", ""]
    for (name, id), why in CANNOT.items():
        lines.append(f"- `{operations[id][0]}`, {name}: {why}.")
    lines += ["", "## Operations that no published client supports", "", "| operation | reason |", "|---|---|"]
    lines += [f"| `{operations[id][0]}` | {why} |" for id, why in nobody.items() if why != DESK]
    lines.append(f"| the {list(nobody.values()).count(DESK)} operations below `/desk` | {DESK} |")
    return "\n".join(lines) + "\n"
