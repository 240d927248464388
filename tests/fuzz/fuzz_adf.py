"""Markdown at random, as every body of a record: the ADF is valid and nothing of it is lost.

    .venv/bin/python tests/fuzz/fuzz_adf.py --seconds 600

What fails is printed as Markdown, and the exit status is 1. A finding is kept as a case of
tests/postmortem, not here.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests"), str(ROOT / "tests" / "fuzz")]

from campaign import campaign  # noqa: E402

from ciops.postmortem.adf import render_adf  # noqa: E402
from ciops.postmortem.document import build  # noqa: E402
from ciops.postmortem.gfm import render_gfm  # noqa: E402
from ciops.postmortem.references import Links  # noqa: E402
from ciops.postmortem.wiki_markup import render_wiki  # noqa: E402
from ciops.postmortem.wording import load_words  # noqa: E402
from postmortem.records import changed, read  # noqa: E402
from postmortem.test_pm_property import PIECES, seen, squeezed  # noqa: E402
from postmortem.visible import adf_problems, of_adf, of_markdown  # noqa: E402

LONGEST = 2.0
LANGUAGES = ("en", "ja", "fr")
WORDS = {language: load_words(language) for language in LANGUAGES}
MORE = (
    *(
        "> ",
        "\n> > ",
        "\n- - - ",
        "\n1. - > ",
        "\n   ",
        "\n      ",
        "\n~~~~\n",
        "\n<div>\n",
        "\n</div>\n",
    ),
    *(
        "<script>",
        "<!-- ",
        "-->",
        "<?",
        "<![CDATA[",
        "[a]: https://b.c\n",
        "\n[a]\n",
        "[a][b]",
        "[^1]",
    ),
    *("[x](javascript:alert(1))", "[x](data:text/html,y)", "<javascript:x>", "[x](//evil.example)"),
    *('[x](https://a.b "t")', "![i](https://a.b/c.png)", "<https://a.b>", "https://a.b/(c)_d*e*"),
    *(
        "{noformat}",
        "{color:red}",
        "{{",
        "}}",
        "||",
        "h1. ",
        "----",
        "(!)",
        "(/)",
        "{panel}",
        "[^att]",
    ),
    *(
        "\u202e",
        "\u200b",
        "\u200d",
        "\ufeff",
        "\u2028",
        "e\u0301",
        "👩‍👩‍👧",
        "𠮷",
        "「",
        "」",
        "、",
        "\r\n",
    ),
    *(
        "- [ ] ",
        "- [x] ",
        "***",
        "___",
        "**a*b**c*",
        "~~",
        "~",
        "\\\n",
        "  \n",
        "&#0;",
        "&#x202e;",
        "&nbsp;",
    ),
)


def case(chance: random.Random) -> tuple[str, str]:
    return markdown(chance), chance.choice(LANGUAGES)


def markdown(chance: random.Random) -> str:
    """Some pieces in a row; now and then one of them many times."""
    pieces = chance.choices((*PIECES, *MORE), k=chance.randint(1, 16))
    return "".join(piece * chance.choice((1,) * 12 + (2, 9, 60)) for piece in pieces)


def attempt(made: tuple[str, str]) -> None:
    """A text is rendered whole and valid."""
    text, language = made
    bodies = {"summary": text or "x", "symptom": text, "why_symptom": text}
    checked = {
        "original_reproduction": {"result": "pass", "evidence": text},
        "workloads": [{"name": text, "result": "pass", "evidence": text}],
    }
    record = read(changed(language=language, validation=checked, **bodies)).record
    document = build(record, WORDS[record.language], Links())
    adf, wanted = render_adf(document), seen(document)
    problems = adf_problems(adf)
    assert not problems, problems
    same(squeezed(of_markdown(render_gfm(document))), wanted, "Markdown")
    lost(squeezed(of_adf(adf)), wanted)
    assert render_wiki(document)
    for link in links(adf):
        assert link.startswith(("https://", "http://", "mailto:", "#")), link
    assert json.dumps(adf) == json.dumps(render_adf(build(record, WORDS[record.language], Links())))


def same(shown: str, wanted: str, name: str) -> None:
    pairs = enumerate(zip(f"{shown}$", f"{wanted}$", strict=False))
    at = next((at for at, (one, other) in pairs if one != other), 0)
    near = slice(max(0, at - 15), at + 25)
    assert shown == wanted, f"{name} shows {shown[near]!r} for {wanted[near]!r}"


def lost(shown: str, wanted: str) -> None:
    """ADF may say more (the address of a relative link, which it cannot hold) but not less."""
    rest = iter(shown)
    for at, character in enumerate(wanted):
        assert character in rest, f"ADF lost {wanted[max(0, at - 15) : at + 25]!r}"


def links(node: dict[str, Any]) -> Iterator[str]:
    for mark in node.get("marks", ()):
        if mark["type"] == "link":
            yield mark["attrs"]["href"]
    for child in node.get("content", ()):
        yield from links(child)


if __name__ == "__main__":
    raise SystemExit(campaign(str(__doc__), case, attempt, lambda _: LONGEST))
