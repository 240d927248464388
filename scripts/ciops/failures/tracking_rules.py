"""How failures are tracked: forms, answers, and how a change is titled.

tracking:
  form: .github/ISSUE_TEMPLATE/06-bug-report.yml
  other_forms: [{buckets: <pattern>, form: <path>}]    # for what is clearly no bug
  answers: {<id of a field>: <option or text>}         # for fields that only a project knows
  change: {type: fix, ticket: <pattern with a group ticket, searched in the branch's name>}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ciops.failures.knowledge import Knowledge, Owner, compiled
from ciops.plumbing.yaml_file import Reader

FORM = ".github/ISSUE_TEMPLATE/06-bug-report.yml"
_KEYS = ("form", "other_forms", "answers", "change")


@dataclass(frozen=True, slots=True)
class TrackingRules:
    """`ticket` finds the ticket of a change in its branch's name."""

    form: str = FORM
    other_forms: tuple[tuple[re.Pattern[str], str], ...] = ()
    answers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    change_type: str = "fix"
    ticket: re.Pattern[str] | None = None

    def form_for(self, bucket: str) -> str:
        """The path of the form for a bucket, in its tracker's repository."""
        found = (form for pattern, form in self.other_forms if pattern.search(bucket))
        return next(found, self.form)


def read_tracking(knowledge: Knowledge) -> TrackingRules:
    """The rules of the first document that has some; raises DocumentError."""
    readers = (Reader(document) for document in knowledge.documents)
    own = next((reader for reader in readers if reader.has("tracking")), None)
    if own is None:
        return TrackingRules()
    item = own.child("tracking")
    item.mapping(_KEYS)
    change = item.child("change")
    change.mapping(("type", "ticket"))
    return TrackingRules(
        form=item.text("form", FORM),
        other_forms=tuple(_other_form(one) for one in item.items("other_forms")),
        answers={key: item.child("answers").text(key) for key in item.child("answers").mapping()},
        change_type=change.text("type", "fix"),
        ticket=_ticket(change),
    )


def _other_form(item: Reader) -> tuple[re.Pattern[str], str]:
    item.mapping(("buckets", "form"))
    return compiled(item, "buckets"), item.text("form")


def _ticket(change: Reader) -> re.Pattern[str] | None:
    if not change.has("ticket"):
        return None
    pattern = compiled(change, "ticket")
    if "ticket" not in pattern.groupindex:
        raise change.error("has no group named ticket", "Write (?P<ticket>…)", "ticket")
    return pattern


def home_of(owner: Owner, knowledge: Knowledge) -> Owner | None:
    """Where an owner's failures are tracked: its own verified repository, else its home.

    Never a repository of a third party: only what the configuration verifies.
    """
    if owner.verified and owner.repository:
        return owner
    home = knowledge.owner(owner.home) if owner.home else None
    return home if home is not None and home.verified and home.repository else None
