"""Serves a fake from a command line, until it is interrupted or its input closes."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fakes.server import ContractViolationError, FakeServer


def serve(service: str, load: Callable[..., FakeServer]) -> None:
    """Prints the URL on a line of its own, then serves. Exits with 1 if a contract was broken."""
    parser = argparse.ArgumentParser(description=f"Serve a fake {service} on loopback.")
    parser.add_argument("--data", required=True, type=Path, help="the JSON file to load")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--writes", type=Path, help="write what was changed to this JSON file")
    options = parser.parse_args()
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    try:
        with load(options.data, port=options.port) as server:
            print(server.url, flush=True)
            stopped.wait()
            if options.writes is not None:
                options.writes.write_text(json.dumps(_plain(server), indent=1), encoding="utf-8")
    except ContractViolationError as error:
        sys.exit(str(error))


def _plain(server: FakeServer) -> list[dict[str, Any]]:
    return [asdict(write) for write in server.writes]
