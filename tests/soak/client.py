"""An HTTP client with a keep-alive connection."""
import http.client
import json
import urllib.parse

from server import TOKEN


class UnexpectedResponse(Exception):
    """A response with an unexpected status."""


class Client:
    def __init__(self, address: tuple[str, int], count_requests):
        self.address, self.count_requests = address, count_requests
        self.connection = http.client.HTTPConnection(*address, timeout=60)

    def send(self, method: str, path: str, body: bytes | None = None, headers: dict | None = None):
        """Returns the status, the headers and the body of the response."""
        self.count_requests(1)
        try:
            self.connection.request(method, path, body, headers or {})
            reply = self.connection.getresponse()
            return reply.status, reply.headers, reply.read()
        except (http.client.HTTPException, OSError):
            self.connection.close()
            raise OSError(f"{method} {path}: no response") from None

    def json(self, method: str, path: str, body=None, headers=None, expected=(200,)):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"} | (headers or {})
        return self._checked(method, path, self.send(method, path, data, headers), expected)

    def upload(self, path: str, name: str, content: bytes, expected):
        boundary = "soak-boundary"
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        body = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": f"multipart/form-data; boundary={boundary}"}
        return self._checked("POST", path, self.send("POST", path, body, headers), expected)

    def page(self, method: str, path: str, cookies: dict, fields: dict | None = None, expected=(200,)):
        """Requests a page of the console and stores its cookies."""
        headers = {"Accept": "text/html", "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
        body = None
        if fields is not None:
            body = urllib.parse.urlencode(fields).encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        status, response_headers, content = self.send(method, path, body, headers)
        if status not in expected:
            raise UnexpectedResponse(f"{method} {path}: {status}")
        for cookie in response_headers.get_all("Set-Cookie") or []:
            name, value = cookie.split(";")[0].split("=", 1)
            cookies[name] = value
        return content.decode()

    @staticmethod
    def _checked(method, path, reply, expected):
        status, _, content = reply
        if status not in expected:
            raise UnexpectedResponse(f"{method} {path.split('?')[0]}: {status} {content[:100]!r}")
        return json.loads(content)
