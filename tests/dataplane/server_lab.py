"""A server, and hosts whose agents have joined it."""

import http.client
import json
import os
import socket
import ssl
import subprocess
import threading
from dataclasses import dataclass

from lab import Lab, inside, underlay, wait_for

TOKEN = "a1" * 32
PORT = 8080
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}


@dataclass
class Machine:
    """An instance of the API."""

    id: int
    vpc: int
    address: str = None
    ipv6: str = None

    @property
    def namespace(self):
        return f"gi-{self.id}"


class ServerLab(Lab):
    def __init__(self, garth, hosts):
        super().__init__(garth, hosts)
        self.machines = []
        names = {name: value for name, value in os.environ.items() if not name.startswith("GARTH_")}
        self.environment = names | {"GARTH_BOOTSTRAP_TOKEN": TOKEN, "GARTH_DATA": f"{self.folder}/data"}
        self.certificate, self.other_certificate = self.new_certificate("server"), self.new_certificate("other")
        self.tls = ssl.create_default_context(cafile=self.certificate)
        self.start_server()
        for host in self.hosts:
            relay(f"h{host}")

    def new_certificate(self, name):
        """A certificate of the server that no authority has signed, with its key."""
        path = f"{self.folder}/{name}"
        # A certificate that may sign others is not accepted as the certificate of a server.
        extensions = ["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"]
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{path}.key"]
        command = ["openssl", "req", "-x509", *key, "-out", f"{path}.pem", "-days", "2", "-subj", "/CN=garth", *extensions]
        subprocess.run(command, check=True, capture_output=True)
        return f"{path}.pem"

    def start_server(self):
        log = open(f"{self.folder}/server.log", "a")
        tls = ["--tls-cert", self.certificate, "--tls-key", f"{self.folder}/server.key"]
        command = [self.garth, "serve", "--listen", f"127.0.0.1:{PORT}", *tls]
        self.server = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)
        wait_for(self.is_listening, "the server listens")

    def is_listening(self):
        assert self.server.poll() is None, "the server ended"
        try:
            socket.create_connection(("127.0.0.1", PORT), 1).close()
            return True
        except OSError:
            return False

    def remove(self):
        self.kill_server()
        super().remove()

    def kill_server(self):
        self.server.kill()
        self.server.wait()

    def admin(self, *arguments):
        """The output of a command on the store of the server."""
        done = subprocess.run([self.garth, *arguments], env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, f"garth {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def send(self, method, path, body=None):
        connection = http.client.HTTPSConnection("127.0.0.1", PORT, timeout=30, context=self.tls)
        connection.request(method, f"/v4{path}", None if body is None else json.dumps(body), HEADERS)
        reply = connection.getresponse()
        content = json.loads(reply.read())
        assert reply.status == 200, f"{method} {path}: {reply.status} {content}"
        return content

    def host(self, host):
        return json.loads(self.admin("--json", "host", "show", f"rack-{host}"))

    def join_hosts(self):
        for host in self.hosts:
            options = ["--region", "us-east", "--underlay", underlay(host), "--instances", "20"]
            self.join(host, self.admin("host", "add", f"rack-{host}", *options))
            self.start(host)
        wait_for(lambda: all(self.host(host)["status"] == "online" for host in self.hosts), "all hosts are online")

    def join(self, host, token):
        refused = self.try_join(host, token, self.other_certificate)
        assert refused.returncode == 1 and "certificate" in refused.stderr, f"a join with a wrong certificate: {refused}"
        joined = self.try_join(host, token, self.certificate)
        assert joined.returncode == 0, joined.stderr
        mode = os.stat(f"{self.state(host)}/credential.json").st_mode & 0o777
        assert mode == 0o600, f"the credential has mode {mode:o}"

    def try_join(self, host, token, certificate):
        server = ["--server", f"https://127.0.0.1:{PORT}", "--certificate", certificate, "--token", token]
        options = [*server, "--state", self.state(host)]
        command = ["nsenter", f"--net=/run/netns/h{host}", self.garth, "agent", "join", *options]
        return subprocess.run(command, capture_output=True, text=True)

    def boot_instances(self):
        """Two VPCs with the same ranges, each with two subnets and four instances on two hosts."""
        for label in ("one", "two"):
            subnets = [
                {"label": f"net-{number}", "ipv4": f"10.0.{number}.0/24", "ipv6": [{"range": "auto"}]}
                for number in range(2)
            ]
            body = {"label": label, "region": "us-east", "ipv6": [{"range": "/52"}], "subnets": subnets}
            vpc = self.send("POST", "/vpcs", body)
            for subnet in vpc["subnets"]:
                for _ in self.hosts:
                    self.boot_instance(vpc["id"], subnet["id"])
        self.wait_until_running()

    def boot_instance(self, vpc, subnet):
        body = {"type": "g6-nanode-1", "region": "us-east", "booted": True}
        body["interfaces"] = [{"purpose": "vpc", "subnet_id": subnet, "ipv6": {"slaac": [{"range": "auto"}]}}]
        created = self.send("POST", "/linode/instances", body)
        assert created["status"] == "booting", f"a new instance is {created['status']}"
        machine = Machine(created["id"], vpc)
        self.machines.append(machine)
        return machine

    def wait_until_running(self):
        def is_running():
            instances = self.send("GET", "/linode/instances?page_size=500")["data"]
            return all(instance["status"] == "running" for instance in instances)

        wait_for(is_running, "all instances run", 60)
        for machine in self.machines:
            self.read_addresses(machine)
        wait_for(self.is_forwarding, "all bridge ports forward frames")

    def read_addresses(self, machine):
        ipv4 = self.send("GET", f"/vpcs/{machine.vpc}/ips")["data"]
        machine.address = next(row["address"] for row in ipv4 if row["linode_id"] == machine.id)
        ipv6 = self.send("GET", f"/vpcs/{machine.vpc}/ipv6s")["data"]
        rows = [row["ipv6_addresses"] for row in ipv6 if row["linode_id"] == machine.id and row["ipv6_addresses"]]
        machine.ipv6 = rows[0][0]["slaac_address"]

    def places(self):
        """The host of each instance, from the desired states of the agents."""
        found = {}
        for host in self.hosts:
            with open(f"{self.state(host)}/desired.json") as file:
                state = json.load(file)
            for vpc in state["vpcs"]:
                found |= {port["instance_id"]: host for port in vpc["ports"]}
        return found

    def is_forwarding(self):
        self.instances = []
        places = self.places()
        for machine in self.machines:
            place = Place(machine, places.get(machine.id))
            if place.host is None:
                return False
            self.instances.append(place)
        try:
            return super().is_forwarding()
        except RuntimeError:
            return False

    def check_store(self):
        self.admin("check")


class Place:
    """An instance on a host, as `Lab` reads it."""

    def __init__(self, machine, host):
        self.vpc, self.host, self.namespace = machine.vpc, host, machine.namespace


def relay(namespace):
    """Passes connections to a loopback address of a namespace to the server, which is in another namespace."""

    def listen():
        return socket.create_server(("127.0.0.1", PORT))

    listener = inside(namespace, listen)

    def accept():
        while True:
            client, _ = listener.accept()
            threading.Thread(target=connect, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def connect(client):
    try:
        server = socket.create_connection(("127.0.0.1", PORT))
    except OSError:
        client.close()
        return
    for source, target in ((client, server), (server, client)):
        threading.Thread(target=copy, args=(source, target), daemon=True).start()


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for sock in (source, target):
        try:
            sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
