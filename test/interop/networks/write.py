"""Writes statuses with Mastodon.py, and prints as JSON what the server answers."""

import json
import sys

from mastodon import Mastodon

server, token, picture, permalink, status_of_ours = sys.argv[1:]
client = Mastodon(api_base_url=server, access_token=token, version_check_mode="created")
ours = client.status(status_of_ours)
media = client.media_post(picture, mime_type="image/png", description="A quince")
post = {"media_ids": [media], "language": "de", "spoiler_text": "Food", "sensitive": True, "idempotency_key": "key"}
posted = client.status_post(f"Quitten & Käse {permalink}", **post)
again = client.status_post(f"Quitten & Käse {permalink}", **post)
answer = client.status_post("lovely", in_reply_to_id=posted)
edited = client.status_update(answer, "really lovely")
gone = client.status_delete(client.status_post("gone"))
found = client.search_v2(posted.url, resolve=True, result_type="statuses").statuses
print(
    json.dumps(
        {
            "account": client.account_verify_credentials().acct,
            "limit": client.instance_v2().configuration.statuses.max_characters,
            "ours": {
                "content": ours.content,
                "language": ours.language,
                "warning": ours.spoiler_text,
                "sensitive": ours.sensitive,
                "pictures": [[each.type, each.description] for each in ours.media_attachments],
            },
            "posted": posted.id,
            "again": again.id,
            "found": [status.id for status in found],
            "latest": [status.id for status in client.account_statuses(posted.account, exclude_reblogs=True)],
            "answer": [answer.in_reply_to_id, edited.id == answer.id, edited.content, edited.edited_at is not None],
            "gone": gone.id,
        }
    )
)
