"""A web server on loopback that hands out archives, as GitLab and GitHub do."""

from __future__ import annotations

import io
import tarfile
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def archive_of(folder: Path, top: str) -> bytes:
    """The folder as a .tar.gz below one folder called `top`."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as tar:
        tar.add(folder, arcname=top)
    return buffer.getvalue()


class Server:
    """Serves bytes or redirects by path, and remembers what was asked for."""

    def __init__(self, replies: Mapping[str, bytes | str]) -> None:
        server = self
        self.replies = dict(replies)
        self.asked: list[tuple[str, dict[str, str]]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
                reply = server.replies.get(self.path)
                self.send_response(404 if reply is None else 302 if isinstance(reply, str) else 200)
                if isinstance(reply, str):
                    self.send_header("Location", reply)
                self.end_headers()
                if isinstance(reply, bytes):
                    self.wfile.write(reply)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Server:
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
