"""The text of a message. docs/protocol.md, "The text of a message"."""

import hashlib
import re
from datetime import datetime, timezone


def format_message(address, text, events=()):
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    one_line = re.sub("\r\n|[\r\n\u2029]", "\u2028", text)
    return f"{now}\t({address})\t{one_line}\n" + "".join(f"# {name}: {value}\n" for name, value in events)


RFC_3339 = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"
CONTENT = re.compile(rf"({RFC_3339})\t\(([^\t()@]+@[^\t()@]+)\)\t(.*)", re.S)


def parse_message(plaintext):
    texts, addresses, events = [], set(), []
    lines = plaintext.decode("utf-8", "replace").split("\n")
    for line in (one.removesuffix("\r") for one in (lines[:-1] if lines[-1] == "" else lines)):
        content = CONTENT.fullmatch(line)
        if line.startswith("#"):
            name, _, value = line[1:].strip().partition(":")
            events.append([name, value.strip()])
        elif content:
            addresses.add(content[2].lower())
            texts.append(content[3])
        elif texts:
            texts[-1] += "\n" + line
        else:
            addresses.add(None)
            texts.append(line)
    return {
        "address": addresses.pop() if len(addresses) == 1 else None,
        "text": "\n".join(texts).replace("\u2028", "\n"),
        "events": events,
    }


def read_hash(plaintext):
    return hashlib.sha256(plaintext.removesuffix(b"\n")).hexdigest()
