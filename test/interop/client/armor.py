"""Sealed messages as text. docs/protocol.md, "Sealing"."""

import re

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def digits_for(size):
    count = 0
    while 62**count < 256**size:
        count += 1
    return count


def armor(data):
    body = ""
    for block in (data[i : i + 32] for i in range(0, len(data), 32)):
        number = int.from_bytes(block, "big")
        body += "".join(DIGITS[number // 62**i % 62] for i in reversed(range(digits_for(len(block)))))
    words = [body[i : i + 15] for i in range(0, len(body), 15)]
    lines = [" ".join(words[i : i + 200]) for i in range(0, len(words), 200)]
    return "BEGIN SALTPACK ENCRYPTED MESSAGE. " + "\n".join(lines) + ". END SALTPACK ENCRYPTED MESSAGE.\n"


def dearmor(text):
    head, body, tail = (re.sub(r"[>\s]+", "", part) for part in text.split(".")[:3])
    if (head, tail) != ("BEGINSALTPACKENCRYPTEDMESSAGE", "ENDSALTPACKENCRYPTEDMESSAGE"):
        raise ValueError("not an armored message")
    sizes = {digits_for(size): size for size in range(1, 33)}
    data = b""
    for block in (body[i : i + 43] for i in range(0, len(body), 43)):
        number = 0
        for digit in block:
            number = number * 62 + DIGITS.index(digit)
        data += number.to_bytes(sizes[len(block)], "big")
    return data
