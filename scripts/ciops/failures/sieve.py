"""Find the lines that deserve a look, at the speed of the bytes methods.

Logs repeat themselves: but for numbers, most lines are like one seen before. A block of lines is
reduced to its templates (lines without digits), and the set of templates minus those known to be
dull is usually empty. Only new templates are searched for the words that may announce a failure,
and only lines with such a word are read one by one.

Where digests make every line new, templates are reduced further: by what is left of a digest
without its digits.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

_DIGITS: Final = b"0123456789"
_MOST_KNOWN: Final = 20_000
_LONGEST_KNOWN: Final = 400
_LONGEST_RAW: Final = 2000
_MANY: Final = 0.1
# A digest: no pattern asks for one.
_DIGEST: Final = re.compile(rb"(?<![0-9A-Za-z])[0-9a-f]{8,}(?![0-9A-Za-z])")
_LETTERS_OF_DIGEST: Final = re.compile(rb"\b[a-f]+\b")
_LETTERS: Final = b"abcdef"
_FEW: Final = 4


class Sieve:
    """Knows dull templates; bounded to some megabytes.

    What is dull is so in any trace: `beside` makes a sieve for another trace that shares it, in
    whatever thread.
    """

    __slots__ = (
        *("_dull", "_dull_reduced", "_found", "_fragile", "_frames", "_leads", "_met", "_words"),
    )

    def __init__(self, words: Iterable[str]) -> None:
        self._words = tuple(sorted({word.lower().encode() for word in words}, key=len))
        self._fragile = tuple(word for word in self._words if _LETTERS_OF_DIGEST.search(word))
        # What a word begins with that a digest would complete.
        self._leads = tuple(
            word[: one.start()] for word in self._words for one in _LETTERS_OF_DIGEST.finditer(word)
        )
        self._frames: dict[bytes, tuple[bytes, bytes]] = {}
        self._dull: set[bytes] = set()
        self._dull_reduced: set[bytes] = set()
        self._met: set[bytes] = set()
        self._found = self._words[0] if self._words else b""

    def beside(self) -> Sieve:
        """A sieve that has met no line yet, and shares what is known to be dull."""
        other = Sieve.__new__(Sieve)
        other._words, other._fragile, other._leads = self._words, self._fragile, self._leads
        other._frames = self._frames
        other._dull, other._dull_reduced = self._dull, self._dull_reduced
        other._met = set()
        other._found = self._found
        return other

    def interesting(self, data: bytes) -> tuple[int, list[int]]:
        """How many lines a block has, and the indexes of those that must be read."""
        keys = data.translate(None, _DIGITS).split(b"\n")
        fresh = set(keys)
        fresh -= self._dull
        if len(fresh) > len(keys) * _MANY and len(data) < len(keys) * _LONGEST_KNOWN:
            wanted = self._without_digests(fresh)
        else:
            wanted = self._with_words(fresh, self._dull) if fresh else fresh
        if not wanted:
            return len(keys), []
        return len(keys), [index for index, key in enumerate(keys) if key in wanted]

    def holds_word(self, data: bytes) -> bool:
        """Whether a piece of text holds a word."""
        return _holds(data.lower(), self._words)

    def _without_digests(self, fresh: set[bytes]) -> set[bytes]:
        """What is left of the templates of a log in which digests make every line new."""
        keys = self._strange(list(fresh))
        if not keys:
            return set()
        blob = b"\n".join(keys)
        if self._fragile and _holds(blob.lower(), self._fragile):
            return self._with_words(set(keys), self._dull)
        reduced = _LETTERS_OF_DIGEST.sub(b"", blob).split(b"\n")
        new = set(reduced)
        new -= self._dull_reduced
        live = self._with_words(new, self._dull_reduced) if new else new
        for key, short in zip(keys, reduced, strict=True):
            if short not in live:
                self._learn_frame(key)
        return {key for key, short in zip(keys, reduced, strict=True) if short in live}

    def _strange(self, keys: list[bytes]) -> list[bytes]:
        """The templates that differ from dull ones in more than the letters of one digest.

        What has the letters of a frame but for those of digests, begins and ends as it does, can
        have nothing else in between.
        """
        frame = self._frames.get
        shapes = b"\n".join(keys).translate(None, _LETTERS).split(b"\n")
        return [
            key
            for key, shape in zip(keys, shapes, strict=True)
            if (around := frame(shape)) is None
            or not (key.startswith(around[0]) and key.endswith(around[1]))
        ]

    def _learn_frame(self, key: bytes) -> None:
        """What stands around the one digest of a dull template."""
        digest = _LETTERS_OF_DIGEST.search(key)
        if digest is None or len(key) > _LONGEST_KNOWN:
            return
        before, after = key[: digest.start()], key[digest.end() :]
        lower = before.lower()
        if _LETTERS_OF_DIGEST.search(after) or any(map(lower.endswith, self._leads)):
            return
        if len(self._frames) > _MOST_KNOWN:
            self._frames.clear()
        self._frames[key.translate(None, _LETTERS)] = (before, after)

    def _with_words(self, fresh: set[bytes], dull: set[bytes]) -> set[bytes]:
        """The new templates that hold a word; the others are dull from now on."""
        if len(fresh) > _FEW:
            keys = list(fresh)
            wanted = {keys[index] for index in _lines_with(keys, self._words)}
        else:
            wanted = {key for key in fresh if self._finds(key.lower())}
        _learn(dull, fresh - wanted)
        return wanted

    def _finds(self, key: bytes) -> bool:
        """Whether a template holds a word; that of the line before is tried first."""
        if self._found in key:
            return bool(self._words)
        word = next((word for word in self._words if word in key), None)
        self._found = word or self._found
        return word is not None

    def knows(self, raw: bytes) -> bool:
        """Whether lines like this one have turned out to be dull."""
        if len(raw) > _LONGEST_RAW:
            return False
        return raw.translate(None, _DIGITS) in self._dull or _reduced(raw) in self._dull

    def meets(self, raw: bytes) -> bool:
        """Whether a line like this one is met for the first time."""
        key = raw[:_LONGEST_KNOWN].translate(None, _DIGITS)
        if key in self._met:
            return False
        _learn(self._met, (key,))
        return True

    def is_dull(self, raw: bytes) -> None:
        """Lines that differ from this one in digits or digests only need not be read again."""
        key = raw.translate(None, _DIGITS)
        _learn(self._dull, (key, _reduced(raw)))
        _learn(self._dull_reduced, (_LETTERS_OF_DIGEST.sub(b"", key),))


def _reduced(raw: bytes) -> bytes:
    return _DIGEST.sub(b"", raw).translate(None, _DIGITS)


def _learn(known: set[bytes], keys: Iterable[bytes]) -> None:
    if len(known) > _MOST_KNOWN:
        known.clear()
    known.update(key for key in keys if len(key) <= _LONGEST_KNOWN)


def _holds(key: bytes, words: Sequence[bytes]) -> bool:
    return any(word in key for word in words)


def _lines_with(keys: Sequence[bytes], words: Sequence[bytes]) -> set[int]:
    """The indexes of the keys that hold a word: all are searched at once for each."""
    blob = b"\n".join(keys).lower()
    starts = [0, *accumulate(len(key) + 1 for key in keys)]
    found: set[int] = set()
    for word in words:
        at = blob.find(word)
        while at >= 0:
            index = bisect_right(starts, at) - 1
            found.add(index)
            at = blob.find(word, starts[index + 1])
    return found
