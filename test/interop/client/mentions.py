"""Sends a mention, and lists the mentions of a blog. docs/http-api.md, "Mentions"."""

import json
import re
import urllib.parse

from errors import Refused
from network import MAX_REDIRECTS


def find_endpoint(network, target):
    """The endpoint that the header of the target's feed names, or else its `Link` header."""
    answer = network.ask("GET", target, redirects=MAX_REDIRECTS).check(200)
    header = re.match(r"(?:#.*\n|\s*\n)*?#[ \t]*webmention[ \t]*=[ \t]*(\S+)", answer.body.decode("utf-8", "replace"))
    link = re.search(r'<([^>]+)>; *rel="?webmention', answer.headers["Link"] or "")
    if not (header or link):
        raise Refused(f"{target} names no endpoint for mentions")
    return urllib.parse.urljoin(answer.url, (header or link)[1])


def send_mention(network, source, target):
    endpoint = find_endpoint(network, target.split("#")[0])
    body = urllib.parse.urlencode({"source": source, "target": target}).encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = network.ask("POST", endpoint, headers, body, redirects=MAX_REDIRECTS).check(200, 202)
    return {"status": answer.status, "answer": answer.body.decode().strip()}


def list_mentions(network, site, limit):
    after = ""
    while after is not None:
        query = urllib.parse.urlencode({"limit": limit, **({"after": after} if after else {})})
        page = json.loads(network.ask("GET", f"{site}/mentions.json?{query}").check(200).body)
        yield from page["mentions"]
        after = page["next"]
