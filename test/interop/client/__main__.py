"""A client for private messages, blobs, mentions and comments of blogs with eleventy-plugin-twtxt.

    python client --identity bob.key create bob@bob.example
    python client --identity bob.key send alice@alice.example "See you at nine?"
    python client --identity bob.key read --receipts
    python client --identity bob.key put photo.jpg --public
    python client --identity bob.key put letter.pdf --to alice@alice.example
    python client --identity bob.key get https://alice.example/shared/kex1.../photo.jpg -o photo.jpg
    python client mention 'https://bob.example/twtxt.txt#:~:text=2026-11-20T09:30:00Z' https://alice.example/twtxt.txt

It prints JSON. Needs PyNaCl and msgpack. Its first version was written from the documentation of the package alone.
"""

import argparse
import json
import sys
from pathlib import Path

from addresses import Contacts, look_up, write_documents
from blobs import Blobs, get_shared
from comments import delete_comment, list_comments, send_comment
from errors import Refused
from host import serve_folder
from identity import create_identity, read_identity
from inbox import Inbox, deliver, deliver_sealed, open_item
from mentions import list_mentions, send_mention
from keys import format_key
from messages import format_message, read_hash
from network import Network
from saltpack import open_sealed, seal


class Client:
    def __init__(self, options):
        self.options, self.network = options, Network(options.allow_private_host)
        if options.identity and options.run is not create:
            self.identity = read_identity(options.identity)
            self.contacts = Contacts(f"{options.identity}.contacts")
            site = options.site or self.network.origin(self.identity.address.split("@")[1])
            self.blobs = Blobs(self.network, self.identity, site)

    def inbox(self):
        return Inbox(self.network, self.identity, look_up(self.network, self.identity.address)[0])

    def deliver(self, addresses, plaintext):
        deliver(self.network, self.contacts, self.identity, addresses, plaintext)
        return {"hash": read_hash(plaintext)}


def create(client, options):
    return {"key": create_identity(options.address, options.identity).key}


def host(client, options):
    write_documents(options.folder, client.identity, options.endpoint)
    serve_folder(options.folder, options.port)


def send(client, options):
    return client.deliver([options.address], format_message(client.identity.address, options.text))


def send_raw(client, options):
    """Seals bytes as they are."""
    return client.deliver(options.addresses, Path(options.file).read_bytes())


def seal_raw(client, options):
    """Seals bytes as they are, into a file."""
    publics = [client.contacts.find(client.network, address)[1] for address in options.addresses]
    plaintext = Path(options.file).read_bytes()
    Path(options.output).write_bytes(seal(plaintext, client.identity, publics))
    return {"hash": read_hash(plaintext)}


def try_deliver(client, options):
    """Delivers sealed messages in files. Each may be refused."""
    endpoint, results = look_up(client.network, options.address)[0], []
    for file in options.files:
        try:
            deliver_sealed(client.network, client.identity, options.address, endpoint, Path(file).read_bytes())
            results.append({"delivered": True})
        except Refused as error:
            results.append({"delivered": False, "error": str(error)})
    return results


def try_open(client, options):
    """Opens sealed messages in files."""
    results = []
    for file in options.files:
        try:
            plaintext, signer = open_sealed(Path(file).read_bytes(), client.identity)
            results.append({"hash": read_hash(plaintext), "signer": format_key(signer)})
        except Refused as error:
            results.append({"error": str(error)})
    return results


def read(client, options):
    shown = []
    for item in client.inbox().items(options.limit):
        one, message = open_item(client.network, client.contacts, client.identity, *item)
        shown.append(one)
        if options.receipts and one.get("verified") and not message.is_receipt:
            send_receipt(client, one["address"], one["hash"])
    return shown


def send_receipt(client, address, digest):
    """Sends a read receipt, once for each message."""
    file = Path(f"{client.options.identity}.receipts")
    sent = file.read_text().split() if file.exists() else []
    if digest not in sent and address != client.identity.address:
        client.deliver([address], format_message(client.identity.address, "", [digest]))
        file.write_text("\n".join([*sent, digest]))


def delete(client, options):
    return client.inbox().delete(options.id)


def put(client, options):
    path, readers = Path(options.file), None
    if options.to:
        readers = [client.contacts.find(client.network, address)[1] for address in options.to]
    return client.blobs.put(path.read_bytes(), options.key, options.type, path.name, options.public, readers)


def get(client, options):
    is_url = "://" in options.key
    blob = get_shared(client.network, options.key) if is_url else client.blobs.get(options.key)
    filename, media_type, content, signer = blob.open(client.identity)
    with open(options.output, "xb") as file:
        file.write(content)
    about = {"filename": filename, "type": media_type, "public": blob.is_public, "proven": blob.is_proven}
    return {**about, "owner": blob.owner, "signer": signer}


def share(client, options):
    return client.blobs.publish(options.key, True)


def unshare(client, options):
    return client.blobs.publish(options.key, False)


def remove(client, options):
    return client.blobs.delete(options.key)


def blobs(client, options):
    return list(client.blobs.list(options.limit))


def mention(client, options):
    return send_mention(client.network, options.source, options.target)


def mentions(client, options):
    return list(list_mentions(client.network, options.blog, options.limit))


def comment(client, options):
    fields = {"target": options.target, "text": options.text, "name": options.name, "reply-to": options.reply_to}
    return send_comment(client.network, client.identity, options.site, fields, options.replace)


def delete_own_comment(client, options):
    return delete_comment(client.network, client.identity, options.site, options.id)


def comments(client, options):
    return list_comments(client.network, client.identity, options.site)


def parse_options():
    parser = argparse.ArgumentParser(description="A client for private messages, blobs and mentions.")
    parser.add_argument("--identity", help="the identity file")
    parser.add_argument("--site", help="the blog that keeps your blobs, if it is not at the domain of your address")
    parser.add_argument("--allow-private-host", action="append", default=[], metavar="HOST:PORT")
    commands = parser.add_subparsers(required=True)

    def command(run, *names, **flags):
        added = commands.add_parser(run.__name__.replace("_", "-"))
        added.set_defaults(run=run)
        for name in names:
            added.add_argument(name)
        for flag, settings in flags.items():
            added.add_argument(f"--{flag}", **settings)
        return added

    switch, limit = {"action": "store_true"}, {"type": int, "default": 100}
    command(create, "address")
    command(host, "folder", "endpoint", port={"type": int, "required": True})
    command(send, "address", "text")
    command(send_raw, "file").add_argument("addresses", nargs="+")
    sealing = command(seal_raw, "file")
    sealing.add_argument("addresses", nargs="+")
    sealing.add_argument("-o", "--output", required=True)
    command(try_deliver, "address").add_argument("files", nargs="+")
    command(try_open).add_argument("files", nargs="+")
    command(read, receipts=switch, limit=limit)
    command(delete, "id")
    media_type = {"default": "application/octet-stream"}
    command(put, "file", key={}, type=media_type, public=switch, to={"action": "append"})
    command(get, "key").add_argument("-o", "--output", required=True)
    for run in (share, unshare, remove):
        command(run, "key")
    command(blobs, limit=limit)
    command(mention, "source", "target")
    command(mentions, "blog", limit=limit)
    text = {"default": ""}
    commented = command(comment, "target", "text", name=text, replace=text)
    commented.add_argument("--reply-to", default="")
    command(delete_own_comment, "id")
    command(comments)
    return parser.parse_args()


def main():
    options = parse_options()
    try:
        json.dump(options.run(Client(options), options), sys.stdout, ensure_ascii=False)
    except (Refused, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
