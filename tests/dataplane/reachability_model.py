"""An independent model of placement and reachability. It knows neither the code of the server nor that of the agent."""

from dataclasses import dataclass, field


@dataclass
class ModelHost:
    capacity: int
    is_connected: bool = True
    is_trusted: bool = True
    is_draining: bool = False


@dataclass
class ModelInstance:
    id: int
    vpc: int
    address: str
    ipv6: str
    host: int = None

    @property
    def is_running(self):
        return self.host is not None


@dataclass
class Model:
    hosts: dict = field(default_factory=dict)
    instances: dict = field(default_factory=dict)

    def free(self, host):
        return self.hosts[host].capacity - sum(instance.host == host for instance in self.instances.values())

    def place(self):
        """The host of the next boot: the one with the most free capacity, and the first of several."""
        usable = [number for number, host in self.hosts.items() if not host.is_draining and self.free(number) > 0]
        return max(usable, key=lambda number: (self.free(number), -number))

    def boot(self, id):
        instance = self.instances[id]
        if not instance.is_running:
            instance.host = self.place()

    def stop(self, id):
        self.instances[id].host = None

    def drain(self, host):
        """Moves each instance, in the order of their IDs."""
        self.hosts[host].is_draining = True
        for id in sorted(self.instances):
            if self.instances[id].host == host:
                self.instances[id].host = self.place()
        self.hosts[host].is_draining = False

    def running(self):
        return [instance for instance in self.instances.values() if instance.is_running]

    def reaches(self, sender, target):
        if sender.vpc != target.vpc:
            return False
        pair = (self.hosts[sender.host], self.hosts[target.host])
        return sender.host == target.host or all(host.is_connected and host.is_trusted for host in pair)

    def receivers(self, sender, address):
        """The instances that receive a datagram to this address."""
        return {
            target.id
            for target in self.running()
            if address in (target.address, target.ipv6) and self.reaches(sender, target)
        }
