"""Signatures: what two failures have in common when they are the same failure.

Masked is what varies from run to run and from model to model: numbers, addresses, shapes and
symbolic dimensions, ids, hosts, ranks, paths of machines, models, names of configuration classes.
Kept is what identifies: the exception, the words, operators and keys, the file and function in
which it was raised.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from ciops.failures.frames import Frame, OwnedFrame, is_language, short_path

_LONGEST: Final = 300

_NAME_MASKS: Final = tuple(
    (re.compile(pattern), mask)
    for pattern, mask in (
        (r"\x1b\[[0-9;]*m", ""),
        # <class 'transformers.models.x.configuration_x.XConfig'>, <x.Y object at 0x7f…>
        (r"<class '[^']{1,300}'>", "<class>"),
        (r"<[\w.]{1,200} object at 0x[0-9a-fA-F]+>", "<object>"),
        (r"\(Request ID: [^)]{0,200}\)|(?i:request[ _-]?id)\W{1,3}[\w=;-]{6,120}", "<request>"),
        (r"\bRoot=[\w;-]{6,100}", "<request>"),
        (r"(?i)\b[a-z][a-z0-9+.-]{1,12}://[^\s'\"<>)\]}]+", "<url>"),
    )
)
_NUMBER_MASKS: Final = tuple(
    (re.compile(pattern), mask)
    for pattern, mask in (
        (r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b", "<id>"),
        (r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?Z?)?", "<time>"),
        (r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b", "<time>"),
        (r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b", "<address>"),
        # models--org--name, org/name revisions, and what a hub caches under them
        (r"\bmodels--[\w.-]+?--[\w.-]+", "<model>"),
        (
            r"(?<![\w/.@-])[A-Za-z][\w.-]{1,60}/(?=[A-Za-z_.-]*\d)[\w.-]*[\w](?![\w/]|\.[a-z]|:\d)"
            r"(?<!\.[a-z])(?<!\.[a-z]{2})(?<!\.[a-z]{3})(?<!\.[a-z]{4})",
            "<model>",
        ),
        # node names of clusters: pool0-00412, gpu-a-017.cluster.local, node lyris0412
        (r"\b[a-z][a-z0-9]*(?:-[a-z0-9]+)*-\d{2,6}(?:\.[a-z][\w-]*)*\b", "<host>"),
        (r"\b[\w-]{1,63}(?:\.[\w-]{1,63}){0,6}\.(?:local|internal|lan|cluster|svc)\b", "<host>"),
        (r"(?i)(?<=\bnode )[a-z]{2,30}\d{1,6}\b|(?<=\bhost )[a-z]{2,30}\d{1,6}\b", "<host>"),
        (r"(?<= ON )[a-z][a-z-]{0,30}\d{1,6}\b", "<host>"),
        # values that a check refuses, and the parameters of a test: the key and the test stay
        (r"\binput_value=(?:'[^']{0,300}'|\"[^\"]{0,300}\"|[^,\]]{0,300})", "input_value"),
        (r"(?<=\w)\[[\w.,/+=-]{1,120}\](?= (?:FAILED|ERROR|PASSED|- )|$)", ""),
        (r"\brefs/pr/\d+", "<revision>"),
        # configuration classes of models: Qwen2_5OmniConfig
        (
            r"\b[A-Z]\w*(?:Config|ForCausalLM|ForConditionalGeneration|Model|Processor|Tokenizer(?:Fast)?)\b",
            "<config>",
        ),
        (r"\b0x[0-9a-fA-F]+\b", "#"),
        (r"\b(?=[a-f]*\d)[0-9a-f]{7,64}\b|\b(?=[A-F]*\d)[0-9A-F]{7,64}\b", "#"),
        # 2h0m0s, 1.5s, 90 min
        (
            r"\b\d+(?:\.\d+)?(?:h|min|[mun\u00b5]?s|m)(?:\s?\d+(?:\.\d+)?(?:h|min|[mun\u00b5]?s|m))*\b",
            "#",
        ),
        # versions: 2.7.1+cu128, v4.55.0.dev0
        (r"\bv?\d+(?:\.\d+){1,4}(?:\.?[a-z]{1,5}\d+)?(?:\+[\w.]{1,30})?\b(?!\.?[A-Za-z])", "#"),
        # sizes and symbolic dimensions: 8192x4096, s44*s70, 2*s17x512, 448*s21//2, u0
        (
            r"(?<![\w.])[su]?\d+(?:\s?(?://|[*+-])\s?[su]?\d+|[x\u00d7][su]?\d+)*(?!\w|\.\d)",
            "#",
        ),
        (r"\[(?:\s*[#\d][\d#.]*\s*,?)*\]|\((?:\s*[#\d][\d#.]*\s*,?)+\)", "<shape>"),
    )
)
_PATH: Final = re.compile(
    r"(?<![\w/.-])(?:[A-Za-z]:)?(?:[\\/]|\.{1,2}/)[\w.@+~%=-]+(?:[\\/][\w.@+~%=-]*)*"
)
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_SPACES: Final = re.compile(r"\s+")
_UNITS: Final = re.compile(r"# ?(?:[KMGTP]i?B|bytes|B|ms|us|s|min|h|%)\b")
_PLURAL: Final = re.compile(r"(# (?:\w+ )?\w{2,40}?)s\b")
# A list of one thing over and over is as long as the model is deep.
_REPEATED: Final = re.compile(r"(?<!\w)(['\"]?[\w<>#./-]{3,80}['\"]?)(?:, ?\1)+(?!\w)")
_LOOKED_AT: Final = 2000


def mask(text: str, names: Iterable[str] = ()) -> str:
    """The text with what varies masked; `names` (the model and its parts) are masked too."""
    text = text[:_LOOKED_AT]
    for name in names:
        text = re.sub(rf"(?i)(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", "<model>", text)
    for pattern, replacement in _NAME_MASKS:
        text = pattern.sub(replacement, text)
    text = _PATH.sub(_masked_path, text)
    for pattern, replacement in _NUMBER_MASKS:
        text = pattern.sub(replacement, text)
    text = _NUMBER.sub("#", text)
    text = _UNITS.sub("#", text)
    text = _PLURAL.sub(r"\1", text)
    text = _REPEATED.sub(r"\1", text)
    return _SPACES.sub(" ", text).strip()[:_LONGEST]


def _masked_path(match: re.Match[str]) -> str:
    """A path by its last part, whose numbers and random pieces are masked later."""
    path = match[0]
    last = re.split(r"[\\/]", path.rstrip("\\/"))[-1]
    if not _EXTENSION.search(last):
        return "<path>"
    return f"<path>/{_RANDOM.sub('#', last)}"


_EXTENSION: Final = re.compile(r"\w\.[A-Za-z][A-Za-z0-9]{0,11}$")
_RANDOM: Final = re.compile(r"(?=[a-z0-9_]*\d)(?=[a-z0-9_]*[a-z])[a-z0-9_]{8,}(?=\.|$)")


def model_names(model: str | None) -> tuple[str, ...]:
    """The texts that stand for a model: its full name and what follows the slash."""
    if not model:
        return ()
    last = model.rstrip("/").rpartition("/")[2]
    names = (model, model.replace("/", "--"), last)
    return tuple(sorted({n for n in names if len(n) > 3}, key=len, reverse=True))


def place(frame: OwnedFrame | None, frames: Sequence[Frame]) -> str:
    """Where it was raised: the innermost frame, and the innermost owned one when it is another."""
    parts = []
    raised = _raised_in(frames)
    if raised:
        parts.append(raised)
    if frame is not None and str(frame) not in parts:
        parts.append(str(frame))
    return " < ".join(parts)


def _raised_in(frames: Sequence[Frame]) -> str:
    for frame in reversed(frames):
        if is_language(frame.path) or not frame.path or _ASSERTING.match(frame.function):
            continue
        path = _without_random(short_path(frame.path))
        return f"{path}:{frame.function}" if frame.function else path
    return ""


def _without_random(path: str) -> str:
    """A path without what is named anew for each job or each compilation."""
    path = _MODULES.sub("<remote code>", path)
    path = _GENERATED.sub("<generated code>", path)
    return _OF_A_JOB.sub("/#", path)


# Code that a compiler writes: its file is named after a hash.
_GENERATED: Final = re.compile(
    r"^.*/(?:torchinductor_[^/]+|\.?triton[^/]*/cache|cutlass_cache)/.*$"
)
# Folders of one job: /scratch/5512888/, /tmp/tmpab12cd_x/, /tmp/pip-req-build-8f3a9c/
_OF_A_JOB: Final = re.compile(
    r"/(?=[^/]*\d{4}|tmp|[^/]*-(?=[^/-]*\d)[a-z0-9_]{6,}/)[\w.-]+(?=/)(?<!/tmp)"
)
# Functions of a language or of what compares for a test, by whose file nothing is told.
_ASSERTING: Final = re.compile(
    r"(?:(?:java|jdk|sun)\.|org\.(?:junit|opentest4j|assertj|hamcrest|testng)\.|kotlin\.test\.)"
)
# Code that a model repository brings along: its path is named after the model.
_MODULES: Final = re.compile(r"^.*transformers_modules/.*$")


def signature(
    exception: str | None,
    text: str,
    where: str,
    names: Iterable[str] = (),
) -> str:
    """One line that identifies a failure."""
    words = mask(text, names)
    parts = [words if exception and exception in words else f"{exception or ''} {words}".strip()]
    if where:
        parts.append(f"@ {where}")
    return " ".join(parts)


def words_of(text: str) -> str:
    """The words of a signature, without the exception and where it was raised."""
    words = text.partition(" @ ")[0]
    return _EXCEPTION.sub("", words)


_EXCEPTION: Final = re.compile(r"^[\w.]+(?:Error|Exception|\w): ")


def raised_at(text: str) -> str:
    """What tells a signature from others of its bucket's name: where it was raised, or words."""
    words, at, where = text.rpartition(" @ ")
    return where.rpartition("/")[2] if at else words.rpartition("|")[2][:40]
