"""Peel the prefixes that launchers, loggers and log viewers stack before a line.

`0: [rank1]:E1122 10:31:51.468000 1604271 torch/fake_tensor.py:2820] RuntimeError: …` is, under
its prefixes, a line of rank 0 (the outermost prefix names the process that printed it) that
was logged as an error. What is left is what the program said.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ciops.failures.framing import clean
from ciops.failures.structured_lines import record

ERROR: Final = "E"
WARNING: Final = "W"
INFO: Final = "I"
NO_LEVEL: Final = ""

_LEVELS: Final = {
    **dict.fromkeys(
        ("E", "F", "C", "ERROR", "ERR", "FATAL", "CRITI", "CRITICAL", "SEVERE", "EXCEPTION"), ERROR
    ),
    **dict.fromkeys(("EMERG", "ALERT", "CRIT", "PANIC"), ERROR),
    **dict.fromkeys(("W", "WARN", "WARNI", "WARNING"), WARNING),
    **dict.fromkeys(("I", "D", "V", "T", "INFO", "DEBUG", "TRACE", "NOTICE", "VERBOSE"), INFO),
}
_LEVEL_WORDS: Final = "|".join(sorted((w for w in _LEVELS if len(w) > 1), key=len, reverse=True))


@dataclass(frozen=True, slots=True)
class Peeled:
    """A line under its prefixes.

    `source` names the rank or process that printed it (empty where nothing says), `level` is one
    of `E`, `W`, `I` or empty, `text` keeps its own indentation.
    """

    text: str
    source: str = ""
    level: str = NO_LEVEL


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of prefix: groups `rank` or `name` say who speaks, `level` how loudly."""

    pattern: re.Pattern[str]
    outermost: bool = False
    accept: Callable[[re.Match[str]], bool] | None = None


def _kind(
    pattern: str, outermost: bool = False, accept: Callable[[re.Match[str]], bool] | None = None
) -> _Kind:
    return _Kind(re.compile(pattern), outermost, accept)


def _is_tag(match: re.Match[str]) -> bool:
    """Whether a word in brackets is a tag of a logger, not a verdict or a progress counter."""
    tag = match["tag"]
    return not (_VERDICT.match(tag) or _COUNTER.match(tag))


_VERDICT: Final = re.compile(
    r"(?i)\s|fail|pass|success|ok$|run$|skip|error\s|panic|fatal error|crash|timeout"
)
_COUNTER: Final = re.compile(r"^[\d\s/%.,x-]+$")

_TIME: Final = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_DATE: Final = r"\d{4}[-/.]\d\d[-/.]\d\d"
_TASKS: Final = "build|test|lint|check|typecheck|type-check|e2e|dev|format|compile|generate"
# After a time stands a level with its dashes and blanks, or a separator, or one blank: what is
# left keeps its indentation.
_AFTER_TIME: Final = (
    rf"(?:\s{{1,9}}(?:[|-]\s{{1,3}})?\[?(?P<level>{_LEVEL_WORDS})\]?(?=[\s:\]|-]|$)\s{{0,5}}(?:[-:|]\s?)?"
    r"|\s(?:std(?:out|err)\s[FP]\s|[|-]\s)|:\s|\s|$)"
)

