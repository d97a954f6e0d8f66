"""Public keys as text, and identity files. docs/protocol.md, "Keys"."""

import base64
import os
import re
import stat

from nacl import bindings as sodium
from nacl.signing import SigningKey

BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)


def bech32_checksum(prefix, values):
    expanded = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix] + values
    checksum = 1
    for value in expanded:
        top = checksum >> 25
        checksum = (checksum & 0x1FFFFFF) << 5 ^ value
        for i in range(5):
            checksum ^= GENERATOR[i] if top >> i & 1 else 0
    return checksum


def format_key(public):
    number = int.from_bytes(public, "big") << 4  # 256 bits, padded to 52 groups of 5
    values = [number >> 5 * i & 31 for i in reversed(range(52))]
    checksum = bech32_checksum("kex", values + [0] * 6) ^ 1
    return "kex1" + "".join(BECH32[v] for v in values + [checksum >> 5 * i & 31 for i in reversed(range(6))])


def parse_key(text):
    if not re.fullmatch(r"kex1[%s]{58}" % BECH32, text):
        raise ValueError(f"not a public key: {text}")
    values = [BECH32.index(c) for c in text[4:]]
    if bech32_checksum("kex", values) != 1:
        raise ValueError(f"wrong checksum: {text}")
    number = 0
    for value in values[:-6]:
        number = number << 5 | value
    public = (number >> 4).to_bytes(32, "big")
    if not sodium.crypto_core_ed25519_is_valid_point(public):
        raise ValueError(f"no point that a key may be: {text}")
    return public


class Identity:
    """The private key of an address."""

    def __init__(self, path):
        if stat.S_IMODE(os.stat(path).st_mode) & 0o077:
            raise ValueError(f"{path} can be read by other users")
        with open(path, encoding="utf-8-sig") as file:
            lines = file.read().splitlines()
        comments = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
        [pair] = [base64.b64decode(line, validate=True) for line in lines if line and not line.startswith("#")]
        self.signing = SigningKey(pair[:32])
        self.public = bytes(self.signing.verify_key)
        self.key = format_key(self.public)
        self.exchange = bytes(self.signing.to_curve25519_private_key())
        self.address = comments["user"]
        if len(pair) != 64 or pair[32:] != self.public or comments.get("public key", self.key) != self.key:
            raise ValueError(f"the halves of the key in {path} do not belong together")

    def sign(self, message):
        return self.signing.sign(message).signature
