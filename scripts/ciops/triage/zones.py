"""Give each line of a document its zone.

A zone says what kind of words a line holds: what a person says (title, prose, steps), what they
ran (code, shell), what the machine said (traceback, cpp, log), or what nobody wrote on purpose
(env, quoted, template). Rank and time prefixes are stripped, elastic-style footers dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ciops.triage import line_shapes
from ciops.triage.blocks import Block, NumberedLine, heading_name, split_blocks, strip_tags
from ciops.triage.pasted_code import is_printed, starts_other_code, unfenced_code, unnumbered
from ciops.triage.reading_rules import SPOKEN, ReadingRules, Zone

MAX_SEGMENT: Final = 1000
_OVERLAP: Final = 120
_MAX_PREFIXES: Final = 6
_BY_SHAPE: Final[dict[str, Zone]] = {
    "header": "traceback",
    "frame": "traceback",
    "chain": "traceback",
    "stack": "traceback",
    "error": "traceback",
    "cpp": "cpp",
    "log": "log",
    "shell": "shell",
    "command": "shell",
}
_INFO_ZONES: Final[dict[str, Zone]] = {
    **dict.fromkeys(("python", "py", "python3", "py3", "ipython", "pycon"), "code"),
    **dict.fromkeys(("c", "cpp", "c++", "cuda", "cu", "diff", "patch", "rust"), "code"),
    **dict.fromkeys(("yaml", "yml", "json", "toml", "ini", "dockerfile"), "code"),
    **dict.fromkeys(("bash", "sh", "shell", "console", "zsh", "shellsession", "ps1"), "shell"),
    **dict.fromkeys(("log", "text", "txt", "output", "pytb", "traceback", "plain"), "log"),
    **dict.fromkeys(("markdown", "md"), "quoted"),
}
_QUOTE_MARKS: Final = re.compile(r"^[ \t]{0,3}(?:>[ ]?){1,8}")
_LIST_ITEM: Final = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\S")
_STARTS_ANEW: Final = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)]|\|)(?:[ \t]|[^|\n]*\|)")
_STEP_SECTION: Final = re.compile(r"\b(?:steps?|reproduc\w+|repro|how to run)\b")
_RUN_ARGUMENT: Final = re.compile(r" --?[a-z]|\.(?:py|sh)\b| install |[ =]\S+=\S|\$\w")
_INLINE: Final = re.compile(
    r"^[ ]{0,4}(?:[-*+]|\d{1,3}[.)])?[ ]{0,4}(?:\S{1,12}:[ ])?`([^`]{3,400})`"
)
_ENDS_SENTENCE: Final = re.compile(r"[.!?:;|。!?：]\s*$")


@dataclass(slots=True)
class ZonedLine:
    """A line (or a soft-wrapped sentence) with its zone.

    `number` to `last` are its 1-based lines; `block` counts the blocks of the document;
    `prefix` keeps what was there before the text: a rank, a time.
    Not frozen, which would take twice the time of thousands; nobody changes one.
    """

    number: int
    text: str
    zone: Zone
    block: int
    prefix: str = ""
    last: int = 0


def zone_document(text: str, rules: ReadingRules, reply: bool = False) -> list[ZonedLine]:
    """The lines of a Markdown document that hold something, with their zones, in order.

    A `reply` quotes what somebody else wrote before; a report has nobody to quote but a user.
    """
    able = rules.for_document(text)
    found: list[ZonedLine] = []
    for index, block in enumerate(split_blocks(text, rules.form_headings), start=1):
        if block.kind == "quote" and not reply:
            found.extend(_passed_on(block, index, able))
        else:
            found.extend(_zone_block(block, index, able))
    return list(_short(found))


def _short(lines: Sequence[ZonedLine]) -> Iterator[ZonedLine]:
    """Lines no longer than a pattern may safely see; a longer one is cut with an overlap."""
    for line in lines:
        if len(line.text) <= MAX_SEGMENT:
            yield line
            continue
        for start in range(0, len(line.text), MAX_SEGMENT - _OVERLAP):
            part = line.text[start : start + MAX_SEGMENT]
            yield ZonedLine(line.number, part, line.zone, line.block, line.prefix, line.last)


def _zone_block(block: Block, index: int, rules: ReadingRules) -> Iterator[ZonedLine]:
    if block.kind == "heading":
        yield from _heading(block, index, rules)
        return
    dropped = block.section in rules.drop_sections
    if block.kind == "prose":
        yield from _prose(block, index, rules, dropped)
        return
    lines = _stripped(block, rules)
    if block.kind == "quote" and not _holds_machine_words(lines):
        yield from (
            ZonedLine(line.number, line.text, "quoted", index) for line in lines if line.text
        )
        return
    yield from _fenced(block, lines, index, rules, dropped)


def _passed_on(block: Block, index: int, rules: ReadingRules) -> Iterator[ZonedLine]:
    """A quote in a report: the code of it is code, all else is as in any quote."""
    inner = "\n".join(line.text for line in _stripped(block, rules))
    if "(" not in inner:  # no code without a call
        yield from _zone_block(block, index, rules)
        return
    above = block.lines[0].number - 1
    code = {
        line.number + above: line.zone
        for part in split_blocks(inner)
        for line in _zone_block(part, index, rules)
        if line.zone in ("code", "shell")
    }
    for line in _zone_block(block, index, rules):
        zone = code.get(line.number, line.zone) if line.zone == "quoted" else line.zone
        yield ZonedLine(line.number, line.text, zone, index, line.prefix, line.last)


def _heading(block: Block, index: int, rules: ReadingRules) -> Iterator[ZonedLine]:
    line = block.lines[0]
    name = heading_name(line.text)
    known = name in rules.form_headings or name in rules.drop_sections
    text = line.text.lstrip("# \t")
    yield ZonedLine(line.number, text, "template" if known else "prose", index)


def _stripped(block: Block, rules: ReadingRules) -> list[NumberedLine]:
    """The lines of a block without tags, marks of a quote, and prefixes, which are kept apart."""
    prefixes, kind = rules.prefixes, block.kind
    found = []
    for line in block.lines:
        text, prefix = line.text, ""
        if kind == "prose":
            text = strip_tags(text)
        elif kind == "quote":
            text = _QUOTE_MARKS.sub("", text)
        for _ in range(_MAX_PREFIXES):
            match = prefixes.match(text) if prefixes else None
            if match is None or not match.end():
                break
            prefix = prefix or match[0].strip()
            text = text[match.end() :]
        text = text.rstrip()
        found.append(line if text == line.text else NumberedLine(line.number, text, prefix))
    return found


def _holds_machine_words(lines: Sequence[NumberedLine]) -> bool:
    shapes = {line_shapes.shape_of(line.text) for line in lines[:200]}
    return bool(shapes & {"header", "frame", "cpp", "log", "error"})


def _fenced(
    block: Block, lines: Sequence[NumberedLine], index: int, rules: ReadingRules, dropped: bool
) -> Iterator[ZonedLine]:
    for line, text in zip(lines, unnumbered([line.text for line in lines]), strict=True):
        line.text = text
    shapes = [line_shapes.shape_of(line.text) for line in lines]
    default = _INFO_ZONES.get(block.info) or _guess_default(lines, shapes)
    if default == "code" and is_printed([line.text for line in lines]):
        default = "log"
    if default == "quoted":
        yield from (
            ZonedLine(line.number, line.text, "quoted", index) for line in lines if line.text
        )
        return
    if _is_dump(lines, rules) or (dropped and default != "code"):
        yield from (ZonedLine(line.number, line.text, "env", index) for line in lines if line.text)
        return
    yield from _machine(lines, shapes, default, index, rules)


def _is_dump(lines: Sequence[NumberedLine], rules: ReadingRules) -> bool:
    start = rules.dump_start
    return start is not None and any(start.match(line.text) for line in lines[:6])


def _guess_default(lines: Sequence[NumberedLine], shapes: Sequence[str]) -> Zone:
    """The zone of lines without a shape of their own, in a fence that names no language."""
    if any(starts_other_code(line.text) for line in lines[:20]):
        return "code"
    plain = [
        line for line, shape in zip(lines, shapes, strict=True) if shape == "other" and line.text
    ]
    python = sum(line_shapes.continues_python(line.text) for line in plain)
    if plain and 2 * python >= len(plain) and any(line_shapes.looks_python(x.text) for x in plain):
        return "code"
    return "shell" if "shell" in shapes or "command" in shapes else "log"


def _machine(
    lines: Sequence[NumberedLine],
    shapes: Sequence[str],
    default: Zone,
    index: int,
    rules: ReadingRules,
) -> Iterator[ZonedLine]:
    """Lines of a fence: tracebacks, backtraces, logs and commands amid the fence's own kind."""
    inside = footer = False
    for line, shape in zip(lines, shapes, strict=True):
        footer = rules.in_footer(line.text, shape, footer)
        if not line.text:
            inside = False
            continue
        if rules.drops(line.text) or (footer and not rules.keeps(line.text)):
            continue
        if footer:
            yield ZonedLine(line.number, line.text, "log", index, line.prefix)
            continue
        zone, inside = _machine_zone(line.text, shape, default, inside)
        yield ZonedLine(line.number, line.text, zone, index, line.prefix)


