"""A connection that is kept, as clients have it."""
import http.client
import json
import urllib.parse

from server import TOKEN


class Refused(Exception):
    """An answer that was not expected."""


class Client:
    def __init__(self, address: tuple[str, int], sent):
        self.address, self.sent = address, sent
        self.connection = http.client.HTTPConnection(*address, timeout=60)

    def ask(self, method: str, path: str, body: bytes | None = None, headers: dict | None = None):
        """The status, the headers and the body of the answer."""
        self.sent(1)
        try:
            self.connection.request(method, path, body, headers or {})
            reply = self.connection.getresponse()
            return reply.status, reply.headers, reply.read()
        except (http.client.HTTPException, OSError):
            self.connection.close()
            raise OSError(f"{method} {path} was not answered") from None

    def json(self, method: str, path: str, body=None, headers=None, expected=(200,)):
        data = None if body is None else json.dumps(body).encode()
        every = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"} | (headers or {})
        return self._judged(method, path, self.ask(method, path, data, every), expected)

    def upload(self, path: str, name: str, content: bytes, expected):
        edge = "soak-boundary"
        head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        body = head.encode() + content + f"\r\n--{edge}--\r\n".encode()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": f"multipart/form-data; boundary={edge}"}
        return self._judged("POST", path, self.ask("POST", path, body, headers), expected)

    def page(self, method: str, path: str, cookies: dict, fields: dict | None = None, expected=(200,)):
        """A page of the console; keeps its cookies."""
        headers = {"Accept": "text/html", "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
        body = None
        if fields is not None:
            body = urllib.parse.urlencode(fields).encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        status, answered, content = self.ask(method, path, body, headers)
        if status not in expected:
            raise Refused(f"{method} {path}: {status}")
        for cookie in answered.get_all("Set-Cookie") or []:
            name, value = cookie.split(";")[0].split("=", 1)
            cookies[name] = value
        return content.decode()

    @staticmethod
    def _judged(method, path, reply, expected):
        status, _, content = reply
        if status not in expected:
            raise Refused(f"{method} {path.split('?')[0]}: {status} {content[:100]!r}")
        return json.loads(content)
