"""Opens plain HTTP clients of the fakes, and closes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from fakes.raw_client import Client, Connect
from fakes.server import FakeServer


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Opens a client of a fake, with a Bearer token unless other headers are given."""
    with ExitStack() as stack:

        def open_client(server: FakeServer, headers: dict[str, str] | None = None) -> Client:
            given = {"Authorization": "Bearer a-token"} if headers is None else headers
            client = Client(server, given)
            stack.enter_context(client.session)
            return client

        yield open_client
