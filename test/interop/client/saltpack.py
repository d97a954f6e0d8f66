"""Sealing and opening. docs/protocol.md, "Sealing"."""

import hashlib
import hmac
import os
import random

import msgpack
from armor import dearmor
from nacl import bindings as sodium
from nacl.signing import VerifyKey

CHUNK = 2**20


def secretbox(content, nonce, key):
    return sodium.crypto_secretbox(content, nonce, key)


def derived_key(public, private):
    return sodium.crypto_box(bytes(32), b"saltpack_derived_sboxkey", public, private)[-32:]


def recipient_entry(derived, index):
    """The nonce and the identifier of a recipient."""
    nonce = b"saltpack_recipsb" + index.to_bytes(8, "big")
    return nonce, hmac.digest(b"saltpack signcryption box key identifier", derived + nonce, "sha512")[:32]


def packet_nonce(header_hash, index, final):
    return header_hash[:15] + bytes([header_hash[15] & 0xFE | final]) + index.to_bytes(8, "big")


def signed_bytes(header_hash, nonce, final, chunk):
    return b"saltpack encrypted signature\0" + header_hash + nonce + bytes([final]) + hashlib.sha512(chunk).digest()


def seal(plaintext, identity, publics):
    payload_key = os.urandom(32)
    ephemeral_public, ephemeral_private = sodium.crypto_box_keypair()
    recipients = []
    for index, public in enumerate(random.SystemRandom().sample(sorted(set(publics)), len(set(publics)))):
        derived = derived_key(sodium.crypto_sign_ed25519_pk_to_curve25519(public), ephemeral_private)
        nonce, identifier = recipient_entry(derived, index)
        recipients.append([identifier, secretbox(payload_key, nonce, derived)])
    sender_box = secretbox(identity.public, b"saltpack_sender_key_sbox", payload_key)
    header = msgpack.packb(["saltpack", [2, 0], 3, ephemeral_public, sender_box, recipients])
    header_hash = hashlib.sha512(header).digest()
    sealed = msgpack.packb(header)
    starts = range(0, max(len(plaintext), 1), CHUNK)
    for index, start in enumerate(starts):
        chunk, final = plaintext[start : start + CHUNK], index == len(starts) - 1
        nonce = packet_nonce(header_hash, index, final)
        signature = identity.sign(signed_bytes(header_hash, nonce, final, chunk))
        sealed += msgpack.packb([secretbox(signature + chunk, nonce, payload_key), final])
    return sealed


def open_sealed(sealed, identity):
    """The plain text and the public key that signed it."""
    if sealed[0] < 128:
        sealed = dearmor(sealed.decode())
    unpacker = msgpack.Unpacker(max_buffer_size=2**29)
    unpacker.feed(sealed)
    header, *packets = unpacker
    if unpacker.tell() != len(sealed):
        raise ValueError("the message is cut off")
    name, [major, _], mode, ephemeral, sender_box, recipients, *_ = msgpack.unpackb(header)
    if (name, major, mode) != ("saltpack", 2, 3) or not 1 <= len(recipients) <= 64:
        raise ValueError("not a signcryption message")
    derived = derived_key(ephemeral, identity.exchange)
    payload_key = find_payload_key(recipients, derived)
    sender = sodium.crypto_secretbox_open(sender_box, b"saltpack_sender_key_sbox", payload_key)
    if sender == bytes(32):
        raise ValueError("the sender is anonymous")
    return open_packets(packets, hashlib.sha512(header).digest(), payload_key, sender), sender


def find_payload_key(recipients, derived):
    for index, (identifier, key_box, *_) in enumerate(recipients):
        nonce, expected = recipient_entry(derived, index)
        if hmac.compare_digest(identifier, expected):
            return sodium.crypto_secretbox_open(key_box, nonce, derived)
    raise ValueError("not sealed to this key")


def open_packets(packets, header_hash, payload_key, sender):
    chunks = []
    for index, (box, final, *_) in enumerate(packets):
        if final is not (index == len(packets) - 1):
            raise ValueError("the message does not end with its final packet")
        nonce = packet_nonce(header_hash, index, final)
        content = sodium.crypto_secretbox_open(box, nonce, payload_key)
        signature, chunk = content[:64], content[64:]
        if chunk == b"" and len(packets) > 1:
            raise ValueError("a packet is empty")
        VerifyKey(sender).verify(signed_bytes(header_hash, nonce, final, chunk), signature)
        chunks.append(chunk)
    if not chunks:
        raise ValueError("the message has no packets")
    return b"".join(chunks)
