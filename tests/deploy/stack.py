"""Runs the nodes and the proxy of compose.yaml as processes on this machine."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from free_port import free_port

BUCKET = "garth"
# The bootstrap token, from the created secrets.
token = ""
START_SECONDS = 60


def run(deploy: pathlib.Path, compose: dict, garth: pathlib.Path, moto: pathlib.Path) -> None:
    global token
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as cleanup:
        folder = pathlib.Path(folder)
        secrets = make_secrets(deploy, folder)
        token = (secrets / "bootstrap-token").read_text()
        endpoint = f"http://127.0.0.1:{free_port()}"
        command = [moto / "bin/moto_server", "-H", "127.0.0.1", "-p", endpoint.rsplit(":", 1)[1]]
        start(cleanup, command, os.environ, folder / "bucket.log")
        wait_until(lambda: send(endpoint, "PUT", f"/{BUCKET}")[0] == 200, "the bucket")
        addresses = {name: f"127.0.0.1:{free_port()}" for name in ("node-1", "node-2", "proxy")}
        nodes = {
            name: start_node(cleanup, compose["services"][name], garth, folder, secrets, endpoint, addresses, name)
            for name in ("node-1", "node-2")
        }
        for name in nodes:
            wait_until(lambda: send(f"http://{addresses[name]}", "GET", "/readyz")[0] == 200, name)
        start_proxy(cleanup, deploy / "haproxy.cfg", addresses, folder)
        proxy = f"http://{addresses['proxy']}"
        wait_until(lambda: send(proxy, "GET", "/readyz")[0] == 200, "the proxy")
        check_nodes(proxy, [f"http://{addresses[name]}" for name in nodes])
        for name in nodes:
            log = (folder / f"{name}.log").read_text()
            assert token not in log, f"the token is in the log of {name}"
        for name, process in nodes.items():
            check_shutdown(proxy, addresses, name, process)
            break


def check_nodes(proxy: str, nodes: list[str]) -> None:
    """An object that is created through the proxy exists on every node, with its file."""
    vpc = json_of(send(proxy, "POST", "/v4/vpcs", {"label": "core", "region": "us-east"}))
    for node in nodes:
        read = json_of(send(node, "GET", f"/v4/vpcs/{vpc['id']}"))
        assert read == vpc, f"{node} has {read}"
    ticket = json_of(send(proxy, "POST", "/v4/support/tickets", {"summary": "Help", "description": "Please."}))
    path = f"/v4/support/tickets/{ticket['id']}/attachments"
    form = b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"notes.txt\"\r\n\r\nNotes\r\n--x--\r\n"
    json_of(send(proxy, "POST", path, form, "multipart/form-data; boundary=x"))
    for node in nodes:
        file = json_of(send(node, "GET", path))["data"][0]["id"]
        status, body = send(node, "GET", f"{path}/{file}")
        assert (status, body) == (200, b"Notes"), f"{node} has {status} {body}"


def check_shutdown(proxy: str, addresses: dict, name: str, process: subprocess.Popen) -> None:
    """While one node stops, the proxy uses the other node."""
    process.terminate()
    assert process.wait(40) == 0, f"{name} exited with {process.returncode}"
    wait_until(lambda: send(proxy, "GET", "/v4/vpcs")[0] == 200, "the proxy without one node")
    for _ in range(20):
        status, _ = send(proxy, "GET", "/v4/vpcs")
        assert status == 200, f"without {name}, the proxy returns {status}"


def make_secrets(deploy: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    shutil.copy(deploy / "make-secrets", folder)
    subprocess.run([folder / "make-secrets"], check=True, capture_output=True)
    return folder / "secrets"


def start_node(cleanup, service, garth, folder, secrets, endpoint, addresses, name):
    """Starts a service with its command and environment, with addresses of this machine."""
    replacements = {
        "/run/secrets": str(secrets),
        "http://bucket:9000": endpoint,
        "postgres://garth@database:5432/garth": os.environ["GARTH_TEST_DATABASE"],
    }
    environment = {variable: rewrite(value, replacements) for variable, value in service["environment"].items()}
    environment |= {
        "PATH": f"{garth.parent}:{os.environ['PATH']}",
        "GARTH_DATA": str(folder / name),
        "GARTH_LISTEN": addresses[name],
        "GARTH_METRICS_LISTEN": f"127.0.0.1:{free_port()}",
        "GARTH_TRUSTED_PROXIES": "127.0.0.1",
    }
    # The entrypoint of the image.
    command = ["garth", *service["command"]]
    return start(cleanup, command, environment, folder / f"{name}.log")


def start_proxy(cleanup, config: pathlib.Path, addresses: dict, folder: pathlib.Path) -> None:
    environment = os.environ | {
        "GARTH_PROXY_LISTEN": addresses["proxy"],
        "GARTH_NODE_1": addresses["node-1"],
        "GARTH_NODE_2": addresses["node-2"],
    }
    subprocess.run(["haproxy", "-c", "-q", "-f", config], env=environment, check=True)
    # In the foreground, as the container runs it.
    start(cleanup, ["haproxy", "-db", "-f", config], environment, folder / "proxy.log")


def rewrite(text: str, replacements: dict[str, str]) -> str:
    for name, replacement in replacements.items():
        text = text.replace(name, replacement)
    remaining = re.search(r"//(?:[^/@]*@)?(database|bucket|node-\d)\b|/run/secrets", text)
    assert not remaining, f"{text} has no replacement for {remaining[0]}"
    return text


def start(cleanup, command, environment, log: pathlib.Path) -> subprocess.Popen:
    output = cleanup.enter_context(log.open("wb"))
    process = subprocess.Popen(command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def stop():
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(45)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def print_log(kind, *_):
        if kind:
            print(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}")

    cleanup.callback(stop)
    cleanup.push(print_log)
    return process


def wait_until(condition, name: str) -> None:
    end = time.monotonic() + START_SECONDS
    while not condition():
        assert time.monotonic() < end, f"{name} is not ready after {START_SECONDS} seconds"
        time.sleep(0.1)


def json_of(reply: tuple[int, bytes]) -> dict:
    status, body = reply
    assert status == 200, f"{status}: {body.decode(errors='replace')}"
    return json.loads(body)


def send(root: str, method: str, path: str, body=None, kind="application/json") -> tuple[int, bytes]:
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(root + path, data, method=method)
    if data is not None:
        request.add_header("Content-Type", kind)
    request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except OSError:
        return 0, b""