_DIGIT: Final = (
    _kind(rf"{_DATE}T{_TIME}Z(?: |$)"),
    _kind(rf"{_DATE}[T ]{_TIME}(?:Z| ?[+-]\d\d:?\d\d| UTC)?{_AFTER_TIME}"),
    _kind(rf"{_TIME}{_AFTER_TIME}"),
    _kind(rf"\d\d[./]\d\d[./]\d{{2,4}}[ -]{_TIME}{_AFTER_TIME}"),
    _kind(r"(?P<rank>\d{1,5}):(?: |$)", outermost=True),
)
_BRACKET: Final = (
    _kind(r"\[[a-z_]{2,20}(?P<rank>\d{1,5})\]:\s?", outermost=True),
    _kind(
        r"\[(?:[\w.-]{1,80}@)?(?:\d{1,5},)?(?P<rank>\d{1,5})\](?:\[[\w.:-]{1,60}\])?"
        r"<std(?:out|err|diag)>:\s?",
        outermost=True,
    ),
    _kind(r"\[(?i:rank)[ :=_-]?(?P<rank>\d{1,5})\]:?\s?", outermost=True),
    _kind(r"\[(?P<level>[EWIDFVT])\]\s?"),
    _kind(rf"\[(?P<level>[EWIF])\s?\d{{0,4}}(?: {_TIME})? [\w./-]{{1,80}}:\d{{1,6}}\]\s?"),
    _kind(rf"\[(?P<level>(?i:{_LEVEL_WORDS}))\]:?\s?"),
    _kind(r"\[\w{1,30}:(?P<level>error|exception|warn|info)\]\s?"),
    _kind(r"\[\s*\d{1,10}\.\d{3,9}\]\s?"),
    _kind(r"\[[\w.-]{1,64}:\d{1,9}\s{0,3}:\s?\d{1,9}\]\s{0,8}"),
    _kind(rf"\[{_DATE} {_TIME} (?P<level>[EWIFDC]) \d{{1,9}} \d{{1,9}}\]\s?"),
    _kind(rf"\[(?:\w{{1,12}} )?(?:{_DATE}[T -])?{_TIME}(?:Z|[+-]\d\d:?\d\d)?\]\s?"),
    _kind(rf"\[\d\d/\d\d/\d{{4}}-{_TIME}\]\s?"),
    _kind(rf"\[\d\d/\w{{3}}/\d{{4}}[: ]{_TIME}(?: [+-]\d{{4}})?\]\s?"),
    _kind(r"\[(?P<tag>[\w.:/@#=+-][\w .:/@#=+-]{0,58})\](?: (?=\s{0,20}\S)|: )", accept=_is_tag),
)
_PAREN: Final = (
    _kind(
        r"\((?P<name>[A-Za-z_][\w.:<>-]{0,60})(?: [^()]{0,60})? pid=(?P<pid>\d{1,9})"
        r"(?:, ip=[\w.:]{1,40})?\)\s?",
        outermost=True,
    ),
    _kind(r"\((?P<name>pid)=(?P<pid>\d{1,9})(?:, ip=[\w.:]{1,40})?\)\s?", outermost=True),
)
_LETTER: Final = (
    _kind(
        rf"(?P<level>[IWEF])\d{{4}}(?:\d{{4}})? {_TIME}\s{{1,8}}\d{{1,9}} "
        r"[^\]\s]{1,200}:\d{1,6}\] ?"
    ),
    _kind(
        rf"(?P<level>{_LEVEL_WORDS})\s{{1,5}}(?:\d\d-\d\d|{_DATE}) {_TIME} (?:\[[^\]]{{1,120}}\] )?"
    ),
    _kind(r"(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL):(?P<logger>[\w.-]{1,80}):(?=\S)"),
    _kind(r"(?P<level>INFO|DEBUG)\s?[-:]?\s(?=\S)"),
    _kind(rf"[A-Z][a-z]{{2}} [ \d]\d {_TIME} [\w.-]{{1,64}} (?=\S)"),
    _kind(r"(?P<name>[a-z][\w.-]{0,60}[-_]\d{1,4})\s{1,30}\| ?"),
    _kind(r"(?P<name>[a-z][\w-]{1,40})> (?=\s*\S)"),
    _kind(rf"(?P<name>[a-z][\w.-]{{0,60}}:(?:{_TASKS})(?:[:-][\w-]{{1,30}})?): "),
    _kind(r"std(?:out|err) [FP] |BUILDSTD(?:ERR|OUT): ?"),
    _kind(r"(?P<level>DEBUG|INFO|WARNING|ERROR) [\w./]{1,60}\.py:\d{1,6}:\s{1,2}"),
    _kind(r"(?P<name>GECKO|PID)[( ](?P<pid>\d{1,9})\)? \| ?"),
    _kind(
        r"(?i:rank|worker|replica|process|proc|node|task)[ _#-]?(?P<rank>\d{1,5})\s?[:|>] ?", True
    ),
    _kind(
        rf"[\w./-]{{1,80}}\.(?:c|cc|cpp|cu|h|py|go):\d{{1,6}}\s{{1,4}}\w+\s{{1,4}}(?P<level>{_LEVEL_WORDS})\s"
    ),
)
_HASH: Final = (
    _kind(r"##\[(?P<level>error|warning|debug|notice)\]"),
    _kind(r"#(?P<rank>\d{1,4}) (?:\d{1,6}\.\d{1,3} ?)?(?=\s*\S)", outermost=True),
)
_AT: Final = (
    _kind(rf"(?P<name>@[\w.-]{{1,60}}/[\w.-]{{1,60}}:(?:{_TASKS})(?:[:-][\w-]{{1,30}})?): "),
)
_PLUS_INDENTED: Final = re.compile(r"\s{1,40}(?P<name>\+[a-z][\w.-]{0,60}) \| (?=\s*\S)")
_SYSLOG: Final = (_kind(r"<\d{1,3}>(?=\S)"),)
_EQUALS: Final = (
    _kind(r"==\d{1,9}== ?(?=\S)"),
    _kind(r"==> (?P<name>[a-z][\w.-]{1,60}): (?=\s*\S)"),
)
_PLUS: Final = (_kind(r"(?P<name>\+[a-z][\w.-]{0,60}) \| (?=\s*\S)"),)
_INDENTED_TAG: Final = (
    _kind(r"\s{1,8}\[(?:junit|java|exec|javac|testng|echo|groovyc|scalac)\] ?"),
    _kind(rf"\s{{1,8}}\[(?P<level>{_LEVEL_WORDS})\]:? "),
)
_BARS: Final = (
    _kind(r"\s{0,8}(?:[|│┃║]\s?)+(?=\s*\S)"),
    _kind(r"\s{0,8}╰─>\s?"),
    _kind(r"\s{0,8}×\s(?=\S)"),
)
# A progress bar that the next output was glued to: `35%|███ | 6/17 [00:18<00:33,  3.84s/it]Error`.
_PROGRESS: Final = re.compile(
    r"^[^\n]{0,120}?\d{1,3}%\|[^|]{0,200}\| ?[^\[\]]{0,40}\[[^\[\]]{0,60}\](?=\s*\S)"
)

