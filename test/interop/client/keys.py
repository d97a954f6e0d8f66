"""Public keys as text, and the conversion to X25519. docs/protocol.md, "Keys"."""

import re

from errors import Refused
from nacl import bindings as sodium

DIGITS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
PREFIX = [3, 3, 3, 0, 11, 5, 24]  # "kex", expanded as BIP-173 says


def polymod(values):
    checksum = 1
    for value in values:
        top = checksum >> 25
        checksum = (checksum & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate(GENERATOR):
            checksum ^= generator if top >> bit & 1 else 0
    return checksum


def format_key(public):
    number = int.from_bytes(public, "big") << 4  # 256 bits, padded to 52 groups of 5
    data = [number >> 5 * i & 31 for i in reversed(range(52))]
    checksum = polymod(PREFIX + data + [0] * 6) ^ 1
    return "kex1" + "".join(DIGITS[v] for v in data + [checksum >> 5 * i & 31 for i in reversed(range(6))])


def parse_key(text):
    """The 32 bytes of `kex1...`."""
    lower = text.lower() if isinstance(text, str) and text.isupper() else text
    if not isinstance(lower, str) or not re.fullmatch("kex1[02-9ac-hj-np-z]{58}", lower):
        raise Refused(f"{text!r} is not a public key kex1...")
    values = [DIGITS.index(c) for c in lower[4:]]
    if polymod(PREFIX + values) != 1 or values[51] & 15:
        raise Refused(f"{text} is not copied whole")
    number = 0
    for value in values[:52]:
        number = number << 5 | value
    public = (number >> 4).to_bytes(32, "big")
    check_public(public)
    return public


def is_key(text):
    try:
        parse_key(text)
    except Refused:
        return False
    return True


def check_public(public):
    if len(public) != 32 or not sodium.crypto_core_ed25519_is_valid_point(public):
        raise Refused("it is not an Ed25519 public key")


def exchange_key(public):
    check_public(public)
    return sodium.crypto_sign_ed25519_pk_to_curve25519(public)
