"""The payload of a comment on Jira Data Center, whose REST v2 takes wiki markup."""

from __future__ import annotations

from typing import Final

from ciops.postmortem.destinations.contract import Destination, Target
from ciops.postmortem.document import Document
from ciops.postmortem.payload import Payload, check_length
from ciops.postmortem.wiki_markup import render_wiki, section_parts

TITLE_LEVEL: Final = 2


def render(document: Document, target: Target) -> str:
    """The payload file's text; RefusedError when Jira would find the comment too long."""
    body = render_wiki(document, TITLE_LEVEL)
    sizes = {
        section.heading: len("\n\n".join(section_parts(section, TITLE_LEVEL + 1)))
        for section in document.sections
    }
    check_length(len(body), sizes, target.longest)
    return Payload(target.site, target.issue, target.visibility, body).text()


DESTINATION: Final = Destination("jira-server", "{ticket}.jira-server.json", render, posted=True)