def _machine_zone(text: str, shape: str, default: Zone, inside: bool) -> tuple[Zone, bool]:
    """The zone of a line and whether a traceback is still open after it."""
    if shape in ("header", "frame", "chain"):
        return "traceback", True
    if inside and shape in ("other", "error", "command"):
        return "traceback", True
    if shape == "command" and default == "code":
        return "code", False
    if shape == "error":
        return "traceback", True
    if shape == "log" and default == "code" and line_shapes.looks_python(text):
        return "code", False
    return _BY_SHAPE.get(shape, default), inside and shape == "stack"


def _prose(block: Block, index: int, rules: ReadingRules, dropped: bool) -> Iterator[ZonedLine]:
    lines = _stripped(block, rules)
    shapes = [line_shapes.shape_of(line.text) for line in lines]
    code = unfenced_code([line.text for line in lines], shapes)
    plain: Zone = "steps" if _STEP_SECTION.search(block.section) else "prose"
    state = _ProseState()
    found: list[ZonedLine] = []
    for at, (line, shape) in enumerate(zip(lines, shapes, strict=True)):
        zone = _prose_zone(line.text, shape, at in code, state, rules)
        if zone is None:
            continue
        if dropped and zone not in ("code", "traceback", "cpp"):
            zone = "env"
        elif zone == "prose" and (plain == "prose" or not _LIST_ITEM.match(line.text)):
            zone = "template" if line.text.strip().casefold() in rules.template_lines else "prose"
        elif zone == "prose":
            zone = plain
        command, said = _parted(line.text) if zone == "shell" else (line.text, "")
        found.append(ZonedLine(line.number, command, zone, index, line.prefix))
        if said:
            found.append(ZonedLine(line.number, said, plain, index, line.prefix))
    yield from _joined(found)


