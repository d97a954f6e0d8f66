"""The text of a message. docs/protocol.md, "The text of a message"."""

import hashlib
import re
from dataclasses import dataclass, field

from addresses import check_address
from errors import Refused
from timestamps import is_time, now

CONTENT = re.compile(r"([^\t]+)\t\(([^\t]+)\)\t(.*)", re.S)
NAME = re.compile(r"#[ \t]*name:[ \t]*(.*)")
MAX_NAME = 60
# Control characters, line separators and changes of text direction.
HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
READ = re.compile(r"#[ \t]*read:[ \t]*([0-9a-f]{64})")


@dataclass
class Message:
    addresses: list = field(default_factory=list)
    texts: list = field(default_factory=list)
    reads: list = field(default_factory=list)
    comments: list = field(default_factory=list)

    @property
    def address(self):
        return self.addresses[0] if len(set(self.addresses)) == 1 else None

    @property
    def text(self):
        return "\n".join(self.texts).replace("\u2028", "\n")

    @property
    def name(self):
        """The unverified name that a guest states; None without a name. docs/protocol.md, "Guests"."""
        match = NAME.fullmatch(self.comments[0]) if self.comments else None
        return HIDDEN.sub("", match[1]).strip()[:MAX_NAME] or None if match else None

    @property
    def is_receipt(self):
        return bool(self.reads) and not any(self.texts)


def format_message(address, text, reads=()):
    one_line = re.sub("\r\n|[\r\n\u2029]", "\u2028", text)
    return (f"{now()}\t({address})\t{one_line}\n" + "".join(f"# read: {digest}\n" for digest in reads)).encode()


def parse_message(plaintext):
    message = Message()
    for line in plaintext.decode("utf-8", "replace").removesuffix("\n").split("\n"):
        line = line.removesuffix("\r")
        content = content_of(line)
        if line.startswith("#"):
            message.comments.append(line)
            message.reads += READ.fullmatch(line).groups() if READ.fullmatch(line) else ()
        elif content:
            message.addresses.append(content[0])
            message.texts.append(content[1])
        elif message.texts:
            message.texts[-1] += "\n" + line
        elif line:
            message.addresses.append(None)
            message.texts.append(line)
    return message


def content_of(line):
    """Address and text of a content line, or None."""
    match = CONTENT.fullmatch(line)
    try:
        return (check_address(match[2].lower()), match[3]) if match and is_time(match[1]) else None
    except Refused:
        return None


def read_hash(plaintext):
    return hashlib.sha256(plaintext.removesuffix(b"\n")).hexdigest()
