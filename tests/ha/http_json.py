"""JSON over HTTP. A response without JSON is None."""
import base64
import json
import urllib.error
import urllib.request

TIMEOUT = 10


def send(method: str, url: str, body=None, token: str = "", password: str = "", timeout: float = TIMEOUT):
    """Returns the status and the JSON of the response. Status 0: no response."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, method=method)
    request.add_header("Content-Type", "application/json")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    if password:
        encoded = base64.b64encode(password.encode()).decode()
        request.add_header("Authorization", f"Basic {encoded}")
    try:
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            return reply.status, parsed(reply.read())
    except urllib.error.HTTPError as error:
        return error.code, parsed(error.read())
    except OSError:
        return 0, None


def parsed(content: bytes):
    try:
        return json.loads(content)
    except ValueError:
        return None
