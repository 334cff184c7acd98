"""The socket unit of the package: restarts and upgrades without refused connections."""
from machine import wait_until
from service import Service

UNIT = "/lib/systemd/system/garth.socket"
RESTARTS = 3
# Prints the exit code of each request, until the file exists. 7: refused.
CLIENT = """
while [ ! -e "$1" ]; do
    curl --silent --output /dev/null --max-time 20 http://127.0.0.1:8080/healthz; echo $?
done
"""


def restart_without_refusals(service: Service, end: str) -> None:
    """The steps of "Restart without refused connections" in operating.md. `end` is a path for a file."""
    machine = service.machine
    state = lambda: machine.call("systemctl", "is-enabled", "garth.socket").stdout.strip()
    assert state() == "disabled", f"the socket is {state()} after the installation"
    machine.run("systemctl", "stop", "garth")
    machine.run("systemctl", "enable", "--quiet", "--now", "garth.socket")
    machine.run("systemctl", "start", "garth")
    service.wait_until_ready()
    client = machine.start("sh", "-c", CLIENT, "sh", end)
    try:
        for _ in range(RESTARTS):
            process = service.show("MainPID")
            machine.run("systemctl", "restart", "garth")
            service.wait_until_ready()
            assert service.show("MainPID") != process, "the service was not restarted"
    finally:
        machine.path(end).touch()
    codes = client.communicate(timeout=60)[0].split()
    machine.path(end).unlink()
    failed = sorted({code for code in codes if code != "0"})
    assert len(codes) > RESTARTS and not failed, f"{len(codes)} requests, with the exit codes {failed} of curl"
    machine.run("systemctl", "disable", "--quiet", "--now", "garth.socket")
    machine.run("systemctl", "restart", "garth")
    wait_until(lambda: state() == "disabled", 10, "the socket is enabled")
    service.wait_until_ready()
