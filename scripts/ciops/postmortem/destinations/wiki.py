"""A page of wiki markup, for Confluence or a wiki that reads it."""

from __future__ import annotations

from typing import Final

from ciops.postmortem.destinations.contract import Destination, Target
from ciops.postmortem.document import Document
from ciops.postmortem.wiki_markup import render_wiki


def render(document: Document, target: Target) -> str:  # noqa: ARG001
    return render_wiki(document, title_level=1)


DESTINATION: Final = Destination("wiki", "{ticket}.wiki", render)
