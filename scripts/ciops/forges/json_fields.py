"""Fields of a service's JSON by type, with the empty value where a field is null or missing.

Services leave out, add and null fields from version to version; a fact of the wrong type must
not become a crash in the middle of a sweep.
"""

from __future__ import annotations

from ciops.plumbing.http import Json


def text(data: Json, key: str) -> str:
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, str) else ""


def whole(data: Json, key: str) -> int:
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def flag(data: Json, key: str) -> bool:
    return isinstance(data, dict) and data.get(key) is True


def child(data: Json, key: str) -> dict[str, Json]:
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, dict) else {}


def rows(data: Json, key: str = "") -> list[Json]:
    """The list under `key`, or `data` itself; empty when it is no list."""
    value = data.get(key) if key and isinstance(data, dict) else data
    return value if isinstance(value, list) else []


def names(data: Json, key: str = "") -> tuple[str, ...]:
    """The names in such a list, of texts or of objects with a name."""
    found = (row if isinstance(row, str) else text(row, "name") for row in rows(data, key))
    return tuple(name for name in found if name)


def same_text(one: str, other: str) -> bool:
    """Texts as services give them back: with other line breaks, and trimmed."""
    return one.replace("\r\n", "\n").strip() == other.replace("\r\n", "\n").strip()
