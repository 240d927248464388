"""A plain HTTP client for tests that speak to a fake themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import requests

from fakes.server import FakeServer


class Client:
    """Speaks to one fake; paths are below its API."""

    def __init__(self, server: FakeServer, headers: dict[str, str]) -> None:
        self.base = getattr(server, "api_url", server.url)
        self.session = requests.Session()
        self.session.headers.update(headers)

    def send(self, method: str, path: str, **options: Any) -> requests.Response:
        return self.session.request(method, self.base + path, timeout=10, **options)

    def get(self, path: str, **options: Any) -> requests.Response:
        return self.send("GET", path, **options)

    def post(self, path: str, body: Any) -> requests.Response:
        return self.send("POST", path, json=body)

    def put(self, path: str, body: Any) -> requests.Response:
        return self.send("PUT", path, json=body)

    def delete(self, path: str) -> requests.Response:
        return self.send("DELETE", path)


Connect = Callable[..., Client]
