"""A Markdown text as sentences of prose: no code, quotes, logs or addresses, and persons marked.

Each character of a sentence knows where it stands in the source, so a finding can show the author's
own words and their line.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ciops.plumbing.pattern_reading import Branches
from ciops.postmortem.blocks import only_line, parser
from ciops.postmortem.inline_tokens import is_cjk, tokens
from ciops.postmortem.patterns import specialised, text_of, tree, within
from ciops.postmortem.prose_rules import CODE, PERSON, QUOTE, Guide

Span = tuple[int, int]
LONGEST_SENTENCE: Final = 1_000
_QUOTES: Final = re.compile(
    r"“[^”\n]{1,400}”|\"[^\"\n]{1,400}\"|「[^」\n]{0,400}」|『[^』\n]{0,400}』|«[^»\n]{1,400}»"
    r"|‘[^’\n]{2,400}’(?!\w)|(?<!\w)'[^'\n]{2,200}'(?!\w)"
)
_END: Final = re.compile(r"[.!?][ \n]+(?=[^a-z ])|[。！？]+|\n+")
# A first name and, where there is one, a family name.
_CAPITALISED: Final = re.compile(
    r"(?<![\w@./-])(?P<head>[A-ZÀ-Þ][a-zà-ÿł]+)(?:-[A-ZÀ-Þ][a-zà-ÿ]+)?"
    r"(?: (?:(?:de|van|von|di|el|al) )?[A-ZÀ-Þ][a-zà-ÿ]+)?(?![A-Za-z0-9_(/@])"
)
_ABBREVIATED: Final = re.compile(r"\b(?:e\.g|i\.e|cf|vs|etc|Dr|M|no|approx|env)$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` is what the rules read; `spans` says where each of its characters is in `source`.

    `before` and `after` are the sentences around it in its paragraph.
    """

    text: str
    spans: tuple[Span, ...]
    source: str
    line: int
    paragraph: int
    before: str = ""
    after: str = ""

    def phrase(self, start: int, end: int) -> str:
        """The author's words behind a part of the sentence."""
        begin, stop = self.spans[start][0], self.spans[end - 1][1]
        return self.source[begin:stop]

    def line_of(self, start: int) -> int:
        """The line of a character, counted from 0 in the whole text."""
        return self.line + self.source.count("\n", 0, self.spans[start][0])


@dataclass(slots=True)
class _View:
    text: str
    spans: list[Span]

    def replaced(
        self, pattern: re.Pattern[str], mark: str, heads: Container[str] | None = None
    ) -> _View:
        """Every match as one marking character; with `heads`, those whose `head` is among them."""
        text, spans, position = "", list[Span](), 0
        for match in pattern.finditer(self.text):
            start, end = match.span()
            if start == end or (heads is not None and match["head"] not in heads):
                continue
            text += self.text[position:start] + mark
            spans += self.spans[position:start]
            spans.append((self.spans[start][0], self.spans[end - 1][1]))
            position = end
        if not position:
            return self
        return _View(text + self.text[position:], spans + self.spans[position:])


def sentences(
    texts: Sequence[str], guide: Guide, names: Branches | None
) -> Iterator[list[Sentence]]:
    """The sentences of each of some texts; `names` finds the persons that the record names."""
    paragraphs = [list(_paragraphs(text)) for text in texts]
    views = [_prose(source, guide) for found in paragraphs for source, _ in found]
    marked = iter(_with_persons(views, guide, names))
    for found in paragraphs:
        yield [
            sentence
            for number, (source, line) in enumerate(found)
            for sentence in _sentences(next(marked), source, line, number)
        ]


def _sentences(view: _View, source: str, line: int, number: int) -> Iterator[Sentence]:
    """The sentences of one paragraph."""
    pieces = list(_cut(view))
    texts = ["", *(view.text[start:end] for start, end in pieces), ""]
    for index, (start, end) in enumerate(pieces, 1):
        spans = tuple(view.spans[start:end])
        yield Sentence(
            texts[index], spans, source, line, number, texts[index - 1], texts[index + 1]
        )


