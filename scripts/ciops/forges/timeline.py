"""What happened to an issue since it was opened, as far as a service tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ciops.forges.base import Comment, Person


@dataclass(frozen=True, slots=True)
class LabelEvent:
    """Who put or removed which label; `actor` is GHOST for a deleted account."""

    action: Literal["added", "removed"]
    label: str
    actor: Person
    created_at: str


@dataclass(frozen=True, slots=True)
class StateEvent:
    """That it was closed (or left the repository) or opened, locked or unlocked; else None."""

    created_at: str
    state: Literal["open", "closed"] | None = None
    locked: bool | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """Oldest first. `comments` are those that the service tells along with the events.

    `states` is None where a service tells of none: then only the issue itself says how it stands.
    """

    labels: tuple[LabelEvent, ...]
    comments: tuple[Comment, ...] = ()
    states: tuple[StateEvent, ...] | None = None
