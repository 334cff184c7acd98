"""Random operations on a lab and on the model, and the comparison of both."""

import socket
import time

from lab import inside, shell, wait_for
from reachability_model import Model, ModelHost, ModelInstance

PORT = 7100
CAPACITY = 20
MAX_INSTANCES = 8
FAMILIES = ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::"))


class Walk:
    def __init__(self, lab, random):
        self.lab, self.random = lab, random
        self.model = Model({host: ModelHost(CAPACITY) for host in lab.hosts})
        self.subnets, self.done, self.checks = [], [], 0

    def begin(self):
        for label in ("one", "two"):
            subnets = [
                {"label": f"net-{number}", "ipv4": f"10.0.{number}.0/24", "ipv6": [{"range": "auto"}]}
                for number in range(2)
            ]
            body = {"label": label, "region": "us-east", "ipv6": [{"range": "/52"}], "subnets": subnets}
            vpc = self.lab.send("POST", "/vpcs", body)
            self.subnets += [(vpc["id"], subnet["id"]) for subnet in vpc["subnets"]]
        for vpc, subnet in self.subnets:
            self.create_in(vpc, subnet)
        self.compare("the first instances")

    def step(self):
        operations = [
            *[self.create, self.boot, self.stop, self.reboot] * 2,
            *[self.delete, self.restart_agent, self.restart_server, self.disconnect, self.connect, self.revoke, self.drain],
        ]
        operation = self.random.choice(operations)
        description = operation()
        if description is None:
            return self.step()
        self.done.append(description)
        print(f"{len(self.done):4} {description}", flush=True)
        self.compare(description)

    def choose(self, condition):
        """An instance that meets a condition."""
        found = sorted(id for id, instance in self.model.instances.items() if condition(instance))
        return self.random.choice(found) if found else None

    def create(self):
        if len(self.model.instances) >= MAX_INSTANCES:
            return None
        vpc, subnet = self.random.choice(self.subnets)
        return f"create instance {self.create_in(vpc, subnet)} in VPC {vpc}"

    def create_in(self, vpc, subnet):
        machine = self.lab.boot_instance(vpc, subnet)
        self.lab.read_addresses(machine)
        self.model.instances[machine.id] = ModelInstance(machine.id, vpc, machine.address, machine.ipv6)
        self.model.boot(machine.id)
        return machine.id

    def power(self, action, id):
        self.lab.send("POST", f"/linode/instances/{id}/{action}")
        return f"{action} instance {id}"

    def boot(self):
        id = self.choose(lambda instance: not instance.is_running)
        if id is None:
            return None
        self.model.boot(id)
        return self.power("boot", id)

    def stop(self):
        id = self.choose(lambda instance: instance.is_running)
        if id is None or len(self.model.running()) < 4:
            return None
        self.model.stop(id)
        return self.power("shutdown", id)

    def reboot(self):
        id = self.choose(lambda instance: instance.is_running)
        return None if id is None else self.power("reboot", id)

    def delete(self):
        id = self.choose(lambda instance: True)
        if len(self.model.instances) < 4:
            return None
        self.lab.send("DELETE", f"/linode/instances/{id}")
        del self.model.instances[id]
        return f"delete instance {id}"

    def restart_agent(self):
        """An agent is killed, the state changes, and the agent starts again."""
        host = self.random.choice(self.lab.hosts)
        self.lab.kill(host)
        changes = [change() for change in self.random.sample([self.create, self.stop, self.boot], 2)]
        self.lab.start(host)
        return f"restart the agent of host {host} after: {', '.join(filter(None, changes)) or 'nothing'}"

    def restart_server(self):
        """The network works while the server is down."""
        self.lab.kill_server()
        host = self.random.choice(self.lab.hosts)
        self.lab.kill(host)
        self.lab.start(host)
        self.compare("the server is down", has_server=False)
        self.lab.start_server()
        return f"restart the server, and meanwhile the agent of host {host}"

    def disconnect(self):
        host = self.random.choice(self.lab.hosts)
        if not all(host.is_connected for host in self.model.hosts.values()):
            return None
        shell(f"ip -n fabric link set p{host} down")
        self.model.hosts[host].is_connected = False
        return f"disconnect host {host}"

    def connect(self):
        for number, host in self.model.hosts.items():
            if not host.is_connected:
                shell(f"ip -n fabric link set p{number} up")
                host.is_connected = True
                return f"connect host {number}"
        return None

    def revoke(self):
        """Other hosts accept nothing of a host without a credential, until it joins again."""
        host = self.random.choice(self.lab.hosts)
        token = self.lab.admin("host", "join-token", f"rack-{host}", "--revoke")
        self.model.hosts[host].is_trusted = False
        self.compare(f"host {host} has no credential")
        self.lab.kill(host)
        self.lab.join(host, token)
        self.lab.start(host)
        self.model.hosts[host].is_trusted = True
        return f"revoke the credential of host {host}, and join again"

    def drain(self):
        host = self.random.choice(self.lab.hosts)
        self.lab.admin("host", "drain", f"rack-{host}")
        self.lab.admin("host", "undrain", f"rack-{host}")
        self.model.drain(host)
        return f"drain host {host}"

    def compare(self, description, has_server=True):
        """Waits until the placements and the datagrams equal the model, twice in a row."""
        expected_places = {instance.id: instance.host for instance in self.model.running()}
        differences = ["nothing was compared"]

        def is_equal():
            nonlocal differences
            places = self.lab.places()
            if places != expected_places:
                differences = [f"placements {places}, expected {expected_places}"]
                return False
            if has_server and not self.is_running():
                differences = ["an instance that must run is not running, or the reverse"]
                return False
            differences = self.differences()
            return not differences

        try:
            wait_for(is_equal, f"the model after: {description}", 60)
            wait_for(is_equal, f"the model some time after: {description}", 5)
        except AssertionError as error:
            raise AssertionError(f"{error}\n" + "\n".join(differences)) from None

    def is_running(self):
        instances = self.lab.send("GET", "/linode/instances?page_size=500")["data"]
        statuses = {instance["id"]: instance["status"] for instance in instances}
        expected = {id: "running" if each.is_running else "offline" for id, each in self.model.instances.items()}
        return statuses == expected

    def differences(self):
        """Sends a datagram from each running instance to each address, and compares the receivers with the model."""
        running = self.model.running()
        sockets = {}
        try:
            for instance in running:
                for family, address in FAMILIES:
                    sockets[instance.id, family] = open_socket(f"gi-{instance.id}", family, address)
        except OSError as error:
            return [f"a socket cannot be opened: {error}"]
        try:
            return self.exchange(running, sockets)
        finally:
            for each in sockets.values():
                each.close()

    def exchange(self, running, sockets):
        expected, arrived = {}, {}
        for sender in running:
            for target in running:
                for family, address in ((socket.AF_INET, target.address), (socket.AF_INET6, target.ipv6)):
                    key = f"{sender.id} {address}"
                    expected[key] = self.model.receivers(sender, address)
                    arrived[key] = set()
                    try:
                        sockets[sender.id, family].sendto(key.encode(), (address, PORT))
                    except OSError:
                        pass
        time.sleep(0.3)
        for (id, _), each in sockets.items():
            while True:
                try:
                    arrived[each.recv(100).decode()].add(id)
                except BlockingIOError:
                    break
        self.checks += len(expected)
        return [
            f"from {key}: received by {sorted(arrived[key])}, expected {sorted(expected[key])}"
            for key in expected
            if arrived[key] != expected[key]
        ]


def open_socket(namespace, family, address):
    def bind():
        found = socket.socket(family, socket.SOCK_DGRAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((address, PORT))
        found.setblocking(False)
        return found

    return inside(namespace, bind)
