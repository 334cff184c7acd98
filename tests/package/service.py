"""The service garth of a machine, as an operator sees it: systemctl, the journal, and requests with curl."""
import json
import re

from machine import Machine, wait_until

READY_SECONDS = 60
UNIT = "/lib/systemd/system/garth.service"
SETTINGS = "/etc/garth/garth.toml"
DATA = "/var/lib/garth"


class Service:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.token = ""

    def show(self, name: str) -> str:
        return self.machine.run("systemctl", "show", "--value", "--property", name, "garth").strip()

    def wait_until_ready(self, url: str = "http://127.0.0.1:8080", *options: str) -> None:
        command = ["curl", "--fail", "--silent", "--output", "/dev/null", *options, f"{url}/readyz"]
        try:
            wait_until(lambda: self.machine.call(*command).returncode == 0, READY_SECONDS, "the server is not ready")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.log()}") from None

    def log(self) -> str:
        return self.machine.run("journalctl", "--unit", "garth", "--no-pager", "--output", "cat")

    def status(self) -> dict[str, str]:
        """The user and the restrictions of the process, among others."""
        text = self.machine.run("cat", f"/proc/{self.show('MainPID')}/status")
        return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)

    def command(self, *arguments: str) -> str:
        """A command of Garth, as README.Debian describes it."""
        return self.machine.run("runuser", "-u", "garth", "--", "garth", "--data", DATA, *arguments)

    def create_token(self) -> None:
        self.token = self.command("token", "create", "--user", "admin").split()[-1]
        assert re.fullmatch(r"[0-9a-f]{64}", self.token), "the token has another format"

    def send(self, path: str, *options: str, url: str = "http://127.0.0.1:8080") -> dict:
        header = f"Authorization: Bearer {self.token}"
        return json.loads(self.machine.run("curl", "--fail-with-body", "-sS", "-H", header, *options, f"{url}/v4{path}"))

    def post(self, path: str, body: dict) -> dict:
        return self.send(path, "-H", "Content-Type: application/json", "-d", json.dumps(body))

    def set(self, name: str, value: str) -> None:
        """Removes the # in front of a setting, and changes its value."""
        file = self.machine.path(SETTINGS)
        text, count = re.subn(rf"^#?{name} = .*$", f"{name} = {value}", file.read_text(), flags=re.MULTILINE)
        assert count == 1, f"{SETTINGS} has {count} lines with {name}"
        file.write_text(text)
