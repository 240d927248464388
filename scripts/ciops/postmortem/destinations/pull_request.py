"""The text of a pull or merge request's description, one heading level down."""

from __future__ import annotations

from typing import Final

from ciops.postmortem.destinations.contract import Destination, Target
from ciops.postmortem.document import Document
from ciops.postmortem.gfm import render_gfm


def render(document: Document, target: Target) -> str:  # noqa: ARG001
    return render_gfm(document, title_level=2)


DESTINATION: Final = Destination("pull-request", "{ticket}.pr.md", render)
