"""The proof of a blob, and the line inside a sealed one. docs/protocol.md, "Blobs"."""

import re
import urllib.parse
from datetime import datetime, timezone

from signed_requests import b64, origin

SEALED_TYPE = "application/x-saltpack"


def api(identity, key):
    return f"{origin(identity.address.split('@')[1])}/api/v1/blob/{urllib.parse.quote(key)}"


def proof_lines(owner, key, digest, size, created, media_type, filename, is_public):
    lines = ["blob-v1", owner, key, digest, str(size), created, media_type, filename, "?1" if is_public else "?0"]
    return "".join(f"{line}\n" for line in lines).encode()


def proof(identity, key, digest, size, media_type, filename, is_public):
    created = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    signature = identity.sign(proof_lines(identity.key, key, digest, size, created, media_type, filename, is_public))
    return {"created": created, "sha256": digest, "signature": b64(signature)}


def disposition(filename):
    return f"attachment; filename*=UTF-8''{urllib.parse.quote(filename, safe='')}" if filename else "attachment"


def filename_in(disposition):
    found = re.search(r"filename\*=UTF-8''([^;]*)", disposition or "")
    return urllib.parse.unquote(found[1]) if found else ""
