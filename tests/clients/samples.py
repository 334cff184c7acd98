"""Runs the samples of the API reference with curl and the published clients.

    samples.py GARTH --linode-cli FOLDER --node FOLDER --go PROGRAM

The server of the test renders the pages. Its public URL is that of a stub, which returns the example of each operation.
A sample passes if the client succeeds, and the stub has received a request for the operation of the sample with all
fields of the example. Run it with the Python of an environment that has linode_api4.
"""

import argparse
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import requests
from server import NO_NETWORK, TOKEN

HERE = Path(__file__).parent
METHODS = ("get", "post", "put", "delete")


class Samples(html.parser.HTMLParser):
    """The samples of a page, by client and operation, and the code that sets up each client."""

    def __init__(self, text):
        super().__init__()
        self.samples, self.setup = {}, []
        self.operation = self.client = None
        self.in_setup = self.in_code = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "article":
            self.operation = attributes["id"]
        if tag == "details" and attributes.get("id") == "clients":
            self.in_setup = True
        if tag == "pre":
            self.client, self.in_code = attributes.get("data-client"), True
            if self.in_setup:
                self.setup.append("")

    def handle_endtag(self, tag):
        if tag == "details":
            self.in_setup = False
        if tag == "pre":
            self.in_code = False

    def handle_data(self, text):
        if not self.in_code:
            return
        if self.in_setup:
            self.setup[-1] += text
        elif self.client:
            code = self.samples.setdefault(self.client, {})
            code[self.operation] = code.get(self.operation, "") + text


class Stub:
    """A server that returns the example of each operation, and records the requests of the current sample."""

    def __init__(self):
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                length = int(self.headers.get("Content-Length") or 0)
                status, body = stub.answer(self.command, self.path.split("?")[0], self.rfile.read(length))
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PUT = do_DELETE = answer

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        # A client that ends resets its connections.
        self.server.handle_error = lambda *_: None
        self.root = f"http://127.0.0.1:{self.server.server_port}"
        self.operations, self.requests, self.current = [], {}, None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def use(self, document):
        for path, item in document["paths"].items():
            base = item.get("servers", document["servers"])[0]["url"].rstrip("/")
            # The IDs of images and kernels can contain a slash.
            pattern = re.sub(r"\{(image|kernel)Id\}", "[^/]+(?:/[^/]+)?", f"{base}{path}".replace(".", r"\."))
            pattern = re.compile(re.sub(r"\{\w+\}", "[^/]+", pattern) or "/")
            for method in METHODS:
                if method in item:
                    self.operations.append((path.count("{"), method.upper(), pattern, item[method]))
        self.operations.sort(key=lambda operation: operation[0])
        self.components = document["components"]

    def find(self, method, path):
        path = re.sub(r"^/v4beta/", "/v4/", path).replace("/v4/linode/", "/v4/compute/").replace("/v4/networking/vpcs/", "/v4/vpcs/")
        path = path.rstrip("/") or "/"
        return next((found for _, known, pattern, found in self.operations if known == method and pattern.fullmatch(path)), None)

    def answer(self, method, path, body):
        if path.startswith("/sample/"):
            self.current = path.removeprefix("/sample/")
            return 200, b"{}"
        operation = self.find(method, path)
        if not operation:
            self.requests.setdefault(self.current, []).append((f"{method} {path}", None))
            return 404, b'{"errors": [{"reason": "Not found"}]}'
        try:
            sent = json.loads(body) if body else None
        except ValueError:
            sent = None
        self.requests.setdefault(self.current, []).append((operation["operationId"], sent))
        response = operation["responses"].get("200", {})
        if "$ref" in response:
            response = self.components["responses"][response["$ref"].rsplit("/", 1)[1]]
        content = response.get("content", {}).get("application/json", {})
        return 200, json.dumps(content.get("example", {})).encode()


