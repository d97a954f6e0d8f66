"""HTTP requests, plain and signed. docs/http-api.md, "Signed requests"."""

import base64
import hashlib
import http.client
import ipaddress
import json
import secrets
import socket
import time
import urllib.parse
from dataclasses import dataclass

from errors import Refused

COVERED = ("content-digest", "content-type", "content-disposition", "blob-public", "blob-properties", "if-match", "if-none-match")
TIMEOUT = 10
MAX_REDIRECTS = 5


@dataclass
class Answer:
    url: str
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def check(self, *statuses):
        if self.status in statuses:
            return self
        try:
            problem = json.loads(self.body)
            reason = f"{self.status} {problem['code']}: {problem['detail']}"
        except (ValueError, KeyError, TypeError):
            reason = str(self.status)
        raise Refused(f"{self.url} answers {reason}")


class Network:
    """Sends requests to public hosts over https, and to any host in `allowed` (host:port). Loopback hosts use http."""

    def __init__(self, allowed=()):
        self.allowed = {host.lower() for host in allowed}

    def origin(self, domain):
        return ("http://" if is_loopback(domain) else "https://") + domain

    def ask(self, method, url, headers=None, body=None, limit=256 << 20, redirects=0):
        parts = urllib.parse.urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        connection = connection_class(parts)(parts.hostname, port, timeout=TIMEOUT)
        peer = self.peer_of(parts.hostname, port)
        connection._create_connection = lambda _, *rest: socket.create_connection((peer, port), *rest)
        try:
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request(method, target, body, headers or {})
            response = connection.getresponse()
            content = response.read(limit + 1)
        except (OSError, http.client.HTTPException) as error:
            raise Silent(f"{url} does not answer: {error}") from error
        finally:
            connection.close()
        if len(content) > limit:
            raise Refused(f"{url} answers more than {limit} bytes")
        location, codes = response.headers["Location"], (307, 308) if body else (301, 302, 303, 307, 308)
        if redirects and location and response.status in codes:
            return self.ask(method, urllib.parse.urljoin(url, location), headers, body, limit, redirects - 1)
        return Answer(url, response.status, response.headers, content)

    def ask_signed(self, identity, method, url, headers=None, body=None):
        return self.ask(method, url, signed_headers(identity, method, url, headers or {}, body), body)

    def peer_of(self, host, port):
        """The address to connect to, which is the one that was checked."""
        name = f"[{host}]" if ":" in host else host
        if f"{name}:{port}" in self.allowed:
            return host
        try:
            addresses = [found[4][0] for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        except OSError as error:
            raise Silent(f"{host}: {error}") from error
        if not all(ipaddress.ip_address(address.split("%")[0]).is_global for address in addresses):
            raise Refused(f"{host}:{port} is not public (to ask it: --allow-private-host {host}:{port})")
        return addresses[0]


class Silent(Refused):
    """A host does not respond."""


def connection_class(parts):
    is_plain = parts.scheme == "http" and is_loopback(parts.netloc)
    if not parts.hostname or "@" in parts.netloc or not (is_plain or parts.scheme == "https"):
        raise Refused(f"{parts.geturl()} is not an https URL")
    return http.client.HTTPConnection if is_plain else http.client.HTTPSConnection


def signed_headers(identity, method, url, headers, body):
    parts, headers = urllib.parse.urlsplit(url), dict(headers)
    if body:
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        headers["Content-Digest"] = f"sha-256=:{digest}:"
    components = {"@method": method, "@authority": authority(parts), "@path": parts.path, "@query": f"?{parts.query}"}
    components |= {n.lower(): v for n, v in headers.items() if n.lower() in COVERED}
    created, nonce = int(time.time()), base64.b64encode(secrets.token_bytes(16)).decode()
    parameters = (
        "(" + " ".join(f'"{name}"' for name in components) + ")"
        f';created={created};expires={created + 300};nonce="{nonce}";keyid="{identity.key}";alg="ed25519"'
    )
    base = "".join(f'"{n}": {v}\n' for n, v in components.items()) + f'"@signature-params": {parameters}'
    signature = base64.b64encode(identity.sign(base.encode())).decode()
    return {**headers, "Signature-Input": f"sig={parameters}", "Signature": f"sig=:{signature}:"}


def authority(parts):
    default = ":443" if parts.scheme == "https" else ":80"
    return parts.netloc.lower().removesuffix(default)


def is_loopback(netloc):
    host = urllib.parse.urlsplit(f"//{netloc}").hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