_BY_FIRST: Final[dict[str, tuple[_Kind, ...]]] = {
    **dict.fromkeys("0123456789", _DIGIT),
    "[": _BRACKET,
    "(": _PAREN,
    "#": _HASH,
    "@": _AT,
    "=": _EQUALS,
    "+": _PLUS,
    "<": _SYSLOG,
    "|": _BARS,
    "│": _BARS,
    "┃": _BARS,
    "║": _BARS,
    "╰": _BARS,
    "×": _BARS,
}
_DEEPEST: Final = 12
_LOGGER: Final = re.compile(
    rf"(?:- )?(?P<logger>[A-Za-z_][\w.]{{0,80}}) - (?P<level>{_LEVEL_WORDS}) - (?=\S)"
)


def peel(text: str) -> Peeled:
    """The line under all its prefixes."""
    source, level = "", NO_LEVEL
    for depth in range(_DEEPEST):
        match = _next_prefix(text, depth, level)
        if match is None:
            said = record(text)
            if said is None:
                break
            level, text = _LEVELS.get(said.level.upper(), level), clean(said.text)
            continue
        groups = match.groupdict()
        source = source or _source(groups)
        level = _LEVELS.get((groups.get("level") or "").upper(), level)
        text = text[match.end() :]
    if "%|" in text:
        text = _PROGRESS.sub("", text).lstrip()
    return Peeled(text, source, level)


def _next_prefix(text: str, depth: int, level: str) -> re.Match[str] | None:
    first = text[:1]
    if not first:
        return None
    if first in " \t":
        return _indented(text)
    kinds = _BY_FIRST.get(first)
    if kinds is None:
        kinds = _LETTER if first.isalpha() else ()
    for kind in kinds:
        match = kind.pattern.match(text)
        if match is None or (kind.accept and not kind.accept(match)):
            continue
        if not kind.outermost or (depth < 4 and not (level and first.isdigit())):
            return match  # the number after a level is a code: "ERROR 404: Not Found"
    return _LOGGER.match(text) if depth else None


def _indented(text: str) -> re.Match[str] | None:
    """A bar under some indentation: an exception group's, pip's, a box; a task of Ant."""
    if "+" in text[:40] and " | " in text:
        return _PLUS_INDENTED.match(text)
    if "[" in text[:9]:
        return next((m for kind in _INDENTED_TAG if (m := kind.pattern.match(text))), None)
    if not any(bar in text[:12] for bar in "|│┃║╰×"):
        return None
    return next((m for kind in _BARS if (m := kind.pattern.match(text))), None)


def _source(groups: dict[str, str | None]) -> str:
    if rank := groups.get("rank"):
        return f"rank {int(rank)}"
    if name := groups.get("name"):
        return f"{name} {groups.get('pid') or ''}".strip()
    return ""