def contains(sent, example):
    """Whether a sent value has all fields of the example."""
    if isinstance(example, dict):
        return isinstance(sent, dict) and all(contains(sent.get(name), value) for name, value in example.items())
    if isinstance(example, list):
        return isinstance(sent, list) and len(sent) == len(example) and all(map(contains, sent, example))
    return sent == example


def run_curl(stub, setup, samples, environment):
    errors = {}
    for id, code in samples.items():
        stub.current = f"curl/{id}"
        command = code.replace("curl ", "curl -sS -f --max-time 10 ", 1)
        result = subprocess.run(["bash", "-euc", command], env=environment, capture_output=True, text=True, cwd=environment["HOME"])
        if result.returncode:
            errors[id] = result.stderr
    return errors


def run_python(stub, setup, samples, environment):
    errors = {}
    os.environ["GARTH_TOKEN"] = TOKEN
    os.chdir(environment["HOME"])
    for id, code in samples.items():
        stub.current = f"Python/{id}"
        try:
            exec(f"{setup}\n{code}\n", {})  # noqa: S102
        except Exception as error:
            errors[id] = f"{type(error).__name__}: {error}"
    return errors


CLI_DRIVER = r"""
import contextlib, io, json, shlex, sys, urllib.request
samples, root = json.load(open(sys.argv[1])), sys.argv[2]
sys.argv = ["linode-cli"]
import linodecli
errors = {}
for id, code in samples.items():
    urllib.request.urlopen(f"{root}/sample/linode-cli/{id}")
    sys.argv = shlex.split(code.replace(" \\\n", " ")) + ["--json"]
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            linodecli.main()
    except SystemExit as exit:
        if exit.code not in (None, 0):
            errors[id] = output.getvalue()
    except Exception as error:
        errors[id] = repr(error)
print(json.dumps(errors))
"""


