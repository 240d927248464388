"""Where a post-mortem can go; one file a destination, one line here."""

from __future__ import annotations

from typing import Final

from ciops.postmortem.destinations import file, jira, jira_server, pull_request, stdout, wiki
from ciops.postmortem.destinations.contract import Destination

DESTINATIONS: Final[dict[str, Destination]] = {
    "jira": jira.DESTINATION,
    "jira-server": jira_server.DESTINATION,
    "print": stdout.DESTINATION,
    "file": file.DESTINATION,
    "pull-request": pull_request.DESTINATION,
    "wiki": wiki.DESTINATION,
}
