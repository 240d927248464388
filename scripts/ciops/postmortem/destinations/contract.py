"""What a destination is: a name, where its file lands, and how it renders a document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ciops.postmortem.document import Document
from ciops.postmortem.payload import Visibility


@dataclass(frozen=True, slots=True)
class Target:
    """What a destination needs beside the document; `site` is "" when none is configured."""

    issue: str
    site: str = ""
    visibility: Visibility | None = None
    longest: int = 32767


@dataclass(frozen=True, slots=True)
class Destination:
    """`path` is below the output folder, with `{ticket}` in it; "" for the standard output."""

    name: str
    path: str
    render: Callable[[Document, Target], str]
    posted: bool = False
