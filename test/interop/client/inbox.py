"""Delivers messages, and reads the user's own inbox. docs/protocol.md, "Delivering and reading"."""

import base64
import json
import re
import urllib.parse

from addresses import is_guest, look_up
from armor import armor
from errors import Refused
from messages import parse_message, read_hash
from network import MAX_REDIRECTS
from saltpack import open_sealed, seal

MAX_BYTES = 64 << 10


def deliver(network, contacts, identity, addresses, plaintext):
    found = {address: contacts.find(network, address) for address in addresses}
    sealed = seal(plaintext, identity, [public for _, public in found.values()])
    for address, (endpoint, _) in found.items():
        deliver_sealed(network, identity, address, endpoint, sealed)


def deliver_sealed(network, identity, address, endpoint, sealed):
    """Delivers the binary form of a message. The request is signed if the recipient is a guest."""
    body, headers = armor(sealed), {"Content-Type": "text/plain"}
    if len(body) > MAX_BYTES:
        raise Refused(f"the sealed message is larger than {MAX_BYTES} bytes")
    if is_guest(address):
        answer = network.ask_signed(identity, "POST", endpoint, headers, body)
    else:
        answer = network.ask("POST", endpoint, headers, body, redirects=MAX_REDIRECTS)
    answer.check(*range(200, 300))


class Inbox:
    def __init__(self, network, identity, endpoint):
        self.network, self.identity, self.endpoint = network, identity, endpoint

    def items(self, limit):
        """Id and sealed message, oldest first."""
        own, url = urllib.parse.urlsplit(self.endpoint), with_query(self.endpoint, limit=limit)
        while url:
            answer = self.network.ask_signed(self.identity, "GET", url).check(200)
            yield from ((item["id"], base64.b64decode(item["payload"])) for item in json.loads(answer.body))
            link = re.search(r'<([^>]*)>; rel="next"', answer.headers["Link"] or "")
            url = link and urllib.parse.urljoin(self.endpoint, link[1])
            if url and urllib.parse.urlsplit(url)[:3] != own[:3]:
                raise Refused(f"the next page of {self.endpoint} is elsewhere")

    def delete(self, message_id):
        parts = urllib.parse.urlsplit(self.endpoint)
        url = parts._replace(path=f"{parts.path}/{message_id}").geturl()
        return json.loads(self.network.ask_signed(self.identity, "DELETE", url).check(200).body)


def with_query(url, **parameters):
    parts = urllib.parse.urlsplit(url)
    query = urllib.parse.parse_qsl(parts.query, keep_blank_values=True) + list(parameters.items())
    return parts._replace(query=urllib.parse.urlencode(query)).geturl()


def open_item(network, contacts, identity, message_id, sealed):
    """The parts of a message to show, and the message itself."""
    try:
        plaintext, signer = open_sealed(sealed, identity)
    except Refused as error:
        return {"id": message_id, "error": str(error)}, None
    message = parse_message(plaintext)
    address, trust = judge(network, contacts, message, signer)
    shown = {"id": message_id, "address": address, "name": message.name, "text": message.text}
    about = {"reads": message.reads, "hash": read_hash(plaintext), "trust": trust, "verified": trust == "verified"}
    return {**shown, **about}, message


def judge(network, contacts, message, signer):
    """The sender's address, and whether it is verified."""
    is_bare_receipt = message.reads and not message.texts
    address = contacts.owner_of(signer) if is_bare_receipt else message.address
    if address is None:
        return None, "unverified: it does not name one sender's address"
    try:
        _, public = look_up(network, address)
    except Refused as error:
        return address, f"unverified: {error}"
    if public != signer:
        return address, "unverified: another key has signed it"
    return address, "verified" if contacts.is_known(address, public) else "key changed"
