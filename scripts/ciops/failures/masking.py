"""One walk that masks the secrets in all that a value holds, whatever its fields are called.

What a trace showed is masked where its result is made, and a report where it leaves: no list of
fields says what may hold a secret, so none can be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from ciops.failures.redaction import mask_secrets
from ciops.failures.scan_result import NumberedLine

T = TypeVar("T")
Change = Callable[[str], str]


def _unchanged(text: str) -> str:
    return text


def masked(value: T, cleaned: Change = _unchanged, shown: Change = _unchanged) -> T:
    """The same value with the secrets in its texts masked, those in keys too.

    Every text is `cleaned` before it is masked; lines are `shown` in the form that this gives,
    afterwards: a secret that is cut in two is not known any more.
    """
    safe: Any = value
    if isinstance(value, str):
        safe = mask_secrets(cleaned(value))
    elif isinstance(value, tuple):
        safe = _items(value, cleaned, shown)
    elif isinstance(value, frozenset):
        safe = frozenset(masked(one, cleaned, shown) for one in value)
    elif isinstance(value, Mapping):
        pairs = ((key, masked(one, cleaned, shown)) for key, one in value.items())
        safe = MappingProxyType({masked(key, cleaned): one for key, one in pairs})
    elif is_dataclass(value):
        made: Any = type(value)
        facts = {one.name: getattr(value, one.name) for one in fields(value)}
        safe = made(**{name: masked(one, cleaned, shown) for name, one in facts.items()})
    return safe  # type: ignore[no-any-return]


def _items(values: tuple[Any, ...], cleaned: Change, shown: Change) -> tuple[Any, ...]:
    """Lines and texts that stand together are masked as one: a private key spreads over several."""
    if values and all(isinstance(one, NumberedLine) for one in values):
        texts = _texts([one.text for one in values], cleaned)
        pairs = zip(values, texts, strict=True)
        return tuple(NumberedLine(one.number, shown(text)) for one, text in pairs)
    if len(values) > 1 and all(isinstance(one, str) for one in values):
        return tuple(_texts(values, cleaned))
    return tuple(masked(one, cleaned, shown) for one in values)


def _texts(texts: Sequence[str], cleaned: Change) -> list[str]:
    lines = [" ".join(cleaned(text).split("\n")) for text in texts]
    return mask_secrets("\n".join(lines)).split("\n")
