"""A client for private messages and blobs, written from docs/protocol.md and docs/http-api.md alone.

    python client --identity bob.key send alice@alice.example "See you at nine?"
    python client --identity bob.key read --receipts
    python client --identity bob.key put photo.jpg --public
    python client --identity bob.key put letter.pdf --to alice@alice.example
    python client --identity bob.key share KEY
    python client --identity bob.key get https://alice.example/shared/kex1.../photo.jpg -o photo.jpg

It prints JSON, and remembers nothing: a client for people also remembers the keys of others. Needs PyNaCl and msgpack.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import sys
import urllib.parse

from addresses import look_up
from armor import armor
from blobs import SEALED_TYPE, api, disposition, filename_in, proof, proof_lines
from keys import Identity, format_key, parse_key
from messages import format_message, parse_message, read_hash
from nacl.signing import VerifyKey
from saltpack import open_sealed, seal
from signed_requests import ask, ask_signed, b64


def put(identity, options):
    with open(options.file, "rb") as file:
        content = file.read()
    media_type, filename = options.type, os.path.basename(options.file)
    if options.to:
        line = json.dumps({"filename": filename, "type": media_type}, ensure_ascii=False, separators=(",", ":"))
        publics = [look_up(address)[1] for address in options.to] + [identity.public]
        content = seal(line.encode() + b"\n" + content, identity, publics)
        media_type, filename = SEALED_TYPE, ""
    digest = hashlib.sha256(content).hexdigest()
    key = options.key or digest
    properties = proof(identity, key, digest, len(content), media_type, filename, options.public)
    headers = {
        "content-type": media_type,
        "content-disposition": disposition(filename),
        "blob-public": "?1" if options.public else "?0",
        "blob-properties": f":{b64(json.dumps(properties).encode())}:",
    }
    _, body = ask_signed(identity, "PUT", api(identity, key), headers, content)
    return json.loads(body)


def share(identity, options):
    headers, content = ask_signed(identity, "GET", api(identity, options.key))
    filename = filename_in(headers["content-disposition"])
    digest = hashlib.sha256(content).hexdigest()
    properties = proof(identity, options.key, digest, len(content), headers["content-type"], filename, True)
    change = json.dumps({"Public": True, "Properties": properties}).encode()
    _, body = ask_signed(identity, "POST", api(identity, options.key), {"content-type": "application/json"}, change)
    return json.loads(body)


def get(identity, options):
    status, headers, content = ask("GET", options.url)
    if status != 200:
        raise RuntimeError(f"{options.url} answers {status}")
    owner, key = map(urllib.parse.unquote, options.url.split("/")[-2:])
    properties = json.loads(base64.b64decode(headers["blob-properties"].strip(":")))
    digest, filename = hashlib.sha256(content).hexdigest(), filename_in(headers["content-disposition"])
    media_type, created, signer = headers["content-type"], properties["created"], None
    is_public = headers["blob-public"] == "?1"
    signed = proof_lines(owner, key, digest, len(content), created, media_type, filename, is_public)
    VerifyKey(parse_key(owner)).verify(signed, base64.b64decode(properties["signature"]))
    if media_type == SEALED_TYPE:
        plaintext, sender = open_sealed(content, identity)
        line, _, content = plaintext.partition(b"\n")
        (filename, media_type), signer = (json.loads(line)[name] for name in ("filename", "type")), format_key(sender)
    with open(options.output, "xb") as file:
        file.write(content)
    return {"filename": filename, "type": media_type, "owner": owner, "signer": signer}


def send(identity, options, events=()):
    endpoint, public = look_up(options.address)
    message = format_message(identity.address, options.text, events).encode()
    body = armor(seal(message, identity, [public, identity.public])).encode()
    status, _, answer = ask("POST", endpoint, {"content-type": "text/plain"}, body)
    if not 200 <= status < 300:
        raise RuntimeError(f"{endpoint} answers {status}: {answer.decode()}")
    return {"status": status, "hash": read_hash(message)}


def read(identity, options):
    url = look_up(identity.address)[0] + "?limit=100"
    messages = []
    while url:
        headers, body = ask_signed(identity, "GET", url)
        messages += [opened(identity, item) for item in json.loads(body)]
        following = re.search(r'<([^>]+)>; rel="next"', headers["link"] or "")
        url = following and urllib.parse.urljoin(url, following[1])
    for message in messages if options.receipts else []:
        if message["verified"] and message["text"]:
            receipt = argparse.Namespace(address=message["address"], text="")
            send(identity, receipt, [("read", message["hash"])])
    return messages


def opened(identity, item):
    plaintext, sender = open_sealed(base64.b64decode(item["payload"]), identity)
    message = parse_message(plaintext)
    try:
        verified = message["address"] is not None and look_up(message["address"])[1] == sender
    except (LookupError, OSError):
        verified = False
    return {"id": item["id"], **message, "hash": read_hash(plaintext), "verified": verified}


def main():
    parser = argparse.ArgumentParser(description="A client for private messages and blobs.")
    parser.add_argument("--identity", required=True, help="the identity file")
    commands = parser.add_subparsers(required=True)

    def command(run, *names):
        added = commands.add_parser(run.__name__)
        added.set_defaults(run=run)
        for name in names:
            added.add_argument(name)
        return added

    command(send, "address", "text")
    command(read).add_argument("--receipts", action="store_true")
    command(share, "key")
    command(get, "url").add_argument("-o", "--output", required=True)
    putting = command(put, "file")
    putting.add_argument("--key")
    putting.add_argument("--type", default="application/octet-stream")
    putting.add_argument("--public", action="store_true")
    putting.add_argument("--to", action="append")
    options = parser.parse_args()
    json.dump(options.run(Identity(options.identity), options), sys.stdout, ensure_ascii=False)


if __name__ == "__main__":
    main()
