"""RFC 3339 timestamps."""

import datetime
import re

RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")


def now(precision="seconds"):
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec=precision).replace("+00:00", "Z")


def is_time(text):
    """Whether a text has the form of a timestamp, and its date exists."""
    if not RFC_3339.fullmatch(text):
        return False
    try:
        datetime.datetime.strptime(text[:19].upper(), "%Y-%m-%dT%H:%M:%S")
    except ValueError:
        return False
    offset = text[-6:]
    return text[17:19] < "60" and (text[-1] in "Zz" or (offset[1:3] < "24" and offset[4:] < "60"))
