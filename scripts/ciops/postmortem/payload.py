"""The payload file: exactly what is posted, to which issue of which site, and its digest.

A person approves the digest of these bytes. Publishing sends this body and this visibility and
nothing else; the digest itself travels outside of them, as a property of the comment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, TypeAlias

from ciops.errors import RefusedError, UsageError
from ciops.plumbing.yaml_file import shown

Json: TypeAlias = Any  # what json.loads gives
ISSUE_KEY: Final = re.compile(r"[A-Z][A-Z0-9_]{0,50}-[1-9][0-9]{0,9}")
_KEYS: Final = ("site", "issue", "visibility", "body")


def canonical(data: Json) -> str:
    """JSON with sorted keys and without spaces, characters as they are."""
    return json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def sent_length(data: Json) -> int:
    """Characters of JSON as it goes over the wire, where `é` is `\\u00e9`."""
    return len(json.dumps(data))


@dataclass(frozen=True, slots=True)
class Visibility:
    """Who may see a comment: `kind` is group or role."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Payload:
    """`body` is an ADF document, or wiki markup for Data Center; `site` is "" for none."""

    site: str
    issue: str
    visibility: Visibility | None
    body: dict[str, Any] | str

    def text(self) -> str:
        """The payload file's text."""
        return canonical(
            {
                "site": self.site or None,
                "issue": self.issue,
                "visibility": self.visibility_data(),
                "body": self.body,
            }
        )

    def visibility_data(self) -> dict[str, str] | None:
        """The visibility as the service takes it."""
        if self.visibility is None:
            return None
        return {"type": self.visibility.kind, "value": self.visibility.name}


def digest(written: str | bytes) -> str:
    """`sha256:` and the hash of the file's bytes."""
    raw = written.encode() if isinstance(written, str) else written
    return f"sha256:{sha256(raw).hexdigest()}"


def read_payload(written: str | bytes, name: str) -> Payload:
    """A payload file that this tool wrote; raises UsageError for anything else."""
    try:
        text = written if isinstance(written, str) else written.decode()
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise _broken(name, "is not JSON") from None
    if not isinstance(data, dict):
        raise _broken(name, "holds no object")
    if sorted(data) != sorted(_KEYS):
        found = shown(", ".join(data), 80, quote=False) or "none"
        raise _broken(name, f"has not exactly the keys {', '.join(_KEYS)} (found: {found})")
    site, issue, body = data["site"], data["issue"], data["body"]
    if not isinstance(site, str | None) or not isinstance(issue, str):
        raise _broken(name, "names no site or issue as text")
    if not isinstance(body, dict | str) or not body:
        raise _broken(name, "has no body")
    payload = Payload(site or "", issue_key(issue), _visibility(data["visibility"], name), body)
    if payload.text() != text.removesuffix("\n"):
        # A key that stands twice, or spaces that push a part out of sight.
        raise _broken(name, "is not written as render writes it")
    return payload


def _visibility(data: Json, name: str) -> Visibility | None:
    if data is None:
        return None
    if not isinstance(data, dict) or sorted(data) != ["type", "value"]:
        raise _broken(name, "has a visibility that is not {type, value}")
    return read_visibility(f"{data['type']}:{data['value']}")


def _broken(name: str, what: str) -> UsageError:
    step = "Name the TICKET.jira.json that render --to jira wrote, or render the record again"
    return UsageError(f"{name} is no payload that render wrote: it {what}", step)


def read_visibility(text: str) -> Visibility:
    """`group:NAME` or `role:NAME`; raises UsageError."""
    kind, _, name = text.partition(":")
    if kind not in ("group", "role") or not name.strip():
        problem = f"visibility {shown(text)} is not group:NAME or role:NAME"
        raise UsageError(problem, "For example --visibility role:Developers")
    return Visibility(kind, name.strip())


def issue_key(text: str) -> str:
    """A Jira issue key; raises UsageError for what is none (it becomes part of an address)."""
    if not ISSUE_KEY.fullmatch(text):
        problem = f"{shown(text)} is not the key of a Jira issue"
        raise UsageError(problem, "Name the issue to comment on with --ticket, such as PLUG-2218")
    return text


def check_length(length: int, sizes: Mapping[str, int], longest: int) -> None:
    """Refuse a comment that is too long, naming the sections in the order in which to cut them.

    What Jira counts for ADF is not documented, so its JSON is measured as it is sent, which is
    longer than its text.
    """
    if length <= longest:
        return
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:3]
    named = ", ".join(f"{heading} ({size:,})" for heading, size in largest)
    problem = f"the comment has {length:,} characters, and Jira takes {longest:,}"
    step = f"Cut the section {largest[0][0]} first (characters: {named}), or render it --to file"
    raise RefusedError(problem, step)
