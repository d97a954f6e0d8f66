"""Comments on a post of a blog. The key of the identity is the guest. docs/http-api.md, "Comments"."""

import json

TYPE = {"Content-Type": "application/json"}


def send_comment(network, identity, site, comment, number=None):
    """Sends a comment, or replaces the one with this id."""
    url = f"{site}/comments" + (f"/{number}" if number else "")
    body = json.dumps(comment).encode()
    return json.loads(network.ask_signed(identity, "POST", url, TYPE, body).check(200, 202).body)


def delete_comment(network, identity, site, number):
    return json.loads(network.ask_signed(identity, "DELETE", f"{site}/comments/{number}").check(200).body)


def list_comments(network, identity, site):
    url = f"{site}/comments?guest={identity.key}"
    return json.loads(network.ask_signed(identity, "GET", url).check(200).body)["comments"]
