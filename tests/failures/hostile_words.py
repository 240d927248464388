"""Texts that must not act wherever a report shows them, and a report full of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import cycle
from typing import Any

from ciops.failures.report_model import Report
from failures.report_samples import usual

# Made-up secrets of known shapes: they must appear in no output.
SECRETS = ("glpat-AbCdEf0123456789WxYz", "ghp_" + "a1B2c3D4e5" * 4, "hf_" + "QwErTyUiOp" * 3)

# What a stranger may have put into a name, a message or a trace.
HOSTILE = {
    "script": "</script><script>window.ran = 1</script>",
    "comment": "<!--<script>window.ran = 1//-->",
    "handler": '"\'><img src=x onerror="window.ran = 1"><svg/onload=window.ran=1>',
    "style": "</style><style>*{display:none}</style><link rel=stylesheet href=http://evil.test/>",
    "address": "javascript:alert(1)",
    "data address": "data:text/html,<script>window.ran = 1</script>",
    "workflow command": "::set-output name=x::y",
    "workflow mask": "  ::add-mask::failed",
    "old workflow command": "before ##[error]boom",
    "folded": "</summary></details><h1>gone</h1>",
    "fence": "```\n# out of the fence\n~~~~\n````",
    "link": "[x](javascript:alert(1)) ![i](http://evil.test/i.png) <http://evil.test>",
    "markup": "*a* _b_ ~~c~~ `d` # e\n# f\n- g\n> h\n1. i\n---\n<b>j</b>",
    "mention": "@octocat @org/team ping@example.test",
    "reference": "#1 owner/repo#2 !3 GH-4 :tada:",
    "quick action": "/close\n/label ~bug",
    "formula": '=HYPERLINK("http://evil.test","x")',
    "formula after a separator": "x;=1+1\t=2+2",
    "plus": "+1+1",
    "minus": "-1+1",
    "at": "@SUM(1)",
    "wide formula": "\uff1d1+1",
    "tab": "\t=1+1",
    "return": "\r=1+1",
    "quotes": "a \"b\" 'c',d;e",
    "table": "a | b\n|--|--|\n| c || d |",
    "lines": "a\r\nb\rc\nd\u2028e\u2029f\x85g\x0bh",
    "bidi": "safe\u202eevil\u2066x\u2069\u200f\u061c",
    "hidden": "a\u200bb\ufeffc\u00add\U000e0041e",
    "colour": "\x1b[31mred\x1b[0m\x1b]8;;http://evil.test\x07link\x1b]8;;\x07",
    "controls": "a\x00b\x08c\x07d\x7fe\x9bf",
    "section": "section_start:1:x[collapsed=true]\r\x1b[0Kx",
    "mermaid": '"] ; click A href "javascript:alert(1)" %%{init: {"securityLevel":"loose"}}%%',
    "template": "{{ 7 * 7 }}{% raw %}{# x #}${7*7}",
    "message": "{n} {label} {text} {bucket} %s {0}",
    "surrogate": "a\ud800b",
    "secret": f"token {SECRETS[0]} and {SECRETS[1]} and {SECRETS[2]}",
    "long": "x" * 2500 + " " + "word " * 300,
    "empty": "",
    "spaces": "   ",
    "emoji": "👩‍👩‍👧 日本語 ﷽ é",
}
_KEPT = ("status", "evidence", "tracking_state", "blocker", "commit_source", "kind", "shard")


def poisoned(*texts: str) -> Report:
    """The usual report with the texts, in turn, wherever it holds somebody else's words."""
    return _poisoned(usual(), cycle(texts))


def _poisoned(value: Any, texts: Iterator[str]) -> Any:
    if isinstance(value, str):
        return next(texts)
    if isinstance(value, tuple):
        return tuple(_poisoned(one, texts) for one in value)
    if isinstance(value, Mapping):
        return {next(texts): next(texts)}
    if not is_dataclass(value):
        return value
    made: Any = type(value)
    facts = {one.name: getattr(value, one.name) for one in fields(value)}
    return made(**{k: v if k in _KEPT else _poisoned(v, texts) for k, v in facts.items()})
