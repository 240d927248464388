"""Files and names of the product's code in what somebody says, as evidence of their part."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ciops.triage.evidence import Evidence, evidence_of, points_of
from ciops.triage.frames import owner_of
from ciops.triage.issue_text import Line, Reading
from ciops.triage.policy import Policy
from ciops.triage.reading_rules import SPOKEN
from ciops.triage.statements import judge_mention

_FILE: Final = re.compile(
    r"(?<![\w.-])[\w.-]{1,60}(?:/[\w.-]{1,60}){1,12}\.(?:py|cpp|hpp|cu|h)\b", re.ASCII
)
_DOTTED: Final = re.compile(
    r"(?<![\w./-])[a-z_]\w{1,30}(?:\.[A-Za-z_]\w{0,40}){2,8}(?<!Error)(?<!Exception)\b(?![./-]\w)",
    re.ASCII,
)


def named_code(reading: Reading, found: Sequence[Evidence], policy: Policy) -> Iterator[Evidence]:
    """Api evidence of a file, or of a dotted name, where no signal of its part has heard the line.

    A file that only passes calls on is none; a name in it is, as somebody calls that very thing.
    """
    heard = {(item.topic, item.where, item.line) for item in found if item.role in ("root", "api")}
    for line in reading.lines:
        if line.zone not in SPOKEN:
            continue
        if "/" in line.text:
            for match in _FILE.finditer(line.text):
                component, passing = owner_of(match[0], policy)
                if component is not None and not passing:
                    yield _evidence(line, component, "file", policy)
        if line.text.count(".") < 2:
            continue
        for match in _DOTTED.finditer(line.text):
            component = _owner_of_name(match[0], policy)
            if component is None or (f"component:{component}", line.where, line.number) in heard:
                continue
            stance = judge_mention(line.text, match.start(), match.end()).stance
            if stance not in ("cleared", "passed"):
                yield _evidence(line, component, "module", policy)


def _evidence(line: Line, component: str, kind: str, policy: Policy) -> Evidence:
    points = points_of(line, "api", policy.scoring)
    return evidence_of(line, f"component:{component}", f"{component}_{kind}", "api", points)


def _owner_of_name(name: str, policy: Policy) -> str | None:
    """The part in whose file or folder a dotted name is."""
    path = name.replace(".", "/")
    if any(noise.removesuffix(".py").strip("/") in path for noise in policy.noise_frames):
        return None
    module = path.rpartition("/")[0]
    if owner_of(f"{module}/", policy)[0]:
        return owner_of(f"{path}/", policy)[0]
    return owner_of(f"{module}.py", policy)[0]
