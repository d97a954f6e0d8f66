"""The user's own key, in an identity file. docs/protocol.md, "Identity file"."""

import base64
import binascii
import os
import re
import secrets
import stat

from addresses import check_address
from errors import Refused
from keys import format_key
from nacl import bindings as sodium
from nacl.signing import SigningKey
from timestamps import is_time, now

FIELD = re.compile(r"# (created|public key|user): (.*)")


class Identity:
    def __init__(self, address, seed):
        self.address = check_address(address.strip().lower())
        self._signing = SigningKey(seed)
        self.public = bytes(self._signing.verify_key)
        self.key = format_key(self.public)
        self.pair = seed + self.public
        self.exchange = sodium.crypto_sign_ed25519_sk_to_curve25519(self.pair)

    def sign(self, data):
        return self._signing.sign(data).signature


def create_identity(address, path):
    identity = Identity(address, secrets.token_bytes(32))
    lines = [f"# created: {now()}", f"# public key: {identity.key}", f"# user: {identity.address}"]
    lines.append(base64.b64encode(identity.pair).decode())
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write("".join(f"{line}\n" for line in lines).encode())
    return identity


def read_identity(path):
    with open(path, "rb") as file:
        if os.name == "posix" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            raise Refused(f"other users can read {path}; type: chmod 600 {path}")
        text = file.read().decode("utf-8-sig")
    fields, pair = parse_lines([line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")], path)
    identity = Identity(fields["user"], pair[:32])
    if identity.pair != pair or fields.get("public key", identity.key) != identity.key:
        raise Refused(f"the parts of {path} do not belong together")
    return identity


def parse_lines(lines, path):
    found = [match.groups() for match in map(FIELD.fullmatch, lines) if match]
    fields = {name: value.strip() for name, value in found}
    others = [line for line in lines if not line.startswith("#")]
    created = fields.get("created")
    if len(fields) != len(found) or len(others) != 1 or "user" not in fields:
        raise Refused(f"{path} is not an identity file")
    if created is not None and not is_time(created):
        raise Refused(f"{path} was not created at a time")
    try:
        pair = base64.b64decode(others[0], validate=True)
    except binascii.Error as error:
        raise Refused(f"{path} holds no base64") from error
    if len(pair) != 64:
        raise Refused(f"{path} does not hold 64 bytes")
    return fields, pair
