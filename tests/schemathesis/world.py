"""What there is to ask about: an account with one of everything, another account, and staff."""

import json

import requests


class World:
    """`kept` are the ids of what is there from the beginning, by the name they have in paths."""

    def __init__(self, garth):
        self.garth = garth
        self.document = requests.get(f"{garth.root}/openapi.json", timeout=60).json()
        self.tokens = {}
        account = self.account("ada")
        self.account("eve")
        self.tokens["grace"] = garth.staff("grace")
        self.kept = self.fill(account)

    def account(self, user):
        """A new account with one user; its id."""
        email = f"{user}@example.com"
        account = json.loads(self.garth.command("account", "create", "--email", email, "--json"))["id"]
        self.garth.command("user", "create", "--account", str(account), "--username", user, "--email", email)
        self.tokens[user] = self.garth.command("token", "create", "--user", user)
        return account

    def fill(self, account):
        subnets = [{"label": "kept", "ipv4": "10.0.0.0/23"}]
        vpc = self.post("ada", "/vpcs", label="kept", region="us-east", subnets=subnets)
        subnet = vpc["subnets"][0]["id"]
        on = [{"purpose": "vpc", "subnet_id": subnet}]
        body = {"label": "kept", "type": "g6-nanode-1", "region": "us-east", "interfaces": on}
        instance = self.post("ada", "/compute/instances", **body)["id"]
        config = self.get("ada", f"/compute/instances/{instance}/configs")["data"][0]
        disk = self.post("ada", f"/compute/instances/{instance}/disks", label="kept", size=1000)["id"]
        ticket = self.post("ada", "/support/tickets", summary="Help", description="Please.")["id"]
        self.post("ada", f"/support/tickets/{ticket}/replies", description="Soon?")
        self.ask("ada", "POST", f"/support/tickets/{ticket}/attachments", files={"file": ("notes.txt", b"Notes")})
        self.post("ada", "/account/users", username="clerk", email="clerk@example.com", restricted=True)
        client = self.post("ada", "/account/oauth-clients", label="Kept", redirect_uri="https://app.example/callback")
        # The client of the document's examples.
        example = ["--id", "7c21a9e04d5f38b6120e", "--redirect-uri", "https://app.example.com/oauth/callback"]
        self.garth.command("client", "create", "--label", "Network dashboard", *example)
        canned = self.post("grace", "/desk/canned-replies", label="Kept", description="Thank you.")
        self.post("grace", "/desk/entities", account_id=account, type="domain", id=1, label="example.com")
        self.post("grace", f"/desk/tickets/{ticket}/notes", description="Known.")
        return {
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
            # Those that the run itself goes on with.
            "tokenId": [token["id"] for token in self.get("ada", "/profile/tokens")["data"]],
        }

    def still_works(self):
        """Fails if a token that was asked with has ended: then nothing was tested from there on."""
        self.get("ada", "/profile")
        self.get("eve", "/profile")
        self.get("grace", "/desk/tickets")

    def get(self, user, path):
        return self.ask(user, "GET", path)

    def post(self, user, path, **body):
        return self.ask(user, "POST", path, json=body)

    def ask(self, user, method, path, **kind):
        headers = {"Authorization": f"Bearer {self.tokens[user]}"}
        answer = requests.request(method, f"{self.garth.root}/v4{path}", headers=headers, timeout=60, **kind)
        assert answer.status_code == 200, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()
