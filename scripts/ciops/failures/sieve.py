"""Find the lines that deserve a look, at the speed of the bytes methods.

Logs repeat themselves: but for numbers, most lines are like one seen before. A block of lines is
reduced to its templates (lines without digits), and the set of templates minus those known to be
dull is usually empty. Only new templates are searched for the words that may announce a failure,
and only lines with such a word are read one by one.

A skeleton (a template without hexadecimal letters) stands for lines that differ in hashes. It
is dull when no word, reduced in the same way, can stand in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

_DIGITS: Final = b"0123456789"
_HEX: Final = b"abcdefABCDEF"
_MOST_KNOWN: Final = 20_000
_LONGEST_KNOWN: Final = 400
_MANY: Final = 0.3
_FEW: Final = 4


class Sieve:
    """Knows dull templates; bounded to some megabytes.

    What is dull is so in any trace: `beside` makes a sieve for another trace that shares it, in
    whatever thread.
    """

    __slots__ = ("_bare_words", "_dull", "_dull_skeletons", "_met", "_words")

    def __init__(self, words: Iterable[str]) -> None:
        self._words = tuple(sorted({word.lower().encode() for word in words}, key=len))
        self._bare_words = tuple({word.translate(None, _HEX) for word in self._words})
        self._dull: set[bytes] = set()
        self._dull_skeletons: set[bytes] = set()
        self._met: set[bytes] = set()

    def beside(self) -> Sieve:
        """A sieve that has met no line yet, and shares what is known to be dull."""
        other = Sieve.__new__(Sieve)
        other._words, other._bare_words = self._words, self._bare_words
        other._dull, other._dull_skeletons = self._dull, self._dull_skeletons
        other._met = set()
        return other

    def interesting(self, data: bytes) -> tuple[int, list[int]]:
        """How many lines a block has, and the indexes of those that must be read."""
        keys = data.translate(None, _DIGITS).split(b"\n")
        fresh = set(keys)
        fresh -= self._dull
        if len(fresh) > len(keys) * _MANY:
            fresh = self._without_dull_skeletons(fresh)
        wanted = self._with_words(fresh) if fresh else fresh
        if not wanted:
            return len(keys), []
        return len(keys), [index for index, key in enumerate(keys) if key in wanted]

    def holds_word(self, data: bytes) -> bool:
        """Whether a piece of text holds a word."""
        return _holds(data.lower(), self._words)

    def _without_dull_skeletons(self, fresh: set[bytes]) -> set[bytes]:
        """What is left of the templates of a log in which hashes make every line new."""
        skeletons = set(b"\n".join(fresh).translate(None, _HEX).split(b"\n"))
        skeletons -= self._dull_skeletons
        live = {one for one in skeletons if _holds(one.lower(), self._bare_words)}
        _learn(self._dull_skeletons, skeletons - live)
        if not live:
            return live
        return {key for key in fresh if key.translate(None, _HEX) in live}

    def _with_words(self, fresh: set[bytes]) -> set[bytes]:
        """The new templates that hold a word; the others are dull from now on."""
        words = self._words
        if len(fresh) > _FEW:
            blob = b"\n".join(fresh).lower()
            words = tuple(word for word in words if word in blob)
        wanted = {key for key in fresh if _holds(key.lower(), words)} if words else set()
        _learn(self._dull, fresh - wanted)
        return wanted

    def knows(self, raw: bytes) -> bool:
        """Whether lines like this one have turned out to be dull."""
        return raw.translate(None, _DIGITS) in self._dull

    def meets(self, raw: bytes) -> bool:
        """Whether a line like this one is met for the first time."""
        key = raw[:_LONGEST_KNOWN].translate(None, _DIGITS)
        if key in self._met:
            return False
        _learn(self._met, (key,))
        return True

    def is_dull(self, raw: bytes) -> None:
        """Lines that differ from this one in digits only need not be read again."""
        _learn(self._dull, (raw.translate(None, _DIGITS),))


def _learn(known: set[bytes], keys: Iterable[bytes]) -> None:
    if len(known) > _MOST_KNOWN:
        known.clear()
    known.update(key for key in keys if len(key) <= _LONGEST_KNOWN)


def _holds(key: bytes, words: Sequence[bytes]) -> bool:
    return any(word in key for word in words)
