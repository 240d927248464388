"""Tell at a glance whether a raw line is worth reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from ciops.failures import line_rules as roles
from ciops.failures.config_dump import DumpReader
from ciops.failures.framing import Visible, continues
from ciops.failures.knowledge import Knowledge
from ciops.failures.past_lines import seen
from ciops.failures.prefixes import ERROR, peel
from ciops.failures.sieve import Sieve
from ciops.failures.tracebacks import means_something

LINES_ABOVE: Final = 12
_LONG: Final = 8192
_MANY_STATES: Final = 64
_STATES_BELOW: Final = 60
_LONGEST_LEARNT: Final = 2000
_LONGEST_BLOCK: Final = 60
_OFTEN: Final = 100
_MOST_COUNTED: Final = 2000
_MOST_VIVID: Final = 4000
_DIGITS: Final = b"0123456789"
_HEADER: Final = b"Traceback (most recent call last):"


class Glance:
    """Looks at single lines with the knowledge of all rules, and remembers what is dull."""

    __slots__ = ("_dump", "_knowledge", "_last", "_sieve", "_told", "_vivid")

    def __init__(self, knowledge: Knowledge, sieve: Sieve) -> None:
        self._knowledge = knowledge
        self._sieve = sieve
        self._dump = DumpReader(knowledge.hints)
        self._told: Counter[bytes] = Counter()
        self._last: tuple[int, bytes] = (0, b"")
        self._vivid: set[bytes] = set()

    def is_dull(self, raw: bytes) -> bool:
        """Whether neither this line nor one that differs in numbers only means anything."""
        if len(raw) > _LONGEST_LEARNT:
            return False
        template = raw.translate(None, _DIGITS)
        if template in self._vivid:
            return False
        if self._sieve.knows(raw):
            return True
        if continues(raw) or b"section_" in raw:
            return False
        if any(self._means(visible) for visible in seen([(1, raw)])):
            self._remember(template)
            return False
        self._sieve.is_dull(raw)
        return True

    def _remember(self, template: bytes) -> None:
        """Lines that differ in numbers only need not be looked at again: they mean something."""
        if len(self._vivid) >= _MOST_VIVID:
            self._vivid.clear()
        self._vivid.add(template)

    def _means(self, visible: Visible) -> bool:
        """Whether a line means something, or would with other numbers."""
        peeled = peel(visible.text)
        text = peeled.text.strip()
        return (
            not self._knowledge.classifier.is_nothing(text, peeled.level)
            or (peeled.level == ERROR and self._knowledge.classifier.say(text, ERROR) is None)
            or means_something(text)
            or next(self._knowledge.observer.all(text), None) is not None
            or self._dump.starts(text)
        )

    def is_grave(self, raw: bytes) -> bool:
        """Whether a line says what failed, or that something above it did."""
        return any(self._says_failure(visible) for visible in seen([(1, raw)]))

    def _says_failure(self, visible: Visible) -> bool:
        peeled = peel(visible.text)
        said = self._knowledge.classifier.say(peeled.text.strip(), peeled.level)
        return said is not None and said.rule.role in (roles.WRAPPER, roles.CAUSE)

    def thinned(self, raw: bytes) -> bytes:
        """An over-long line without the states that were overwritten and mean nothing."""
        if len(raw) < _LONG or raw.count(b"\r") < _MANY_STATES:
            return raw
        states = raw.split(b"\r")
        _, indexes = self._sieve.interesting(raw.replace(b"\r", b"\n"))
        kept = {0, len(states) - 1}
        for index in indexes:
            if not self.is_dull(states[index]):
                kept.update(range(index - LINES_ABOVE, index + _STATES_BELOW + 1))
        return b"\r".join(state for index, state in enumerate(states) if index in kept)

    def told_often(self, lines: Sequence[bytes], index: int) -> int:
        """How many lines a traceback at `index` has that was told many times before, else 0."""
        if _HEADER not in lines[index]:
            return 0
        size, last = self._last
        told = b"\n".join(lines[index : index + size]).translate(None, _DIGITS)
        if told != last or not size:  # most often it is the one told last
            size, told = _block(lines, index)
            self._last = size, told
        if not size:
            return 0
        if len(self._told) >= _MOST_COUNTED:
            self._told.clear()
        self._told[told] += 1
        return size if self._told[told] > _OFTEN else 0


def _block(lines: Sequence[bytes], index: int) -> tuple[int, bytes]:
    """The lines of a traceback that begins at `index`: how many, and without digits."""
    indent = lines[index].find(_HEADER)
    prefix = lines[index][:indent].translate(None, _DIGITS)
    told = [lines[index].translate(None, _DIGITS)]
    for line in lines[index + 1 : index + _LONGEST_BLOCK]:
        told.append(line.translate(None, _DIGITS))
        if not told[-1].startswith((prefix + b" ", prefix + b"\t")):
            return len(told), b"\n".join(told)
    return 0, b""
