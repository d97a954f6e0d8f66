"""send.py LIBRARY SOURCE TARGET: sends a webmention with a library's public API, and prints the status of the response."""

import sys


def pywebutil(source, target):
    # It refuses loopback addresses on App Engine and Cloud Run alone.
    from webutil import webmention

    return webmention.send(webmention.discover(target).endpoint, source, target).status_code


def ronkyuu(source, target):
    from ronkyuu import sendWebmention

    return sendWebmention(source, target).status_code


def indieweb_utils(source, target):
    from indieweb_utils import send_webmention

    return send_webmention(source, target).status_code


library, source, target = sys.argv[1:]
print({"pywebutil": pywebutil, "ronkyuu": ronkyuu, "indieweb-utils": indieweb_utils}[library](source, target))
