"""Requests, and those that are signed. docs/http-api.md, "Signed requests"."""

import base64
import hashlib
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request


def origin(domain):
    is_loopback = re.match(r"(127\.0\.0\.1|localhost|\[::1\])(:|$)", domain)
    return f"{'http' if is_loopback else 'https'}://{domain}"


def ask(method, url, headers=None, body=None):
    """Status, headers and body of the answer, whatever the status is."""
    request = urllib.request.Request(url, body, headers or {}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


SIGNED_HEADERS = (
    "content-digest content-type content-disposition blob-public blob-properties if-match if-none-match range".split()
)


def ask_signed(identity, method, url, headers=None, body=None):
    """As `ask`, signed as "Signed requests" of http-api.md says; fails with what the server says against it."""
    headers = dict(headers or {})
    if body is not None:
        headers["content-digest"] = f"sha-256=:{b64(hashlib.sha256(body).digest())}:"
    parts = urllib.parse.urlsplit(url)
    values = {
        "@method": method,
        "@authority": parts.netloc,
        "@path": parts.path,
        "@query": f"?{parts.query}",
        **{name: headers[name] for name in SIGNED_HEADERS if name in headers},
    }
    created = int(time.time())
    parameters = "(" + " ".join(f'"{name}"' for name in values) + ")"
    parameters += f';created={created};expires={created + 300};nonce="{b64(os.urandom(16))}"'
    parameters += f';keyid="{identity.key}";alg="ed25519"'
    lines = [f'"{name}": {value}' for name, value in values.items()] + [f'"@signature-params": {parameters}']
    headers["signature-input"] = f"sig={parameters}"
    headers["signature"] = f"sig=:{b64(identity.sign(chr(10).join(lines).encode()))}:"
    status, answered, content = ask(method, url, headers, body)
    if status >= 300:
        raise RuntimeError(f"{method} {url} answers {status}: {content.decode()}")
    return answered, content


def b64(data):
    return base64.b64encode(data).decode()
