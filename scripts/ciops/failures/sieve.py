"""Find the lines that deserve a look, at the speed of the bytes methods.

Logs repeat themselves: but for numbers, most lines are like one seen before. A block of lines is
reduced to its templates (lines without digits), and the set of templates minus those known to be
dull is usually empty. Only new templates are searched for the words that may announce a failure,
and only lines with such a word are read one by one.

A skeleton (a template without hexadecimal letters) stands for lines that differ in hashes. It
is dull when no word, reduced in the same way, can stand in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_DIGITS: Final = b"0123456789"
_HEX: Final = b"abcdefABCDEF"
_MOST_KNOWN: Final = 20_000
_LONGEST_KNOWN: Final = 400
_SHORTEST_BONE: Final = 3


class Sieve:
    """Knows dull templates; bounded to some megabytes."""

    __slots__ = ("_bones", "_dull", "_dull_bones", "_words")

    def __init__(self, words: Iterable[str]) -> None:
        self._words = tuple(sorted({word.lower().encode() for word in words}, key=len))
        bones = {word.translate(None, _HEX) for word in self._words}
        self._bones = tuple(b for b in bones if len(b) >= _SHORTEST_BONE)
        if len(self._bones) < len(bones):
            self._bones = ()  # some word leaves too little: skeletons prove nothing
        self._dull: set[bytes] = set()
        self._dull_bones: set[bytes] = set()

    def interesting(self, data: bytes) -> list[int]:
        """The indexes of the lines of a block that must be read."""
        keys = data.translate(None, _DIGITS).split(b"\n")
        fresh = set(keys)
        fresh -= self._dull
        if not fresh:
            return []
        wanted = self._with_words(fresh)
        if not wanted:
            return []
        return [index for index, key in enumerate(keys) if key in wanted]

    def _with_words(self, fresh: set[bytes]) -> set[bytes]:
        """The new templates that hold a word; the others are dull from now on."""
        blob = b"\n".join(fresh).lower()
        words = [word for word in self._words if word in blob]
        if not words:
            self._learn(fresh)
            return set()
        wanted = {key for key in fresh if _holds(key.lower(), words)}
        self._learn(fresh - wanted)
        return wanted

    def _learn(self, keys: set[bytes]) -> None:
        if len(self._dull) > _MOST_KNOWN:
            self._dull.clear()
        self._dull.update(key for key in keys if len(key) <= _LONGEST_KNOWN)

    def is_dull(self, raw: bytes) -> None:
        """Lines that differ from this one in digits only need not be read again."""
        self._learn({raw.translate(None, _DIGITS)})


def _holds(key: bytes, words: list[bytes]) -> bool:
    return any(word in key for word in words)
