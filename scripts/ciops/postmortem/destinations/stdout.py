"""The Markdown on the standard output, for a person to read or paste."""

from __future__ import annotations

from typing import Final

from ciops.postmortem.destinations.contract import Destination
from ciops.postmortem.destinations.file import render

DESTINATION: Final = Destination("print", "", render)
