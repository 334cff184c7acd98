"""Stores with many equal tenants.

Garth creates the first tenant through its commands and its API. The others are copies of its rows with other IDs,
names and tokens, because no command creates accounts in bulk. `garth check` then verifies the whole store.
"""

import hashlib
import json
import shutil
import sqlite3
from collections import namedtuple
from contextlib import closing

from machine import output_of
from servers import start_garth

# A number of this width replaces it in the names of users. The rows of all tenants have the same size.
NUMBER = "000000"
SUMMARY = "Question about a subnet"
DESCRIPTION = "Instances in the second subnet cannot reach the first one. " * 4
ABOUT = "2 users with a token each, 2 VPCs with 2 subnets each, and a ticket with a reply"

# The columns that contain IDs, with the table that the IDs belong to.
REFERENCES = {
    "account": {"id": "account"},
    "app_user": {"id": "app_user", "account": "account"},
    "token": {"id": "token", "app_user": "app_user"},
    "vpc": {"id": "vpc", "account": "account"},
    "subnet": {"id": "subnet", "vpc": "vpc"},
    "free_range": {"subnet": "subnet"},
    "event": {"id": "event", "account": "account", "author": "app_user"},
    "ticket": {"id": "ticket", "account": "account", "opener": "app_user"},
    "reply": {"id": "reply", "ticket": "ticket"},
    "ticket_history": {"id": "ticket_history", "ticket": "ticket", "reply": "reply"},
    "ticket_text": {"ticket": "ticket"},
    "account_revision": {"account": "account"},
    "change_log": {"account": "account"},
}
# The columns whose table depends on the kind in another column.
KIND_COLUMNS = {
    "event": {"entity_id": "entity_kind", "secondary_id": "secondary_kind", "guard_id": "guard_kind"},
    "change_log": {"id": "kind"},
}
TABLES_OF_KINDS = {"user": "app_user"}
TALLIES = """
    INSERT INTO tally (owner, collection, span, bucket, items)
        SELECT account, 'vpc', 256, id / 256, count(*) FROM vpc GROUP BY 1, 4
        UNION ALL SELECT account, 'vpc:' || region, 256, id / 256, count(*) FROM vpc GROUP BY 1, 2, 4
        UNION ALL SELECT vpc, 'vpc_subnet', 256, id / 256, count(*) FROM subnet GROUP BY 1, 4
        UNION ALL SELECT account, 'event', 256, id / 256, count(*) FROM event GROUP BY 1, 4
        UNION ALL SELECT account, 'ticket:open', 256, id / 256, count(*) FROM ticket GROUP BY 1, 4;
    INSERT INTO tally (owner, collection, span, bucket, items)
        SELECT owner, collection, 65536, bucket / 256, sum(items) FROM tally GROUP BY 1, 2, 4;
"""

# A tenant for the load: its token, and the IDs of a VPC and of a ticket.
Tenant = namedtuple("Tenant", "token vpc ticket")


class Template:
    """The rows of the first tenant, and the distance of IDs from one tenant to the next."""

    def __init__(self, database, account):
        self.rows = {}
        for table in REFERENCES:
            cursor = database.execute(f"SELECT * FROM {table}")
            columns = [column[0] for column in cursor.description]
            self.rows[table] = [dict(zip(columns, row)) for row in cursor]
        # The store also has the account of the first start, and a staff user.
        self._restrict("account", "id", {account})
        users = self._restrict("app_user", "account", {account})
        self._restrict("token", "app_user", {row["id"] for row in users})
        for table in ("account_revision", "change_log"):
            self._restrict(table, "account", {account})
        self.strides = {table: len(rows) for table, rows in self.rows.items()}

    def _restrict(self, table, column, values):
        self.rows[table] = [row for row in self.rows[table] if row[column] in values]
        return self.rows[table]

    def copies(self, table, numbers):
        """The rows of a table for the tenants with these numbers."""
        for number in numbers:
            for place, row in enumerate(self.rows[table]):
                row = self._copy(table, row, number)
                if table == "token":
                    text = token(number, place)
                    row |= {"hash": hashlib.sha256(text.encode()).hexdigest(), "prefix": text[:16]}
                yield tuple(row.values())

    def _copy(self, table, row, number):
        row = {name: renamed(value, number) for name, value in row.items()}
        for column, target in REFERENCES[table].items():
            if row[column] is not None:
                row[column] += number * self.strides[target]
        for column, kind in KIND_COLUMNS.get(table, {}).items():
            # An event that only unrestricted users can see has the guard account 0.
            if row[kind] is not None and row[column]:
                row[column] += number * self.strides[TABLES_OF_KINDS.get(row[kind], row[kind])]
        return row


def token(number, place=0):
    return hashlib.sha256(f"token {place} of tenant {number}".encode()).hexdigest()


def renamed(value, number):
    return value.replace(NUMBER, f"{number:0{len(NUMBER)}}") if isinstance(value, str) else value


def create_template(programs, folder):
    """Creates a store with one tenant and a staff user. Returns the ID of the account and the token of the staff."""

    def command(*arguments):
        return output_of([programs.garth, "--data", folder, *arguments]).strip()

    owner, email = f"owner-{NUMBER}", ["--email", f"owner-{NUMBER}@example.com"]
    with start_garth(programs, folder) as server:
        # The staff user comes first, so that its IDs are below those of all tenants.
        command("user", "create", "--staff", "--username", "agent", "--email", "agent@example.com")
        staff = command("token", "create", "--user", "agent")
        created = json.loads(command("account", "create", "--company", f"Company {NUMBER}", *email, "--json"))
        account = str(created["id"])
        command("user", "create", "--account", account, "--username", owner, *email)
        server.token = command("token", "create", "--user", owner)
        member = {"username": f"member-{NUMBER}", "email": f"member-{NUMBER}@example.com", "restricted": True}
        server.post("/v4/account/users", member)
        command("token", "create", "--user", member["username"])
        for label in ("front", "back"):
            subnets = [{"label": f"subnet-{n}", "ipv4": f"10.0.{n}.0/24"} for n in range(2)]
            server.post("/v4/vpcs", {"label": label, "region": "us-ord", "subnets": subnets})
        ticket = json.loads(server.post("/v4/support/tickets", {"summary": SUMMARY, "description": DESCRIPTION}))
        server.post(f"/v4/support/tickets/{ticket['id']}/replies", {"description": DESCRIPTION})
    return int(account), staff


def create_store(programs, template_folder, folder, account, count):
    """Creates a store with this number of tenants, and checks it."""
    shutil.copytree(template_folder, folder, ignore=shutil.ignore_patterns("wake.sock"))
    with closing(sqlite3.connect(folder / "garth.db")) as database:
        database.execute("PRAGMA synchronous = OFF")
        template = Template(database, account)
        database.executemany("DELETE FROM token WHERE id = ?", [(row["id"],) for row in template.rows["token"]])
        for table, rows in template.rows.items():
            marks = ", ".join("?" * len(rows[0]))
            numbers = range(0 if table == "token" else 1, count)
            columns = ", ".join(rows[0])
            statement = f"INSERT INTO {table} ({columns}) VALUES ({marks})"
            database.executemany(statement, template.copies(table, numbers))
        database.execute("DELETE FROM tally")
        database.commit()
        database.executescript(TALLIES)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    output_of([programs.garth, "--data", folder, "check"])
    return [
        Tenant(
            token(number),
            template.rows["vpc"][0]["id"] + number * template.strides["vpc"],
            template.rows["ticket"][0]["id"] + number * template.strides["ticket"],
        )
        for number in range(count)
    ]
