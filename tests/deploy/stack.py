"""Runs the nodes and the proxy of compose.yaml as processes on this machine."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

BUCKET = "garth"
# The first token, from the secrets that were made.
token = ""
START_SECONDS = 60


def run(deploy: pathlib.Path, compose: dict, garth: pathlib.Path, moto: pathlib.Path) -> None:
    global token
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ending:
        folder = pathlib.Path(folder)
        secrets = make_secrets(deploy, folder)
        token = (secrets / "bootstrap-token").read_text()
        endpoint = f"http://127.0.0.1:{free_port()}"
        words = [moto / "bin/moto_server", "-H", "127.0.0.1", "-p", endpoint.rsplit(":", 1)[1]]
        start(ending, words, os.environ, folder / "bucket.log")
        until(lambda: ask(endpoint, "PUT", f"/{BUCKET}")[0] == 200, "the bucket")
        addresses = {name: f"127.0.0.1:{free_port()}" for name in ("node-1", "node-2", "proxy")}
        nodes = {
            name: start_node(ending, compose["services"][name], garth, folder, secrets, endpoint, addresses, name)
            for name in ("node-1", "node-2")
        }
        for name in nodes:
            until(lambda: ask(f"http://{addresses[name]}", "GET", "/readyz")[0] == 200, name)
        start_proxy(ending, deploy / "haproxy.cfg", addresses, folder)
        proxy = f"http://{addresses['proxy']}"
        until(lambda: ask(proxy, "GET", "/readyz")[0] == 200, "the proxy")
        drive(proxy, [f"http://{addresses[name]}" for name in nodes])
        for name in nodes:
            log = (folder / f"{name}.log").read_text()
            assert token not in log, f"the token is in the log of {name}"
        for name, process in nodes.items():
            stop_one(proxy, addresses, name, process)
            break


def drive(proxy: str, nodes: list[str]) -> None:
    """What is made through the proxy is there on every node, with its file."""
    vpc = made(ask(proxy, "POST", "/v4/vpcs", {"label": "core", "region": "us-east"}))
    for node in nodes:
        read = made(ask(node, "GET", f"/v4/vpcs/{vpc['id']}"))
        assert read == vpc, f"{node} has {read}"
    ticket = made(ask(proxy, "POST", "/v4/support/tickets", {"summary": "Help", "description": "Please."}))
    path = f"/v4/support/tickets/{ticket['id']}/attachments"
    bounds = b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"notes.txt\"\r\n\r\nNotes\r\n--x--\r\n"
    made(ask(proxy, "POST", path, bounds, "multipart/form-data; boundary=x"))
    for node in nodes:
        file = made(ask(node, "GET", path))["data"][0]["id"]
        status, body = ask(node, "GET", f"{path}/{file}")
        assert (status, body) == (200, b"Notes"), f"{node} has {status} {body}"


def stop_one(proxy: str, addresses: dict, name: str, process: subprocess.Popen) -> None:
    """While one node stops, the proxy goes on with the other."""
    process.terminate()
    assert process.wait(40) == 0, f"{name} ended with {process.returncode}"
    until(lambda: ask(proxy, "GET", "/v4/vpcs")[0] == 200, "the proxy without one node")
    for _ in range(20):
        status, _ = ask(proxy, "GET", "/v4/vpcs")
        assert status == 200, f"the proxy without {name} answers {status}"


def make_secrets(deploy: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    shutil.copy(deploy / "make-secrets", folder)
    subprocess.run([folder / "make-secrets"], check=True, capture_output=True)
    return folder / "secrets"


def start_node(ending, service, garth, folder, secrets, endpoint, addresses, name):
    """The service's own command and environment, with addresses on this machine."""
    here = {
        "/run/secrets": str(secrets),
        "http://bucket:9000": endpoint,
        "postgres://garth@database:5432/garth": os.environ["GARTH_TEST_DATABASE"],
    }
    environment = {variable: rewrite(value, here) for variable, value in service["environment"].items()}
    environment |= {
        "PATH": f"{garth.parent}:{os.environ['PATH']}",
        "GARTH_DATA": str(folder / name),
        "GARTH_LISTEN": addresses[name],
        "GARTH_METRICS_LISTEN": f"127.0.0.1:{free_port()}",
        "GARTH_TRUSTED_PROXIES": "127.0.0.1",
    }
    # The image's own entrypoint.
    command = ["garth", *service["command"]]
    return start(ending, command, environment, folder / f"{name}.log")


def start_proxy(ending, config: pathlib.Path, addresses: dict, folder: pathlib.Path) -> None:
    environment = os.environ | {
        "GARTH_PROXY_LISTEN": addresses["proxy"],
        "GARTH_NODE_1": addresses["node-1"],
        "GARTH_NODE_2": addresses["node-2"],
    }
    subprocess.run(["haproxy", "-c", "-q", "-f", config], env=environment, check=True)
    # In the foreground, as the container runs it.
    start(ending, ["haproxy", "-db", "-f", config], environment, folder / "proxy.log")


def rewrite(text: str, here: dict[str, str]) -> str:
    for there, instead in here.items():
        text = text.replace(there, instead)
    left = re.search(r"//(?:[^/@]*@)?(database|bucket|node-\d)\b|/run/secrets", text)
    assert not left, f"{text} names {left[0]}, for which there is nothing on this machine"
    return text


def start(ending, words, environment, log: pathlib.Path) -> subprocess.Popen:
    output = ending.enter_context(log.open("wb"))
    process = subprocess.Popen(words, env=dict(environment), stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def end():
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(45)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def tell(kind, *_):
        if kind:
            print(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}")

    ending.callback(end)
    ending.push(tell)
    return process


def until(works, what: str) -> None:
    end = time.monotonic() + START_SECONDS
    while not works():
        assert time.monotonic() < end, f"{what} is not there after {START_SECONDS} seconds"
        time.sleep(0.1)


def made(reply: tuple[int, bytes]) -> dict:
    status, body = reply
    assert status == 200, f"{status}: {body.decode(errors='replace')}"
    return json.loads(body)


def ask(root: str, method: str, path: str, body=None, kind="application/json") -> tuple[int, bytes]:
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(root + path, data, method=method)
    if data is not None:
        request.add_header("Content-Type", kind)
    request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read()
    except OSError:
        return 0, b""


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]
