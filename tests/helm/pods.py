"""Checks the pod of the chart, and runs its server as a process on this machine."""
import os
import pathlib
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from free_port import free_port

START_SECONDS = 30
SECRET = re.compile(r"PASSWORD|SECRET|TOKEN|_KEY")


def check(objects: list[dict], garth: pathlib.Path) -> list[str]:
    workload = next(item for item in objects if item["kind"] in ("Deployment", "StatefulSet"))
    pod = workload["spec"]["template"]["spec"]
    container = pod["containers"][0]
    errors = check_security(pod, container) + check_volumes(workload, pod, container)
    variables = {variable["name"]: variable["value"] for variable in container["env"]}
    errors += check_variables(variables, container, garth)
    # The other store needs a database.
    if workload["kind"] == "StatefulSet" and not errors:
        settings = next(item for item in objects if item["kind"] == "ConfigMap")["data"]["garth.toml"]
        errors += run_server(garth, container, variables, settings)
    return errors


def check_security(pod: dict, container: dict) -> list[str]:
    context, own = pod["securityContext"], container["securityContext"]
    conditions = {
        "it may run as root": context["runAsNonRoot"] and context["runAsUser"] > 0,
        "it has no seccomp profile": context["seccompProfile"]["type"] == "RuntimeDefault",
        "it can gain privileges": own["allowPrivilegeEscalation"] is False,
        "its files are writable": own["readOnlyRootFilesystem"],
        "it has capabilities": own["capabilities"] == {"drop": ["ALL"]},
        "it can use the API of Kubernetes": pod["automountServiceAccountToken"] is False,
    }
    return [text for text, is_met in conditions.items() if not is_met]


def check_volumes(workload: dict, pod: dict, container: dict) -> list[str]:
    claims = [claim["metadata"]["name"] for claim in workload["spec"].get("volumeClaimTemplates", [])]
    volumes = {volume["name"] for volume in pod["volumes"]} | set(claims)
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    return [f"the volume {name} is not mounted, or does not exist" for name in sorted(volumes ^ mounted)]


def check_variables(variables: dict[str, str], container: dict, garth: pathlib.Path) -> list[str]:
    """Every variable is a setting, secrets are files, and files are in a mounted folder."""
    output = subprocess.run([garth, "serve", "--help"], check=True, capture_output=True, text=True).stdout
    known = set(re.findall(r"\[env:\s+(GARTH_[A-Z0-9_]+)", output))
    folders = tuple(mount["mountPath"] for mount in container["volumeMounts"])
    errors = []
    for name, value in variables.items():
        if name.startswith("GARTH_") and name not in known:
            errors.append(f"there is no setting {name}")
        if SECRET.search(name) and not name.endswith("_FILE"):
            errors.append(f"{name} is a secret in the environment")
        if value.startswith("/") and not value.startswith(folders):
            errors.append(f"{name} is {value}, which is not on a volume")
    return errors


def run_server(garth: pathlib.Path, container: dict, variables: dict[str, str], settings: str) -> list[str]:
    """Runs the container's command with other ports and folders, and sends the requests of the probes."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "garth.toml"
        file.write_text(settings)
        ports = {port["name"]: free_port() for port in container["ports"]}
        variables = dict(variables)
        for name, port in (("GARTH_LISTEN", "http"), ("GARTH_METRICS_LISTEN", "metrics")):
            declared = next(item["containerPort"] for item in container["ports"] if item["name"] == port)
            if variables[name] != f"0.0.0.0:{declared}":
                return [f"{name} is not the port {port} of the container"]
            variables[name] = f"127.0.0.1:{ports[port]}"
        variables["GARTH_DATA"] = f"{folder}/data"
        command = [garth, *(argument.replace("/etc/garth/garth.toml", str(file)) for argument in container["args"])]
        with (pathlib.Path(folder) / "log").open("w+") as log:
            environment = {"PATH": os.environ["PATH"]} | variables
            server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            try:
                return send_probes(container, ports, server)
            finally:
                server.terminate()
                server.wait()


def send_probes(container: dict, ports: dict[str, int], server: subprocess.Popen) -> list[str]:
    errors = []
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        probe = container[name]["httpGet"]
        url = f"http://127.0.0.1:{ports[probe['port']]}{probe['path']}"
        deadline = time.monotonic() + START_SECONDS
        while (status := status_of(url)) != 200:
            if server.poll() is not None or status == 404 or time.monotonic() > deadline:
                return [*errors, f"{name}: {probe['path']} returns {status}"]
            time.sleep(0.1)
    return errors


def status_of(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0
