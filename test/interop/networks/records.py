"""Validates records of Bluesky, which come as JSON on the standard input, by the models of atproto, and prints what it read."""

import json
import sys

from atproto import models
from atproto_client.models.utils import get_or_create


def read(record):
    post = get_or_create(record, models.AppBskyFeedPost.Record, strict_string_format=True)
    text = post.text.encode()
    return {
        "text": post.text,
        "extra": sorted(post.model_extra or {}),
        "links": [
            [text[facet.index.byte_start : facet.index.byte_end].decode(), facet.features[0].uri]
            for facet in post.facets or []
        ],
        "embed": post.embed and post.embed.py_type,
        "pictures": [image.alt for image in getattr(post.embed, "images", [])],
        "answers": post.reply and post.reply.parent.uri,
    }


print(json.dumps([read(record) for record in json.load(sys.stdin)]))
