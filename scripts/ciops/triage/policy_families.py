"""Read the families of a policy: what is urgent, and what is out of scope."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, get_args

from ciops.plumbing.yaml_file import Reader
from ciops.triage.policy import Family, Outweighs

_FAMILY_KEYS: Final = (
    "threshold", "counts", "needs", "unless", "raised", "compares_versions", "thumbs_up",
    "people", "plain_script", "outweighs", "explains_trace", "lists_not_after",
    "not_elsewhere", "signals",
)  # fmt: skip


def read_families(section: Reader) -> Iterator[Family]:
    """The families of a section, in its order."""
    for name in section.mapping():
        reader = section.child(name)
        reader.mapping(_FAMILY_KEYS)
        yield Family(
            name,
            reader.number("threshold", 2.0),
            reader.texts("counts", ()),
            reader.texts("needs", ()),
            reader.texts("unless", ()),
            reader.number("raised", 0.0),
            reader.flag("compares_versions", False),
            int(reader.number("thumbs_up", 0)),
            int(reader.number("people", 0)),
            reader.flag("plain_script", False),
            reader.choice("outweighs", get_args(Outweighs), "never"),  # type: ignore[arg-type]
            reader.flag("explains_trace", False),
            frozenset(reader.texts("lists_not_after", ())),
            tuple(re.compile(text) for text in reader.texts("not_elsewhere", ())),
        )
