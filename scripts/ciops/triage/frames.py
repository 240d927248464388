"""Which part a traceback blames: the innermost frame of the product, unless it only passes on.

Frames run from the outermost call to the innermost. A *passing* frame (a thin public wrapper)
hands the blame to its caller where that is another part of the product. Where code that is no
part of it (an operator, the user's model) is innermost, the parts above are on the path only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ciops.triage.evidence import Evidence
from ciops.triage.issue_text import TurnTraceback
from ciops.triage.policy import Policy, Role
from ciops.triage.tracebacks import Frame

_MOST: Final = 12
_MESSAGE_REACH: Final = 6


@dataclass(frozen=True, slots=True)
class FrameVerdict:
    """What one traceback says. `called_inside`: a part of the product made the failing call."""

    source: TurnTraceback
    findings: tuple[tuple[str, Role, Frame], ...]
    called_inside: bool


@dataclass(frozen=True, slots=True)
class _Placed:
    frame: Frame
    component: str | None
    passing: bool


def judge_tracebacks(tracebacks: Sequence[TurnTraceback], policy: Policy) -> list[FrameVerdict]:
    """A verdict for each different traceback; of a chain only the last block may be the root."""
    seen: set[tuple[str, str, str]] = set()
    verdicts = []
    for source in tracebacks:
        signature = source.traceback.signature
        if signature in seen or not source.traceback.frames:
            continue
        seen.add(signature)
        verdicts.append(_judge(source, policy))
        if len(verdicts) == _MOST:
            break
    return verdicts


def _judge(source: TurnTraceback, policy: Policy) -> FrameVerdict:
    placed = [
        found
        for frame in source.traceback.frames
        if not _is_noise(frame.path, policy.noise_frames)
        for found in (_place(frame, policy),)
    ]
    owned = [item for item in placed if item.component]
    if not owned:
        return FrameVerdict(source, (), False)
    if source.traceback.running:
        return FrameVerdict(source, tuple(_stuck(owned)), False)
    if source.traceback.links:
        return FrameVerdict(source, tuple(_on_the_path(owned)), False)
    blamed = _blamed(placed)
    if blamed is None:
        return FrameVerdict(source, tuple(_on_the_path(owned)), False)
    findings = list(_findings(owned, blamed))
    inside = blamed is not owned[-1] or any(not item.passing for item in owned)
    return FrameVerdict(source, tuple(findings), inside)


def _blamed(placed: Sequence[_Placed]) -> _Placed | None:
    """The frame to blame: innermost, or the caller of a passing one; None if it is elsewhere."""
    if not placed[-1].component:
        return None
    for item in reversed(placed):
        if item.component is None:
            break
        if not item.passing:
            return item
    return placed[-1]


def _findings(owned: Sequence[_Placed], blamed: _Placed) -> Iterator[tuple[str, Role, Frame]]:
    component = blamed.component or ""
    direct = blamed.passing
    yield component, "api" if direct else "root", blamed.frame
    entry = owned[0]
    if entry.component != component and not entry.passing:
        yield entry.component or "", "api", entry.frame
    named = {component, entry.component}
    for item in owned:
        if item.component not in named:
            named.add(item.component)
            yield item.component or "", "path", item.frame


def _stuck(owned: Sequence[_Placed]) -> Iterator[tuple[str, Role, Frame]]:
    """Where a process waits: the part that the script called has api evidence, no more."""
    entry = next((item for item in owned if not item.passing), None)
    if entry is not None:
        yield entry.component or "", "api", entry.frame
    others = [item for item in owned if entry is None or item.component != entry.component]
    yield from _on_the_path(others)


def _on_the_path(owned: Iterable[_Placed]) -> Iterator[tuple[str, Role, Frame]]:
    named: set[str] = set()
    for item in owned:
        if item.component and item.component not in named:
            named.add(item.component)
            yield item.component, "path", item.frame


def _is_noise(path: str, noise: Sequence[str]) -> bool:
    return any(fragment in path for fragment in noise)


def owner_of(path: str, policy: Policy) -> tuple[str | None, bool]:
    """The component that a file belongs to, and whether it only passes calls on."""
    return _owner(path.replace("\\", "/"), policy.owners)


def _place(frame: Frame, policy: Policy) -> _Placed:
    component, passing = owner_of(frame.path, policy)
    return _Placed(frame, component, passing)


@lru_cache(maxsize=4096)
def _owner(path: str, owners: tuple[tuple[str, str, bool], ...]) -> tuple[str | None, bool]:
    for fragment, component, passing in owners:
        if fragment in path:
            return component, passing
    return None, False


def frame_evidence(
    verdicts: Iterable[FrameVerdict], told: Sequence[tuple[str, int, str]], policy: Policy
) -> Iterator[Evidence]:
    """What the frames say; `told` are the error messages that name their own part."""
    scoring = policy.scoring
    for verdict in verdicts:
        elsewhere = _message_names(verdict, told)
        for component, found_role, frame in verdict.findings:
            other = elsewhere and f"component:{component}" not in elsewhere
            role: Role = "path" if other and found_role == "root" else found_role
            points = scoring.roles[role] * scoring.zones["traceback"]
            points *= scoring.speakers[verdict.source.speaker]
            yield Evidence(
                f"component:{component}", f"{component}_frames", role, round(points, 2),
                "traceback", verdict.source.where, frame.number, frame.number,
                f'File "{frame.path}", in {frame.name}', verdict.source.turn,
                verdict.source.speaker,
            )  # fmt: skip


def _message_names(verdict: FrameVerdict, told: Sequence[tuple[str, int, str]]) -> set[str]:
    """The parts that the error message of a traceback names by itself."""
    first = verdict.source.traceback.number
    lines = range(first, first + _MESSAGE_REACH)
    return {topic for where, line, topic in told if where == verdict.source.where and line in lines}
