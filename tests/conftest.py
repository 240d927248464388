"""A fence around the whole suite: no connection and no name look-up beyond this machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from network_fence import fence


@pytest.fixture(autouse=True)
def _no_network() -> Iterator[None]:
    with fence() as refused:
        yield
    assert not refused, f"tests must stay on this machine, and this one asked for {refused}"
