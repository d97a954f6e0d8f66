"""The text form of a sealed message. docs/protocol.md, "Sealing"."""

import re

from errors import Refused

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
LENGTHS = {size: next(n for n in range(1, 44) if 62**n >= 256**size) for size in range(1, 33)}
SIZES = {length: size for size, length in LENGTHS.items()}
GAP = "[> \t\r\n]"
FRAME = re.compile(
    rf"{GAP}*BEGIN{GAP}+(?:([A-Za-z0-9]{{1,128}}){GAP}+)?SALTPACK{GAP}+ENCRYPTED{GAP}+MESSAGE{GAP}*\."
    rf"([0-9A-Za-z> \t\r\n]*)\."
    rf"{GAP}*END{GAP}+(?:([A-Za-z0-9]{{1,128}}){GAP}+)?SALTPACK{GAP}+ENCRYPTED{GAP}+MESSAGE{GAP}*\.{GAP}*"
)


def armor(message):
    digits = "".join(format_block(message[i : i + 32]) for i in range(0, len(message), 32))
    words = [digits[i : i + 15] for i in range(0, len(digits), 15)]
    body = "\n".join(" ".join(words[i : i + 200]) for i in range(0, len(words), 200))
    return f"BEGIN SALTPACK ENCRYPTED MESSAGE. {body}. END SALTPACK ENCRYPTED MESSAGE.\n".encode()


def format_block(block):
    number, digits = int.from_bytes(block, "big"), ""
    for _ in range(LENGTHS[len(block)]):
        number, digit = divmod(number, 62)
        digits = DIGITS[digit] + digits
    return digits


def dearmor(text):
    frame = FRAME.fullmatch(text.decode("latin-1"))
    if not frame or frame[1] != frame[3]:
        raise Refused("this is not an armored message")
    digits = re.sub(GAP, "", frame[2])
    return b"".join(parse_block(digits[i : i + 43]) for i in range(0, len(digits), 43))


def parse_block(digits):
    number = 0
    for digit in digits:
        number = number * 62 + DIGITS.index(digit)
    try:
        return number.to_bytes(SIZES[len(digits)], "big")
    except (KeyError, OverflowError) as error:
        raise Refused("a block of the armor is damaged") from error
