"""From an address to a key and an inbox. docs/protocol.md, "Addresses"."""

import hashlib
import json
import re
import urllib.parse

from keys import parse_key
from signed_requests import ask, origin


def look_up(address):
    """The endpoint and the public key of an address. DNS is left out: this client knows no SRV records."""
    user, domain = address.lower().split("@")
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", user):
        raise ValueError(f"not an address: {address}")
    digest = hashlib.sha256(f"{user}@{domain}".encode()).hexdigest()
    for name in (f"msg/{user}", f"msg/{digest}", f"salty/{digest}", f"salty/{user}"):
        status, _, body = ask("GET", f"{origin(domain)}/.well-known/{name}.json")
        if status != 200:
            continue
        try:
            document = json.loads(body)
            endpoint, public = document["endpoint"], parse_key(document["key"])
        except (ValueError, KeyError, TypeError):
            continue
        if endpoint.startswith(origin(urllib.parse.urlsplit(endpoint).netloc) + "/"):
            return endpoint, public
    raise LookupError(f"{address} has no document")
