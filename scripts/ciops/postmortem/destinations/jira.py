"""The payload of a comment on Jira Cloud, in Atlassian Document Format."""

from __future__ import annotations

from typing import Final

from ciops.postmortem.adf import render_adf, section_nodes
from ciops.postmortem.destinations.contract import Destination, Target
from ciops.postmortem.document import Document
from ciops.postmortem.payload import Payload, check_length, sent_length


def render(document: Document, target: Target) -> str:
    """The payload file's text; RefusedError when Jira would find the comment too long."""
    body = render_adf(document)
    sizes = {
        section.heading: sent_length(list(section_nodes(section))) for section in document.sections
    }
    check_length(sent_length(body), sizes, target.longest)
    return Payload(target.site, target.issue, target.visibility, body).text()


DESTINATION: Final = Destination("jira", "{ticket}.jira.json", render, posted=True)
