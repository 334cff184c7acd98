"""Test data: an account with one object of each kind, another account, and staff."""

import json

import requests


class Fixtures:
    """`protected` has the IDs of the initial objects, by the names of their path parameters."""

    def __init__(self, garth):
        self.garth = garth
        self.document = requests.get(f"{garth.root}/openapi.json", timeout=60).json()
        self.tokens = {}
        account, other = self.account("ada"), self.account("eve")
        spare = json.loads(garth.command("account", "create", "--email", "spare@example.com", "--json"))["id"]
        self.tokens["grace"] = garth.staff("grace")
        self.protected = self.create_objects(account)
        self.protected |= {"accountId": [account, other, spare], "staffUsername": ["grace"]}
        self.protected |= {"spareAccountId": [spare]}

    def account(self, user):
        """Creates an account with one user and returns its ID."""
        email = f"{user}@example.com"
        account = json.loads(self.garth.command("account", "create", "--email", email, "--json"))["id"]
        self.garth.command("user", "create", "--account", str(account), "--username", user, "--email", email)
        self.tokens[user] = self.garth.command("token", "create", "--user", user)
        return account

    def create_objects(self, account):
        subnets = [{"label": "initial", "ipv4": "10.0.0.0/23"}]
        vpc = self.post("ada", "/vpcs", label="initial", region="us-east", subnets=subnets)
        subnet = vpc["subnets"][0]["id"]
        interfaces = [{"purpose": "vpc", "subnet_id": subnet}]
        body = {"label": "initial", "type": "g6-nanode-1", "region": "us-east", "interfaces": interfaces}
        instance = self.post("ada", "/compute/instances", **body)["id"]
        config = self.get("ada", f"/compute/instances/{instance}/configs")["data"][0]
        disk = self.post("ada", f"/compute/instances/{instance}/disks", label="initial", size=1000)["id"]
        ticket = self.post("ada", "/support/tickets", summary="Help", description="Please.")["id"]
        self.post("ada", f"/support/tickets/{ticket}/replies", description="Soon?")
        self.send("ada", "POST", f"/support/tickets/{ticket}/attachments", files={"file": ("notes.txt", b"Notes")})
        self.post("ada", "/account/users", username="clerk", email="clerk@example.com", restricted=True)
        redirect = "https://app.example/callback"
        client = self.post("ada", "/account/oauth-clients", label="Initial", redirect_uri=redirect)
        # The OAuth client in the examples of the document.
        example = ["--id", "7c21a9e04d5f38b6120e", "--redirect-uri", "https://app.example.com/oauth/callback"]
        self.garth.command("client", "create", "--label", "Network dashboard", *example)
        canned = self.post("grace", "/desk/canned-replies", label="Initial", description="Thank you.")
        saved = self.post("grace", "/desk/views", label="Initial", filters={"status": "new"})
        self.post("grace", "/desk/entities", account_id=account, type="domain", id=1, label="example.com")
        self.post("grace", f"/desk/tickets/{ticket}/notes", description="Known.")
        host = self.post("grace", "/hosts", label="initial", region="us-west", underlay_address="192.0.2.200")
        # The member of staff in the examples of the document.
        self.post("grace", "/provider/staff", username="sam", email="sam@example.com", role="support")
        self.post("grace", "/provider/announcements", title="Maintenance", text="On Sunday.")
        return {
            "hostId": [host["id"]],
            "vpcId": [vpc["id"]],
            "vpcSubnetId": [subnet],
            "computeId": [instance],
            "configId": [config["id"]],
            "diskId": [disk],
            "interfaceId": [config["interfaces"][0]["id"]],
            "ticketId": [ticket],
            "username": ["clerk"],
            "clientId": [client["id"]],
            "cannedReplyId": [canned["id"]],
            "savedViewId": [saved["id"]],
            # The tokens that the run uses.
            "tokenId": [token["id"] for token in self.get("ada", "/profile/tokens")["data"]],
        }

    def check_tokens(self):
        """Fails if a token of the run was revoked: later requests would have tested nothing."""
        self.get("ada", "/profile")
        self.get("eve", "/profile")
        self.get("grace", "/desk/tickets")

    def get(self, user, path):
        return self.send(user, "GET", path)

    def post(self, user, path, **body):
        return self.send(user, "POST", path, json=body)

    def send(self, user, method, path, **options):
        headers = {"Authorization": f"Bearer {self.tokens[user]}"}
        response = requests.request(method, f"{self.garth.root}/v4{path}", headers=headers, timeout=60, **options)
        assert response.status_code == 200, f"{method} {path}: {response.status_code} {response.text}"
        return response.json()
