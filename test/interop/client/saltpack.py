"""Saltpack 2 in its signcryption mode. docs/protocol.md, "Sealing"."""

import hashlib
import hmac
import secrets

import msgpack
from armor import dearmor
from errors import Refused
from keys import check_public, exchange_key
from nacl import bindings as sodium
from nacl.exceptions import CryptoError
from nacl.signing import VerifyKey

CHUNK = 1 << 20
MAX_RECIPIENTS = 64
SENDER_NONCE = b"saltpack_sender_key_sbox"


def derive(public, private):
    return sodium.crypto_box(bytes(32), b"saltpack_derived_sboxkey", public, private)[-32:]


def recipient_nonce(index):
    return b"saltpack_recipsb" + index.to_bytes(8, "big")


def identify(derived, nonce):
    return hmac.digest(b"saltpack signcryption box key identifier", derived + nonce, "sha512")[:32]


def packet_nonce(header_hash, index, is_final):
    return header_hash[:15] + bytes([header_hash[15] & 0xFE | is_final]) + index.to_bytes(8, "big")


def signed_part(header_hash, nonce, is_final, chunk):
    parts = (b"saltpack encrypted signature\0", header_hash, nonce, bytes([is_final]), hashlib.sha512(chunk).digest())
    return b"".join(parts)


def seal(plaintext, identity, publics):
    """Seals to Ed25519 keys, and to the sender."""
    keys = list({exchange_key(public) for public in [*publics, identity.public]})
    if len(keys) > MAX_RECIPIENTS:
        raise Refused(f"there are more than {MAX_RECIPIENTS} recipients")
    secrets.SystemRandom().shuffle(keys)
    payload_key = secrets.token_bytes(32)
    ephemeral_public, ephemeral = sodium.crypto_box_keypair()
    boxes = []
    for index, key in enumerate(keys):
        derived, nonce = derive(key, ephemeral), recipient_nonce(index)
        boxes.append([identify(derived, nonce), sodium.crypto_secretbox(payload_key, nonce, derived)])
    sender_box = sodium.crypto_secretbox(identity.public, SENDER_NONCE, payload_key)
    header = msgpack.packb(["saltpack", [2, 0], 3, ephemeral_public, sender_box, boxes])
    packets = seal_chunks(plaintext, identity, payload_key, hashlib.sha512(header).digest())
    return msgpack.packb(header) + b"".join(packets)


def seal_chunks(plaintext, identity, payload_key, header_hash):
    chunks = [plaintext[i : i + CHUNK] for i in range(0, len(plaintext), CHUNK)] or [b""]
    for index, chunk in enumerate(chunks):
        is_final = index == len(chunks) - 1
        nonce = packet_nonce(header_hash, index, is_final)
        signature = identity.sign(signed_part(header_hash, nonce, is_final, chunk))
        yield msgpack.packb([sodium.crypto_secretbox(signature + chunk, nonce, payload_key), is_final])


def open_sealed(message, identity):
    """The plaintext, and the Ed25519 key that signed it."""
    try:
        header, *packets = read_objects(dearmor(message) if message[:1] < b"\x80" else message)
        if not packets:
            raise Refused("the message is cut")
        ephemeral, sender_box, boxes = read_header(header)
        payload_key = open_key_box(ephemeral, boxes, identity)
        sender = sodium.crypto_secretbox_open(sender_box, SENDER_NONCE, payload_key)
        if not any(sender):
            raise Refused("the sender is anonymous")
        check_public(sender)
        return b"".join(open_packets(packets, sender, payload_key, hashlib.sha512(header).digest())), sender
    except Refused:
        raise
    # Hostile input can raise errors anywhere in these libraries, for example for a shared secret of zeros.
    except (CryptoError, ValueError, TypeError, IndexError, RuntimeError, msgpack.UnpackException) as error:
        raise Refused("this is not a sealed message in order") from error


def read_objects(message):
    reader = msgpack.Unpacker(raw=False, max_buffer_size=len(message) + 1)
    reader.feed(message)
    objects, end = [], 0
    while end < len(message):
        objects.append(reader.unpack())
        end = reader.tell()
    return objects


def read_header(header):
    name, version, mode, ephemeral, sender_box, boxes, *_ = msgpack.unpackb(header, raw=False)
    if name != "saltpack" or version[0] != 2 or mode != 3:
        raise Refused("this is not a signcryption message of saltpack 2")
    pairs = [box[:2] for box in boxes]
    if not 1 <= len(pairs) <= MAX_RECIPIENTS or {(len(i), len(b)) for i, b in pairs} != {(32, 48)}:
        raise Refused("the recipients are not in order")
    return ephemeral, sender_box, pairs


def open_key_box(ephemeral, boxes, identity):
    derived = derive(ephemeral, identity.exchange)
    for index, (identifier, box) in enumerate(boxes):
        nonce = recipient_nonce(index)
        if hmac.compare_digest(identify(derived, nonce), identifier):
            return sodium.crypto_secretbox_open(box, nonce, derived)
    raise Refused("it is not sealed to this key")


def open_packets(packets, sender, payload_key, header_hash):
    for index, (box, is_final, *_) in enumerate(packets):
        if is_final is not (index == len(packets) - 1):
            raise Refused("the final packet is not the last one")
        nonce = packet_nonce(header_hash, index, is_final)
        content = sodium.crypto_secretbox_open(box, nonce, payload_key)
        signature, chunk = content[:64], content[64:]
        if len(chunk) > CHUNK or (not chunk and len(packets) > 1):
            raise Refused("a chunk has a wrong size")
        VerifyKey(sender).verify(signed_part(header_hash, nonce, is_final, chunk), signature)
        yield chunk