def run_cli(stub, setup, samples, environment, folder):
    home = Path(environment["HOME"])
    (home / "driver.py").write_text(CLI_DRIVER)
    (home / "cli.json").write_text(json.dumps(samples))
    command = f"{setup}\nexec {Path(folder).resolve()}/bin/python driver.py cli.json {stub.root}"
    environment = {**environment, "LINODE_CLI_SUPPRESS_VERSION_WARNING": "1"}
    result = subprocess.run(["bash", "-euc", command], env=environment, capture_output=True, text=True, cwd=home, stdin=subprocess.DEVNULL)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def run_node(stub, setup, samples, environment, folder):
    # Node searches for packages next to the file.
    with tempfile.TemporaryDirectory(dir=folder) as modules:
        lines = [setup, "const errors = {};"]
        for id, code in samples.items():
            (Path(modules) / f"{id}.mjs").write_text(code)
            lines.append(f"await fetch('{stub.root}/sample/JavaScript/{id}');")
            lines.append(f"await import('./{id}.mjs').catch((error) => {{ errors.{id} = JSON.stringify(error.response?.data ?? error) + error; }});")
        (Path(modules) / "main.mjs").write_text("\n".join([*lines, "console.log(JSON.stringify(errors));"]))
        result = subprocess.run(["node", f"{modules}/main.mjs"], env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def run_go(stub, setup, samples, environment, go):
    module = Path(environment["HOME"]) / "go-samples"
    module.mkdir()
    for name in ("go.mod", "go.sum"):
        shutil.copy(HERE / "go" / name, module)
    functions, calls = [], []
    for id, code in samples.items():
        use = "_ = result\n" if code.startswith("result,") else ""
        functions.append(f"func {id}(ctx context.Context, client linodego.Client) error {{\n{code}\n{use}return err\n}}\n")
        calls.append(f'run("{id}", {id}(before("{id}"), client))')
    main = f"""package main

import ("context"; "encoding/json"; "fmt"; "net/http"; "os"; "github.com/linode/linodego")

var errors = map[string]string{{}}

func before(id string) context.Context {{
	response, err := http.Get("{stub.root}/sample/Go/" + id)
	if err != nil {{ panic(err) }}
	response.Body.Close()
	return context.Background()
}}

func run(id string, err error) {{ if err != nil {{ errors[id] = err.Error() }} }}

func main() {{
{setup}
_ = ctx
{chr(10).join(calls)}
text, _ := json.Marshal(errors)
fmt.Println(string(text))
}}

{chr(10).join(functions)}"""
    (module / "main.go").write_text(main)
    environment = {**os.environ, "GARTH_TOKEN": TOKEN, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}
    result = subprocess.run([go, "run", "."], cwd=module, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the garth binary")
    parser.add_argument("--linode-cli", metavar="FOLDER", help="an environment with linode-cli")
    parser.add_argument("--node", metavar="FOLDER", help="the folder with the packages of package-lock.json")
    parser.add_argument("--go", metavar="PROGRAM", help="the go command")
    options = parser.parse_args()
    stub = Stub()
    document = json.loads(subprocess.run([options.binary, "openapi"], check=True, capture_output=True).stdout)
    stub.use(document)
    samples, setup = read_samples(Path(options.binary).resolve(), stub)
    operations = {
        operation["operationId"]: operation
        for item in document["paths"].values()
        for method, operation in item.items()
        if method in METHODS
    }
    failed = 0
    with tempfile.TemporaryDirectory(prefix="garth-samples-") as home:
        (Path(home) / "example.txt").write_text("an example")
        environment = {"PATH": os.environ["PATH"], "HOME": home, "GARTH_TOKEN": TOKEN, **NO_NETWORK}
        runs = {"curl": run_curl, "Python": run_python}
        if options.linode_cli:
            runs["linode-cli"] = lambda *arguments: run_cli(*arguments, options.linode_cli)
        if options.node:
            runs["JavaScript"] = lambda *arguments: run_node(*arguments, Path(options.node).resolve())
        if options.go:
            runs["Go"] = lambda *arguments: run_go(*arguments, options.go)
        start = Path.cwd()
        for client, run in runs.items():
            errors = run(stub, setup[client], samples[client], environment)
            os.chdir(start)
            found = list(problems(client, samples[client], errors, stub, operations))
            failed += len(found)
            print("\n".join(found + [f"{client}: {len(samples[client])} samples, {len(found)} failed"]), flush=True)
    return 1 if failed else 0


def read_samples(binary, stub):
    """The samples of all pages, by client and operation, and the code that sets up each client."""
    samples, setup = {}, []
    with tempfile.TemporaryDirectory(prefix="garth-samples-") as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GARTH_")}
        environment |= {"GARTH_DATA": f"{folder}/data", "GARTH_PUBLIC_URL": stub.root}
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--log", "warn"]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
            root = re.search(r"http://[\d.]+:\d+", server.stdout.readline())[0]
            index = requests.get(f"{root}/docs", timeout=60).text
            for page in sorted(set(re.findall(r'href="(/docs/[\w-]+)"', index))):
                found = Samples(requests.get(root + page, timeout=60).text)
                setup = found.setup or setup
                for client, code in found.samples.items():
                    samples.setdefault(client, {}).update(code)
            server.terminate()
    return samples, dict(zip(("curl", "linode-cli", "Python", "JavaScript", "Go"), setup, strict=True))


def problems(client, samples, errors, stub, operations):
    """The samples that failed, or that did not send the expected request."""
    for id in samples:
        received = stub.requests.get(f"{client}/{id}", [])
        sent = [body for operation, body in received if operation == id]
        media = operations[id].get("requestBody", {}).get("content", {}).get("application/json", {})
        example = media.get("example")
        if id in errors:
            yield f"FAILED {client}, {id}: {errors[id].strip()[:300]}"
        elif not sent:
            yield f"FAILED {client}, {id}: sent {[operation for operation, _ in received]}"
        elif example is not None and not any(contains(body, example) for body in sent):
            yield f"FAILED {client}, {id}: sent {json.dumps(sent)[:300]}, not {json.dumps(example)[:300]}"


if __name__ == "__main__":
    sys.exit(main())
