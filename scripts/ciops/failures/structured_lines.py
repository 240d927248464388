"""Log lines that are records: JSON (also as an item of a YAML list) and logfmt.

    {"time":"…","level":"error","msg":"connection refused"}
    - {"dt": "…", "lvl": "exception", "msg": "login-action timed out after 897 seconds"}
    time="…" level=fatal msg="cannot start" error="port is taken"

What the program said is the message; what stands beside it in logfmt is kept, for errors put their
reason there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_JSON: Final = re.compile(r"\s{0,8}(?:- )?\{\s?\"")
_JSON_LEVEL: Final = re.compile(
    r"\"(?:lvl|level|severity|levelname|log\.level|@l)\"\s?:\s?\"(?P<level>\w{1,12})\""
)
_JSON_TEXT: Final = re.compile(
    r"\"(?:msg|message|@m|textPayload)\"\s?:\s?\"(?P<text>(?:[^\"\\]|\\.){1,4000})(?:\"|$)"
)
_LOGFMT: Final = re.compile(
    r"(?:(?:time|ts|t)=(?:\"[^\"]{1,40}\"|\S{1,40})\s{1,4})?(?:caller=\S{1,200} )?"
    r"level=(?P<level>\w{1,12})\s(?:\w{1,20}=\S{1,200} ){0,6}?"
    r"msg=(?:\"(?P<text>(?:[^\"\\]|\\.){0,4000})\"|(?P<word>\S+))"
)
_ESCAPED: Final = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<one>.))")
_PLAIN: Final = {"n": " ", "t": "\t", "r": " ", "b": "", "f": ""}


@dataclass(frozen=True, slots=True)
class Record:
    """What a record says, and how loudly in the logger's own word."""

    level: str
    text: str


def record(text: str) -> Record | None:
    """The record of a line, or None where it is none."""
    if text[:1] in '-{ "':
        return _of_json(text) if _JSON.match(text) else None
    return _of_logfmt(text) if "level=" in text else None


def _of_json(text: str) -> Record | None:
    level, said = _JSON_LEVEL.search(text), _JSON_TEXT.search(text)
    if level is None or said is None:
        return None
    return Record(level["level"], _unescaped(said["text"]))


def _of_logfmt(text: str) -> Record | None:
    match = _LOGFMT.match(text)
    if match is None:
        return None
    said = match["word"] or _unescaped(match["text"] or "")
    return Record(match["level"], said + text[match.end() :])


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    if match["code"]:
        code = chr(int(match["code"], 16))
        return code if code.isprintable() else ""
    return _PLAIN.get(match["one"], match["one"])