def _paragraphs(markdown: str) -> Iterator[tuple[str, int]]:
    """Source and first line of every block of prose; quotes, code and their like are left out."""
    line = only_line(markdown)
    if line:
        yield line, 0
        return
    quotes = 0
    for token in parser().parse(markdown):
        if token.type == "blockquote_open":
            quotes += 1
        elif token.type == "blockquote_close":
            quotes -= 1
        elif token.type == "inline" and not quotes:
            yield token.content, token.map[0] if token.map else 0


def _prose(source: str, guide: Guide) -> _View:
    view = _plain(_without_logs(source, guide.log_lines.regex))
    view.text = view.text.replace("’", "'").replace("\u00a0", " ").replace("\u202f", " ")
    return view.replaced(_QUOTES, QUOTE).replaced(guide.bare_code.regex, CODE)


def _with_persons(views: list[_View], guide: Guide, names: Branches | None) -> list[_View]:
    """Every person as one mark; what finds them is compiled once for all the texts."""
    named = specialised(names, text_of(_joined(views))) if names else None
    if named:
        views = _replaced(views, re.compile(named))
    views = [view.replaced(_CAPITALISED, PERSON, guide.given_names) for view in views]
    for people in guide.people:
        pattern = people.within(_joined(views))
        if pattern:
            views = _replaced(views, pattern)
    return views


def _joined(views: Iterable[_View]) -> str:
    return "\n".join([view.text for view in views])


def _replaced(views: Iterable[_View], pattern: re.Pattern[str]) -> list[_View]:
    return [view.replaced(pattern, PERSON) for view in views]


def _without_logs(source: str, log_lines: re.Pattern[str]) -> str:
    """A source of the same length with log lines blanked."""
    lines = source.split("\n")
    return "\n".join(" " * len(line) if log_lines.match(line) else line for line in lines)


def _plain(source: str) -> _View:
    """What a reader sees, code and addresses as marks, styles gone."""
    text, spans = "", list[Span]()
    for token in tokens(source):
        piece, where = _piece(source, token.kind, (token.start, token.end), token.inner)
        text += piece
        spans += where
    return _View(text, spans)


def _piece(source: str, kind: str, span: Span, inner: Span) -> tuple[str, list[Span]]:
    start, end = inner
    if kind in ("code", "verbatim", "url"):
        return CODE, [span]
    if kind == "mark":
        return "", []
    if kind == "hard":
        return "\n", [span]
    if kind == "soft":
        around = source[span[0] - 1 : span[0]] + source[span[1] : span[1] + 1]
        return ("", []) if len(around) == 2 and is_cjk(around) else (" ", [span])
    if kind == "link":
        label = _plain(source[start:end])
        return label.text, [(a + start, b + start) for a, b in label.spans]
    return source[start:end], [(index, index + 1) for index in range(start, end)]


def _cut(view: _View) -> Iterator[Span]:
    position = 0
    for match in _END.finditer(view.text):
        mark = match.group()[0]
        if mark == "." and _ABBREVIATED.search(view.text, position, match.start()):
            continue
        yield from _bounded_spans(position, match.start() + (mark != "\n"))
        position = match.end()
    yield from _bounded_spans(position, len(view.text))


def _bounded_spans(start: int, end: int) -> Iterator[Span]:
    """A sentence in pieces that no pattern takes long over; nobody writes such a sentence."""
    for begin in range(start, end, LONGEST_SENTENCE):
        yield begin, min(begin + LONGEST_SENTENCE, end)


def name_pattern(names: Iterable[str]) -> Branches | None:
    """A pattern for persons' names: whole, and each part of a name of several words."""
    parts = {part for name in names for part in (name, *name.split()) if len(part) > 1}
    either = "|".join(_bounded(part) for part in sorted(parts, key=lambda part: (-len(part), part)))
    honorific = "(?: ?(?:さん|氏|君|くん|様))?"
    return tree(f"(?:{either}){honorific}", {}) if either else None


def _bounded(name: str) -> str:
    """A name that is not part of a longer word of its own script."""
    for script in ("A-Za-z0-9_À-ÿ", "一-龥々", "ァ-ヶー"):
        regex = within(f"^[{script}.'’@ -]+$", name)
        if regex and regex.search(name):
            return f"(?<![{script}/.@-]){re.escape(name)}(?![{script}])"
    return re.escape(name)
