"""Reads a thread with Mastodon.py and one with atproto, whose models are those of the published lexicons, and prints them as JSON."""

import json
import sys

from atproto import Client
from mastodon import Mastodon


def read_status(server, status):
    client = Mastodon(api_base_url=server, version_check_mode="none")
    return {
        "url": client.status(status).url,
        "texts": [reply.content for reply in client.status_context(status).descendants],
        "likes": [account.acct for account in client.status_favourited_by(status)],
        "reposts": [account.acct for account in client.status_reblogged_by(status)],
    }


def read_post(server, uri):
    feed = Client(base_url=server + "/xrpc").app.bsky.feed
    thread = feed.get_post_thread({"uri": uri, "depth": 100, "parent_height": 0}).thread
    return {
        "url": thread.post.uri,
        "texts": [text for reply in thread.replies for text in read_texts(reply)],
        "likes": [like.actor.handle for like in feed.get_likes({"uri": uri}).likes],
        "reposts": [actor.handle for actor in feed.get_reposted_by({"uri": uri}).reposted_by],
    }


def read_texts(node):
    return [node.post.record.text] + [text for reply in node.replies or [] for text in read_texts(reply)]


mastodon, status, bluesky, uri = sys.argv[1:]
print(json.dumps([read_status(mastodon, status), read_post(bluesky, uri)]))
