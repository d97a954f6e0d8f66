"""Addresses, their documents and known keys, without DNS. docs/protocol.md, "Addresses"."""

import hashlib
import json
import re
import urllib.parse
from pathlib import Path

from errors import Refused
from keys import format_key, is_key, parse_key
from network import MAX_REDIRECTS, Silent, connection_class

ADDRESS = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}@(\[[0-9a-f:]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:\d{1,5})?")


def check_address(text):
    if not ADDRESS.fullmatch(text):
        raise Refused(f"{text!r} is not an address user@domain")
    return text


def is_guest(address):
    """Whether the address is a key at the domain of a site. docs/protocol.md, "Guests"."""
    return is_key(address.split("@")[0])


def document_paths(address):
    user, digest = address.split("@")[0], hashlib.sha256(address.encode()).hexdigest()
    names = [f"msg/{user}"]
    if not is_guest(address):
        names += [f"msg/{digest}", f"salty/{digest}", f"salty/{user}"]
    return [f"/.well-known/{name}.json" for name in names]


def look_up(network, address):
    """The inbox and the key of an address."""
    origin, reasons = network.origin(check_address(address).split("@")[1]), []
    for path in document_paths(address):
        try:
            answer = network.ask("GET", origin + path, limit=64 << 10, redirects=MAX_REDIRECTS).check(200)
            endpoint, public = read_document(answer.body)
            if is_guest(address) and format_key(public) != address.split("@")[0]:
                raise Refused("it is forged: it has another key than the address")
            return endpoint, public
        except Silent:
            raise
        except (Refused, ValueError) as error:
            reasons.append(f"{path}: {error}")
    raise Refused(f"{address} has no document. " + "; ".join(reasons))


def read_document(body):
    document = json.loads(body.decode("utf-8-sig"))
    if not isinstance(document, dict) or not isinstance(document.get("endpoint"), str):
        raise Refused("it is not an object with an endpoint and a key")
    endpoint = document["endpoint"]
    connection_class(urllib.parse.urlsplit(endpoint))
    if "#" in endpoint or len(endpoint) > 2048:
        raise Refused("the endpoint has a fragment or is too long")
    return endpoint, parse_key(document.get("key"))


def write_documents(folder, identity, endpoint):
    for path in document_paths(identity.address):
        file = Path(folder) / path[1:]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"endpoint": endpoint, "key": identity.key}))


class Contacts:
    """The first key seen for each address, in a JSON file."""

    def __init__(self, path):
        self.file = Path(path)
        self.keys = json.loads(self.file.read_text()) if self.file.exists() else {}

    def is_known(self, address, public):
        """Whether this is the known key of the address. The first key is stored."""
        key = format_key(public)
        if address not in self.keys:
            self.keys[address] = key
            self.file.write_text(json.dumps(self.keys))
        return self.keys[address] == key

    def owner_of(self, public):
        owners = [address for address, key in self.keys.items() if key == format_key(public)]
        return owners[0] if len(owners) == 1 else None

    def find(self, network, address):
        """Looks up a recipient: endpoint and key."""
        endpoint, public = look_up(network, address.lower())
        if not self.is_known(address.lower(), public):
            raise Refused(f"{address} has another key than the known one, so nothing is sent")
        return endpoint, public
