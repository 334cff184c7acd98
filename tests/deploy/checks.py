"""Static checks of the files in deploy/. Each function returns a list of errors."""
import ipaddress
import pathlib
import re
import shutil
import subprocess
import tempfile

import yaml

# Programs that the container file may run during the build: only cargo and apt download anything.
BUILD_PROGRAMS = {"cargo", "apt-get", "rm", "useradd", "install"}


def read_compose(file: pathlib.Path) -> dict:
    return yaml.safe_load(file.read_text())


def supported_settings(garth: pathlib.Path) -> tuple[set[str], set[str]]:
    """The variables and options of `garth serve`, from its help."""
    command = [garth, "serve", "--help"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", output))
    return set(re.findall(r"\[env:\s+(GARTH_[A-Z0-9_]+)", output)), options


def check_settings(folder: pathlib.Path, compose: dict, garth: pathlib.Path) -> list[str]:
    variables, options = supported_settings(garth)
    # Variables of the proxy, not of Garth.
    proxy_variables = set(re.findall(r"\$\{(GARTH_[A-Z0-9_]+)-", (folder / "haproxy.cfg").read_text()))
    errors = []
    for file in sorted(folder.iterdir()):
        text = file.read_text() if file.is_file() else ""
        used = set(re.findall(r"\bGARTH_[A-Z0-9_]+", text))
        errors += [f"{file.name}: there is no setting {name}" for name in sorted(used - variables - proxy_variables)]
        for line in re.findall(r"\bgarth serve\b(.*)", text):
            used = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", line))
            errors += [f"{file.name}: garth serve has no option {name}" for name in sorted(used - options)]
    containerfile = (folder / "Containerfile").read_text()
    used = set(re.findall(r'"(--[a-z0-9-]+)"', containerfile.split("CMD [\"serve\"")[-1]))
    errors += [f"Containerfile: garth serve has no option {name}" for name in sorted(used - options)]
    if not any(name.startswith("GARTH_") for name in compose["services"]["node-1"]["environment"]):
        errors.append("compose.yaml: the nodes have no settings")
    return errors


def check_compose(folder: pathlib.Path, compose: dict) -> list[str]:
    errors = []
    for name, service in compose["services"].items():
        report = lambda text: errors.append(f"compose.yaml: {name}: {text}")
        if not re.search(r":[^:/]*\d+\.\d+|:RELEASE\.\d{4}-", service["image"]):
            report(f"the image {service['image']} is not pinned to a version")
        if service.get("restart") == "unless-stopped":
            if "healthcheck" not in service:
                report("it has no health check")
        elif name != "bucket-setup":
            report("it is not restarted")
        for secret in service.get("secrets", []):
            if secret not in compose["secrets"]:
                report(f"there is no secret {secret}")
        for variable, value in service.get("environment", {}).items():
            secret = re.search(r"PASSWORD|SECRET|TOKEN|_KEY", variable)
            if secret and not variable.endswith("_FILE"):
                report(f"{variable} is a secret in the environment")
            if str(value).startswith("/run/secrets/") and value.rsplit("/", 1)[1] not in service["secrets"]:
                report(f"{variable} refers to a secret that the service does not have")
        for file in re.findall(r"/run/secrets/([\w-]+)", str(service.get("command", ""))):
            if file not in service["secrets"]:
                report(f"its command reads the secret {file}, which the service does not have")
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if not (folder / source).exists() if source.startswith(".") else source not in compose["volumes"]:
                report(f"there is no volume {source}")
        for other in service.get("depends_on", {}):
            if other not in compose["services"]:
                report(f"it depends on {other}, which does not exist")
        for port in service.get("ports", []):
            if not port.startswith("127.0.0.1:"):
                report(f"{port} is open to other hosts without TLS")
    errors += [
        f"compose.yaml: the secret {name} is not a file"
        for name, secret in compose["secrets"].items()
        if set(secret) != {"file"}
    ]
    return errors


def check_version(folder: pathlib.Path, compose: dict, garth: pathlib.Path) -> list[str]:
    """The tag of the image is the version of Garth."""
    output = subprocess.run([garth, "--version"], check=True, capture_output=True, text=True).stdout
    version = output.split()[-1]
    names = {f"compose.yaml: {name}": service["image"] for name, service in compose["services"].items()}
    tag = re.search(r"-t (garth:\S+)", (folder / "Containerfile").read_text())
    names["Containerfile"] = tag[1] if tag else "none"
    return [
        f"{location}: the image is {image}, but the version of garth is {version}"
        for location, image in names.items()
        if (image.startswith("garth:") or location == "Containerfile") and image != f"garth:{version}"
    ]


def check_trusted_proxies(compose: dict) -> list[str]:
    """Only the proxy is trusted: Garth uses its forwarded headers, and exempts it from limits per address."""
    inside = compose["networks"]["inside"]["ipam"]["config"][0]
    networks = compose["services"]["proxy"]["networks"]
    if not isinstance(networks, dict):
        return ["compose.yaml: the proxy has no fixed address that the nodes could trust"]
    address = networks["inside"]["ipv4_address"]
    errors = []
    for name in ("node-1", "node-2"):
        trusted = compose["services"][name]["environment"]["GARTH_TRUSTED_PROXIES"]
        if trusted != address:
            errors.append(f"{name} trusts {trusted}, not only the proxy ({address})")
    if ipaddress.ip_address(address) not in ipaddress.ip_network(inside["subnet"]):
        errors.append(f"the proxy's address {address} is not in its network")
    if ipaddress.ip_address(address) in ipaddress.ip_network(inside.get("ip_range", inside["subnet"])):
        errors.append(f"another container may get the proxy's address {address}")
    return [f"compose.yaml: {text}" for text in errors]


def check_containerfile(root: pathlib.Path, compose: dict) -> list[str]:
    file = root / compose["services"]["node-1"]["build"]["dockerfile"]
    steps = [line.split(None, 1) for line in file.read_text().replace("\\\n", " ").splitlines()]
    steps = [step for step in steps if step and not step[0].startswith("#")]
    errors = []
    for word, rest in steps:
        if word == "FROM" and not re.search(r":\d+\.\d+", rest):
            errors.append(f"the image {rest} is not pinned to a version")
        if word == "COPY" and not rest.startswith("--from"):
            errors += [f"there is no {source}" for source in rest.split()[:-1] if not (root / source).exists()]
        if word == "RUN":
            programs = {part.split()[0] for part in rest.split("&&")}
            errors += [f"it runs {program}, which is not allowed" for program in sorted(programs - BUILD_PROGRAMS)]
    words = [word for word, _ in steps]
    users = [rest for word, rest in steps if word == "USER"]
    if not users or users[-1].split(":")[0] in ("0", "root"):
        errors.append("it runs as root")
    errors += [f"there is no {word}" for word in ("HEALTHCHECK", "ENTRYPOINT") if word not in words]
    return [f"Containerfile: {text}" for text in errors]


# Maximum time until a start fails: connecting to unresponsive hosts.
MAX_START_SECONDS = 30
# Maximum exposure of the unit, by the rating of systemd-analyze.
MAX_EXPOSURE = 2.0
# Settings with files that no other user may read.
SECRET_SETTINGS = {
    "GARTH_BOOTSTRAP_TOKEN_FILE",
    "GARTH_DATABASE_PASSWORD_FILE",
    "GARTH_ATTACHMENTS_ACCESS_KEY_FILE",
    "GARTH_ATTACHMENTS_SECRET_KEY_FILE",
    "GARTH_MAIL_PASSWORD_FILE",
    "GARTH_TLS_KEY",
}


def check_unit(file: pathlib.Path, garth: pathlib.Path) -> list[str]:
    text = file.read_text()
    # The lines for secrets are commented out. The unit must also be valid with all of them.
    full = re.sub(r"^#(?=(?:LoadCredential|Environment)=)", "", text, flags=re.MULTILINE)
    errors = check_restarts(full) + check_credentials(full)
    if "ExecReload=/bin/kill -HUP $MAINPID" not in text.splitlines():
        errors.append("it cannot be reloaded")
    errors += [line for unit in (text, full) for line in verify(unit, garth)]
    errors += check_exposure(file)
    return [f"garth.service: {line}" for line in errors]


def check_restarts(unit: str) -> list[str]:
    """The number of failed starts is limited, even if each start is slow."""
    number = lambda name: int(re.search(rf"^{name}=(\d+)$", unit, re.MULTILINE)[1])
    needed = number("StartLimitBurst") * (number("RestartSec") + MAX_START_SECONDS)
    interval = number("StartLimitIntervalSec")
    if interval < needed:
        return [f"the limit on starts may never be reached: {needed} seconds do not fit into {interval}"]
    return []


def check_credentials(unit: str) -> list[str]:
    """Every secret is a systemd credential, because the user of the service cannot read files that belong to root."""
    loaded = dict(re.findall(r"^LoadCredential=([\w.-]+):(\S+)$", unit, re.MULTILINE))
    used = set(re.findall(r"%d/([\w.-]+)", unit))
    errors = [f"{name} is used but not loaded" for name in sorted(used - set(loaded))]
    errors += [f"{name} is loaded but not used" for name in sorted(set(loaded) - used)]
    settings = dict(re.findall(r"^Environment=(GARTH_\w+)=(\S+)$", unit, re.MULTILINE))
    for name in sorted(SECRET_SETTINGS):
        if not settings.get(name, "").startswith("%d/"):
            errors.append(f"{name} is not a credential")
    if "--config %d/" not in unit:
        errors.append("the settings file is not a credential")
    return errors


def verify(unit: str, garth: pathlib.Path) -> list[str]:
    if not shutil.which("systemd-analyze"):
        print("deploy: systemd-analyze is not installed, so garth.service is NOT verified")
        return []
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "garth.service"
        copy.write_text(unit.replace("/usr/local/bin/garth", str(garth)))
        command = ["systemd-analyze", "verify", "--man=no", copy]
        result = subprocess.run(command, capture_output=True, text=True)
    # The command also reports errors in other units of this machine.
    return [line for line in result.stderr.splitlines() if "garth.service" in line]


def check_socket(socket: pathlib.Path, service: pathlib.Path, garth: pathlib.Path) -> list[str]:
    """The socket unit is valid together with the service, and is open to this machine only."""
    text = socket.read_text()
    errors = [
        f"{address} is open to other hosts without TLS"
        for address in re.findall(r"^ListenStream=(.*)$", text, re.MULTILINE)
        if not ipaddress.ip_address(address.rsplit(":", 1)[0].strip("[]")).is_loopback
    ]
    # Garth accepts one socket, and accepts connections itself.
    if text.count("\nListenStream=") != 1 or re.search(r"^Accept=(?!no)", text, re.MULTILINE):
        errors.append("it must have one ListenStream=, without Accept=")
    if shutil.which("systemd-analyze"):
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder) / "garth.service"
            unit.write_text(service.read_text().replace("/usr/local/bin/garth", str(garth)))
            copy = shutil.copy(socket, folder)
            command = ["systemd-analyze", "verify", "--man=no", copy]
            result = subprocess.run(command, capture_output=True, text=True)
        errors += [line for line in result.stderr.splitlines() if "garth.s" in line]
    return [f"garth.socket: {line}" for line in errors]


