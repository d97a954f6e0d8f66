"""receive.py PORT: a site with a page /hens/ that receives webmentions with PyPI's webmentions, and lists them."""

import sys

from flask import Flask
from webmentions import WebmentionsHandler, WebmentionsStorage
from webmentions.server.adapters.flask import bind_webmentions


class Memory(WebmentionsStorage):
    def __init__(self):
        self.mentions = {}

    def store_webmention(self, mention):
        self.mentions[mention.source, mention.target] = mention

    def delete_webmention(self, source, target, direction):
        self.mentions.pop((source, target), None)

    def retrieve_webmentions(self, resource, direction):
        return [mention for mention in self.mentions.values() if mention.target == resource]


port = int(sys.argv[1])
app = Flask(__name__)
# Its guard refuses all private addresses, and this machine's is one.
handler = WebmentionsHandler(Memory(), base_url=f"http://127.0.0.1:{port}", ssrf_protection=False)
bind_webmentions(app, handler)


@app.get("/hens/")
def hens():
    return "<!doctype html><title>Hens</title><p>The hens are well."


app.run("127.0.0.1", port)
