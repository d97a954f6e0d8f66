"""A host on this machine for the documents of an address and a feed."""

import functools
import http.server


class Files(http.server.SimpleHTTPRequestHandler):
    extensions_map = {".json": "application/json", ".txt": "text/plain; charset=utf-8", "": "application/octet-stream"}

    def log_message(self, *_):
        pass


def serve_folder(folder, port):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Files, directory=folder))
    print(f"http://127.0.0.1:{port}/twtxt.txt", flush=True)
    server.serve_forever()