def check_exposure(unit: pathlib.Path) -> list[str]:
    """The restrictions of the unit, as `systemd-analyze security` rates them: 0 is the best, 10 the worst."""
    if not shutil.which("systemd-analyze"):
        return []
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", unit]
    output = subprocess.run(command, capture_output=True, text=True).stdout
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", output)
    if not found or float(found[1]) > MAX_EXPOSURE:
        return [f"its exposure level is {found[1] if found else 'unknown'}, above {MAX_EXPOSURE}"]
    return []


def check_secrets(script: pathlib.Path, compose: dict) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(script, folder)
        run = lambda: subprocess.run([pathlib.Path(folder) / script.name], check=True, capture_output=True)
        secrets = pathlib.Path(folder) / "secrets"
        run()
        before = {file.name: file.read_text() for file in secrets.iterdir()}
        run()
        after = {file.name: file.read_text() for file in secrets.iterdir()}
        expected = {pathlib.Path(secret["file"]).name for secret in compose["secrets"].values()}
        errors = [f"it does not create {name}" for name in sorted(expected - set(after))]
        if before != after:
            errors.append("a second run changes secrets")
        if secrets.stat().st_mode & 0o077:
            errors.append("other users can access the folder with the secrets")
        if not re.fullmatch(r"[0-9a-f]{64}", after.get("bootstrap-token", "")):
            errors.append("Garth does not accept the bootstrap token")
        # A new key replaces the old one in all files.
        (secrets / "s3-secret-key").unlink()
        run()
        keys = [(secrets / name).read_text() for name in ("s3-access-key", "s3-secret-key")]
        if keys[1] == after["s3-secret-key"] or (secrets / "s3-credentials").read_text().split() != keys:
            errors.append("s3-credentials has old keys after a rotation")
        return [f"make-secrets: {text}" for text in errors]
