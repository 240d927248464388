"""What a policy says of versions: how the product's look, and the concepts that tell of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Final

from ciops.triage.lexicon import NEGATOR, NUMBER, Lexicon

CONCEPTS: Final = (
    "works", "fails", "alike", "past", "older", "newest", "since", "onwards", "broke", "back",
    "only", "tried", "then", "than", "within", "unit", "other_product", "product", "introduces",
    "arrived", "mended", "too", "now", "affirms", "rose",
)  # fmt: skip
"""Concepts of a policy's language that versions are read by."""


@dataclass(frozen=True, slots=True, eq=False)
class VersionWords:
    """How the product's versions look, and the bits of the concepts."""

    shape: re.Pattern[str]
    lexicon: Lexicon
    bits: dict[str, int]
    masks: dict[tuple[str, ...], int] = field(default_factory=dict)

    def has(self, concepts: int, *names: str) -> bool:
        mask = self.masks.get(names)
        if mask is None:
            mask = self.masks[names] = reduce(or_, (self.bits[name] for name in names))
        return concepts & mask != 0


def version_words(numbers: Sequence[str], lexicon: Lexicon) -> VersionWords:
    """What `trials_of` needs of a policy; `numbers` are patterns of its versions, none for none."""
    bits = {name: lexicon.bit(name) for name in (*CONCEPTS, NEGATOR, NUMBER)}
    return VersionWords(re.compile("|".join(numbers) or "(?!)"), lexicon, bits)
