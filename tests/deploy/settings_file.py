"""Checks deploy/garth.toml: every setting of the binary is in it, with its default, and a server accepts all of them."""
import os
import pathlib
import re
import subprocess
import tempfile
import tomllib

from free_port import free_port
from stack import send, wait_until

# Another name of log_format.
ALIASES = {"log.format"}
# The settings whose variables do not follow from their names.
VARIABLES = {"log.level": "GARTH_LOG"}
# Settings that name files or services that do not exist here.
EXTERNAL = re.compile(r"^(data|database\w*|archive|tls_\w+|bootstrap_token_file|password_file|from|(?:smtp_)?url|\w+_key_file|(?:metrics_|lmtp_)?listen) = ")
# Defaults in the help that are values: numbers, addresses, ranges and some words. The others are descriptions.
VALUE = re.compile(r"[\d.:/,]+|true|false|never|text|info|full|hashed|both|Support")


def check_settings_file(root: pathlib.Path, garth: pathlib.Path) -> list[str]:
    text = (root / "deploy/garth.toml").read_text()
    known = settings_of(root / "src/cli") - ALIASES
    try:
        full = without_comments(text)
        values = flatten(tomllib.loads(full), known)
    except tomllib.TOMLDecodeError as error:
        return [f"garth.toml: with all settings it is not valid TOML: {error}"]
    if tomllib.loads(text) != {name: {} for name in tomllib.loads(text)}:
        return ["garth.toml: a setting is not commented out"]
    errors = [f"{name} is missing" for name in sorted(known - set(values))]
    errors += [f"there is no setting {name}" for name in sorted(set(values) - known)]
    errors += check_defaults(values, garth)
    usable = "\n".join(line for line in full.splitlines() if not EXTERNAL.match(line))
    for content in (text, usable):
        errors += start(garth, content)
    return [f"garth.toml: {line}" for line in errors]


def without_comments(text: str) -> str:
    """The file with all settings. A comment has a space after #."""
    return re.sub(r"^#(?=[\[a-z])", "", text, flags=re.MULTILINE)


def flatten(table: dict, known: set[str], prefix: str = "") -> dict[str, object]:
    """The settings of a table and of the tables in it. A known setting can itself be a table."""
    values: dict[str, object] = {}
    for name, value in table.items():
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, dict) and f"{prefix}{name}" not in known:
            values |= flatten(first, known, f"{prefix}{name}.")
        else:
            values[f"{prefix}{name}"] = value
    return values


def settings_of(folder: pathlib.Path) -> set[str]:
    """The settings that the parser knows: the fields of `Settings` and of the structs in it."""
    files = [folder / "settings.rs", folder / "logging.rs", *(folder / "settings").iterdir()]
    structs = {
        name: re.findall(r"^    pub (\w+): (.+),$", body, re.MULTILINE)
        for file in files
        for name, body in re.findall(r"^pub struct (\w+) \{\n(.*?)^\}", file.read_text(), re.MULTILINE | re.DOTALL)
    }

    def names(struct: str, prefix: str) -> set[str]:
        found = set()
        for field, kind in structs[struct]:
            inner = re.sub(r"^(?:(?:Option|Vec)<)*|>+$", "", kind)
            found |= names(inner, f"{prefix}{field}.") if inner in structs else {f"{prefix}{field}"}
        return found

    return names("Settings", "")


def check_defaults(values: dict[str, object], garth: pathlib.Path) -> list[str]:
    """Each value is the default in `garth serve --help`, if that is a value and not a description."""
    output = subprocess.run([garth, "serve", "--help"], check=True, capture_output=True, text=True).stdout
    output = " ".join(output.split())
    errors, compared = [], 0
    for name, value in values.items():
        variable = VARIABLES.get(name, "GARTH_" + name.upper().replace(".", "_"))
        found = re.search(rf"\[default: ([^\]]*)\] \[env: {variable}[=\]]", output)
        if not found:
            continue
        default = re.split(r"; upstream|, [\d a-z]", found[1])[0]
        shown = shown_value(value)
        if default == shown:
            compared += 1
        elif VALUE.fullmatch(default):
            errors.append(f"{name} is {shown}, but its default is {default}")
    return errors if compared >= 20 else [*errors, f"only {compared} defaults were found in the help"]


def shown_value(value: object) -> str:
    """A value in the format of the help."""
    if isinstance(value, list):
        return ",".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def start(garth: pathlib.Path, content: str) -> list[str]:
    """Starts a server with this settings file."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "garth.toml"
        file.write_text(content)
        address = f"127.0.0.1:{free_port()}"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GARTH_")}
        command = [garth, "--config", file, "--data", pathlib.Path(folder) / "data", "serve", "--listen", address]
        log = pathlib.Path(folder) / "log"
        with log.open("w") as output:
            server = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            ready = lambda: server.poll() is not None or send(f"http://{address}", "GET", "/readyz")[0] == 200
            wait_until(ready, "the server with garth.toml")
            return [f"the server does not start: {log.read_text().strip()}"] if server.poll() is not None else []
        finally:
            server.terminate()
            server.wait()