def _parted(text: str) -> tuple[str, str]:
    """A command in a code span, and the sentences that somebody goes on with behind it."""
    inline = _INLINE.match(text)
    said = text[inline.end() :].lstrip(" .,;:") if inline else ""
    return (text[: len(text) - len(said)], said) if len(said.split()) >= 6 else (text, "")


@dataclass(slots=True)
class _ProseState:
    inside: bool = False
    dump: bool = False
    footer: bool = False


def _prose_zone(
    text: str, shape: str, is_code: bool, state: _ProseState, rules: ReadingRules
) -> Zone | None:
    """The zone of a line outside any fence, or None for one that must not be read."""
    if not text:
        state.inside = state.footer = False
        return None
    if rules.footer_start is not None:
        state.footer = rules.in_footer(text, shape, state.footer)
        if state.footer:
            return "log" if rules.keeps(text) else None
    if rules.drops(text):
        return None
    if rules.dump_start and rules.dump_start.match(text):
        state.dump = True
    if state.dump:
        state.dump = len(text.split()) < 6 or line_shapes.looks_dumped(text)
        if state.dump:
            return "env"
    return _spoken_zone(text, shape, is_code, state)


def _spoken_zone(text: str, shape: str, is_code: bool, state: _ProseState) -> Zone:
    if shape in ("header", "frame", "chain"):
        state.inside = True
        return "traceback"
    if state.inside and (text[0] in " \t" or shape == "error"):
        return "traceback"
    state.inside = False
    if is_code:
        return "code"
    if shape in ("cpp", "log", "stack", "error"):
        return _BY_SHAPE[shape]
    if shape == "shell" or (shape == "command" and _RUN_ARGUMENT.search(text)):
        return "shell"
    inline = _INLINE.match(text) if "`" in text else None
    if inline and line_shapes.shape_of(inline[1]) == "command" and _RUN_ARGUMENT.search(inline[1]):
        return "shell"
    return "prose"


def _joined(lines: Sequence[ZonedLine]) -> Iterator[ZonedLine]:
    """Sentences that a person wrapped by hand, each as one line."""
    held: ZonedLine | None = None
    for line in lines:
        if held is not None and _wraps(held, line):
            text = f"{held.text} {line.text.strip()}"
            held = ZonedLine(held.number, text, held.zone, held.block, held.prefix, line.number)
            continue
        if held is not None:
            yield held
        held = line
    if held is not None:
        yield held


def _wraps(held: ZonedLine, line: ZonedLine) -> bool:
    if held.zone not in SPOKEN or line.zone != held.zone:
        return False
    adjacent = line.number == (held.last or held.number) + 1
    if not adjacent or len(held.text) > 4 * MAX_SEGMENT or _STARTS_ANEW.match(line.text):
        return False
    return len(held.text) >= 50 and not _ENDS_SENTENCE.search(held.text)
