"""The hook of an agent: a program that is run when a port appears, changes or goes."""

import json
import os
import time

from lab import Instance, shell, wait_for

VPC = 7
PROGRAM = """#!/bin/sh
# Stores the document of each call. The files fail and slow make it fail.
cat > "$0.$$"
{ tr -d '\\n' < "$0.$$"; echo; } >> "$0.attempts"
if [ -e "$0.fail" ]; then echo "starting" >&2; echo "no image" >&2; exit 3; fi
if [ -e "$0.slow" ]; then sleep 600 & echo $! > "$0.child"; wait; fi
{ tr -d '\\n' < "$0.$$"; echo; } >> "$0.done"
"""


class HookedHost:
    """A second agent on host 1, with a hook."""

    def __init__(self, lab):
        self.lab = lab
        self.program = f"{lab.folder}/hook"
        self.ports = [Instance(80, VPC, 0, 1, "10.0.0.80")]
        with open(self.program, "w") as file:
            file.write(PROGRAM)
        os.chmod(self.program, 0o755)
        self.start()

    def state(self):
        before = self.lab.instances
        self.lab.instances = [*before, *self.ports]
        self.lab.revision += 1
        state = self.lab.desired(1)
        self.lab.instances = before
        state["vpcs"] = [vpc for vpc in state["vpcs"] if vpc["id"] == VPC]
        return state

    def start(self):
        options = ["--hook", self.program, "--hook-timeout-seconds", "1", "--resync-seconds", "2"]
        self.agent = self.lab.start_other(1, "netns", self.state(), options)

    def write(self):
        self.lab.write_other(1, self.state())

    def stop(self):
        self.agent.kill()
        self.agent.wait()

    def calls(self, kind="done"):
        """The events and ports of the calls so far."""
        try:
            with open(f"{self.program}.{kind}") as file:
                calls = [json.loads(line) for line in file]
        except FileNotFoundError:
            return []
        return [(call["event"], call["port"]) for call in calls]

    def expect(self, *events):
        """Waits until exactly these events have succeeded."""
        seen = lambda: [(event, port["interface_id"]) for event, port in self.calls()]
        wait_for(lambda: seen() == list(events), f"{events}, but not {seen()}")

    def port(self, number):
        try:
            with open(f"{self.lab.folder}/t1/status.json") as file:
                ports = json.load(file)["ports"]
        except FileNotFoundError:
            return {}
        return next((port for port in ports if port["interface_id"] == number), {})

    def reason(self, number):
        return self.port(number).get("reason") or ""

    def is_up(self, number):
        return self.port(number).get("status") == "up"


def hook(lab):
    """Each change of a port runs the hook once. A failure is the error of the port, and is retried."""
    host = HookedHost(lab)
    try:
        events = [("added", 80)]
        host.expect(*events)
        wait_for(lambda: host.is_up(80), "the port is up after the hook")
        check_document(host.calls()[0][1], host.ports[0])

        host.stop()
        host.start()
        host.ports[0].ranges = ["10.0.0.96/28"]
        host.write()
        events.append(("changed", 80))
        host.expect(*events)
        assert host.calls()[-1][1]["ranges"] == ["10.0.0.96/28"], "the document has the old range"

        shell(f"ip -n t1-vpc-{VPC} link del gi80")
        events.append(("added", 80))
        host.expect(*events)

        failure(host)
        events.append(("added", 81))
        host.expect(*events)
        slow(host)
        events.append(("added", 82))
        host.expect(*events)

        host.ports = host.ports[1:]
        host.write()
        events.append(("removed", 80))
        host.expect(*events)
        assert host.calls()[-1][1]["mac"] == Instance(80, VPC, 0, 1, "").mac, "the document is that of another port"
        time.sleep(3)
        host.expect(*events)
    finally:
        host.stop()
        shell(" ".join(lab.other(1, "purge", "netns")))


def check_document(document, port):
    expected = {
        "interface_id": port.id,
        "instance_id": port.id,
        "vpc_id": VPC,
        "driver": "netns",
        "namespace": f"t1-vpc-{VPC}",
        "device": f"gi{port.id}",
        "mac": port.mac,
        "mtu": 1450,
        "addresses": [f"{port.address}/24", f"{port.ipv6}/64"],
    }
    wrong = {key: document.get(key) for key in expected if document.get(key) != expected[key]}
    assert not wrong, f"the document has {wrong}"


def failure(host):
    open(f"{host.program}.fail", "w").close()
    host.ports.append(Instance(81, VPC, 0, 1, "10.0.0.81"))
    host.write()
    wait_for(lambda: host.reason(81) == "hook: exit status: 3: no image", f"the reason, but not {host.reason(81)}")
    assert host.is_up(80), "the failure of a port affects another one"
    attempts = lambda: sum(port["interface_id"] == 81 for _, port in host.calls("attempts"))
    wait_for(lambda: attempts() >= 3, "the hook is retried")
    # The third delay is at least two seconds.
    before = attempts()
    time.sleep(1)
    assert attempts() <= before + 1, "the hook is retried without back-off"
    os.remove(f"{host.program}.fail")
    wait_for(lambda: host.is_up(81), "the port is up after a retry")


def slow(host):
    open(f"{host.program}.slow", "w").close()
    host.ports.append(Instance(82, VPC, 0, 1, "10.0.0.82"))
    host.write()
    wait_for(lambda: host.reason(82) == "hook: no end after 1 s", "the time limit is the reason")
    os.remove(f"{host.program}.slow")
    wait_for(lambda: host.is_up(82), "the port is up after a retry")
    with open(f"{host.program}.child") as file:
        child = file.read().strip()
    is_running = lambda: shell(f"grep State: /proc/{child}/status", check=False).strip() not in ("", "State:\tZ (zombie)")
    wait_for(lambda: not is_running(), "the child of the program is ended")
