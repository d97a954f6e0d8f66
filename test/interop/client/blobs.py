"""Blobs: storing, sharing, the owner's proof, sealed files. docs/protocol.md, "Blobs"."""

import base64
import hashlib
import json
import re
import urllib.parse

from errors import Refused
from keys import format_key, parse_key
from nacl.exceptions import CryptoError
from nacl.signing import VerifyKey
from saltpack import open_sealed, seal
from timestamps import is_time, now

SEALED_TYPE = "application/x-saltpack"
PROOF = ("created", "sha256", "signature")
MAX_LINE = 3124
NOT_IN_NAME = re.compile("[/\\\\\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
MEDIA_TYPE = re.compile(r"[!#-'*+.0-9A-Z^-z|~-]+/[!#-'*+.0-9A-Z^-z|~-]+([ \t]*;.*)?")


def proof_lines(owner, key, sha256, size, created, media_type, filename, is_public):
    lines = ["blob-v1", owner, key, sha256, str(size), created, media_type, filename, "?1" if is_public else "?0"]
    if any(re.search("[\x00-\x1f\x7f-\x9f]", line) for line in lines):
        raise Refused("control characters cannot be proven")
    return "".join(f"{line}\n" for line in lines).encode()


def prove(identity, key, content, media_type, filename, is_public):
    sha256, created = hashlib.sha256(content).hexdigest(), now("milliseconds")
    lines = proof_lines(identity.key, key, sha256, len(content), created, media_type, filename, is_public)
    return {"created": created, "sha256": sha256, "signature": base64.b64encode(identity.sign(lines)).decode()}


class Blob:
    """A received blob. Raises an error if it does not match the owner's proof."""

    def __init__(self, owner, key, answer):
        self.owner, self.content, self.etag = owner, answer.body, answer.headers["ETag"]
        self.type, self.is_public = answer.headers["Content-Type"], answer.headers["Blob-Public"] == "?1"
        name = re.search(r"filename\*=UTF-8''([^;]*)", answer.headers["Content-Disposition"])
        self.filename = urllib.parse.unquote(name[1], errors="strict") if name else ""
        self.properties = json.loads(base64.b64decode(answer.headers["Blob-Properties"].strip(":")))
        self.is_proven = any(name in self.properties for name in PROOF)
        if self.is_proven:
            self.check_proof(key)

    def check_proof(self, key):
        created, sha256, signature = (self.properties.get(name, "") for name in PROOF)
        size, digest = len(self.content), hashlib.sha256(self.content).hexdigest()
        lines = proof_lines(self.owner, key, digest, size, created, self.type, self.filename, self.is_public)
        try:
            if sha256 != digest or not is_time(created):
                raise ValueError("other contents, or no time")
            VerifyKey(parse_key(self.owner)).verify(lines, base64.b64decode(signature, validate=True))
        except (CryptoError, ValueError) as error:
            raise Refused(f"{key} is not as its owner has put it") from error

    def open(self, identity):
        """Name, type, contents and signer; those of the file inside if the blob is sealed."""
        if self.type != SEALED_TYPE:
            return self.filename, self.type, self.content, None
        plaintext, signer = open_sealed(self.content, identity)
        end = plaintext.find(b"\n", 0, MAX_LINE)
        about = json.loads(plaintext[: max(end, 0)])
        name, media_type = (about.get("filename"), about.get("type")) if isinstance(about, dict) else (None, None)
        is_name = isinstance(name, str) and name not in (".", "..") and not NOT_IN_NAME.search(name)
        if not is_name or len(name.encode("utf-16-le")) > 510 or not MEDIA_TYPE.fullmatch(media_type or ""):
            raise Refused("it does not begin with a line that names a file")
        return name, media_type, plaintext[end + 1 :], format_key(signer)


class Blobs:
    """The owner's own blobs at a site."""

    def __init__(self, network, identity, site):
        self.network, self.identity, self.api = network, identity, f"{site}/api/v1/blob"

    def ask(self, method, key, status, headers=None, body=None):
        return self.network.ask_signed(self.identity, method, f"{self.api}/{key}", headers, body).check(*status)

    def put(self, content, key, media_type, filename, is_public, readers=None):
        """Stores a blob, sealed to the keys of the readers if there are any."""
        if readers is not None:
            line = json.dumps({"filename": filename, "type": media_type}, ensure_ascii=False).encode()
            content, media_type, filename = seal(line + b"\n" + content, self.identity, readers), SEALED_TYPE, ""
        key = key or hashlib.sha256(content).hexdigest()
        headers = {
            "Content-Type": media_type,
            "Content-Disposition": "attachment" + (f"; filename*=UTF-8''{quote(filename)}" if filename else ""),
            "Blob-Public": "?1" if is_public else "?0",
            "Blob-Properties": byte_sequence(prove(self.identity, key, content, media_type, filename, is_public)),
        }
        return json.loads(self.ask("PUT", key, (200, 201), headers, content).body)

    def get(self, key):
        return Blob(self.identity.key, key, self.ask("GET", key, (200,)))

    def publish(self, key, is_public):
        """Shares a blob or makes it private, with a new proof for the stored contents."""
        blob = self.get(key)
        proof = prove(self.identity, key, blob.content, blob.type, blob.filename, is_public)
        change = json.dumps({"Public": is_public, "Properties": {**blob.properties, **proof}}).encode()
        headers = {"Content-Type": "application/json", "If-Match": blob.etag}
        return json.loads(self.ask("POST", key, (200,), headers, change).body)

    def delete(self, key):
        return json.loads(self.ask("DELETE", key, (200,)).body)

    def list(self, limit):
        after = ""
        while after is not None:
            query = urllib.parse.urlencode({"limit": limit, **({"after": after} if after else {})})
            answer = self.network.ask_signed(self.identity, "GET", f"{self.api}?{query}").check(200)
            page = json.loads(answer.body)
            yield from page["blobs"]
            after = page["next"]


def get_shared(network, url):
    owner, key = urllib.parse.urlsplit(url).path.split("/")[-2:]
    return Blob(owner, key, network.ask("GET", url).check(200))


def quote(filename):
    return urllib.parse.quote(filename, safe="")


def byte_sequence(properties):
    return f":{base64.b64encode(json.dumps(properties, ensure_ascii=False).encode()).decode()}:"
