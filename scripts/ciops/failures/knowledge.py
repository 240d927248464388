"""Everything configuration says about traces and buckets, loaded once.

A configuration file may extend others, that lie beside it or come with the suite: their lines,
observations and buckets come after its own, so the specific is asked before the general.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ciops.failures import line_rules as roles
from ciops.failures.bucket_rules import BucketRule, read_bucket_rules
from ciops.failures.config_dump import HintRules
from ciops.failures.frames import Root
from ciops.failures.line_rules import Classifier, LineRule, read_rules
from ciops.plumbing.pattern_trial import TOO_LONG, stalls_on
from ciops.plumbing.yaml_file import Document, Reader, load, nearest, shown

KEYS: Final = (
    *("name", "version", "extends", "watch", "lines", "observations", "specific_forms", "hints"),
    *("progress", "owners", "components", "buckets", "jobs", "scope", "tracking"),
)
_HINTED: Final = (roles.HINT,)
SHIPPED: Final = Path(__file__).resolve().parents[3] / "config" / "pipeline-failure-report"


@dataclass(frozen=True, slots=True)
class Owner:
    """Who owns code or infrastructure.

    `repository` is `owner/name` or a GitLab path, empty for owners without one. `verified` owners
    may get a change; `home` is where others' issues go. The `default` owner is the owner of the
    workloads.
    """

    name: str
    repository: str = ""
    forge: str = "github"
    branch: str = "main"
    verified: bool = False
    default: bool = False
    home: str = ""


@dataclass(frozen=True, slots=True)
class SpecificForm:
    """An exception of a chain that says what the one before it says, more specifically."""

    general: re.Pattern[str]
    specific: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Component:
    """The component that files of an owner's repository belong to, for names of buckets."""

    owner: str
    pattern: re.Pattern[str]
    name: str


@dataclass(frozen=True, slots=True)
class JobNames:
    """How job names tell the parts of a workload apart: a group `part` (1, 2, 3).

    `around` owns what fails in the parts around a workload, in nobody's code.
    """

    pattern: re.Pattern[str] | None = None
    workload_part: str = "2"
    around: str = ""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known about traces, and how failures are put into buckets."""

    name: str
    version: str
    words: tuple[str, ...]
    lines: tuple[LineRule, ...]
    observations: tuple[LineRule, ...]
    classifier: Classifier
    hinter: Classifier
    observer: Classifier
    specific_forms: tuple[SpecificForm, ...]
    hints: HintRules
    progress: re.Pattern[str] | None
    owners: tuple[Owner, ...]
    roots: tuple[Root, ...]
    components: tuple[Component, ...]
    buckets: tuple[BucketRule, ...]
    jobs: JobNames
    documents: tuple[Document, ...]

    @property
    def default_owner(self) -> Owner:
        """The owner of the workloads."""
        return next((owner for owner in self.owners if owner.default), self.owners[0])

    def owner(self, name: str) -> Owner:
        """An owner by name; one that no configuration describes owns no repository."""
        return next((owner for owner in self.owners if owner.name == name), Owner(name))

    def is_specific_form(self, general: str, specific: str) -> bool:
        """Whether the second of two linked exceptions is the better name of the failure."""
        return any(
            form.general.search(general) and form.specific.search(specific)
            for form in self.specific_forms
        )


def load_knowledge(path: str | Path) -> Knowledge:
    """Load a configuration with all it extends; raises DocumentError (a UsageError)."""
    readers = [Reader(document) for document in _documents(Path(path), (), set())]
    for reader in readers:
        reader.mapping(KEYS)
        _refuse_wrong_patterns(reader)
    return _assemble(readers)


def _documents(path: Path, above: tuple[Path, ...], read: set[Path]) -> Iterator[Document]:
    """A configuration and what it extends; what is extended twice counts once."""
    document = load(path)
    read.add(path.resolve())
    yield document
    reader = Reader(document)
    for name in reader.texts("extends", ()):
        other = _extended(path, name, reader)
        if other.resolve() in {p.resolve() for p in (*above, path)}:
            raise reader.error(f"{name!r} extends itself", "Remove it", "extends")
        if other.resolve() not in read:
            yield from _documents(other, (*above, path), read)


def _extended(path: Path, name: str, reader: Reader) -> Path:
    """The file beside a configuration, or else the suite's own of that name.

    Never one elsewhere: a message about a file that is none would show what stands in it.
    """
    if name != Path(name).name:
        step = "Name a file beside this one, or one of the suite"
        raise reader.error(f"{shown(name)} is no plain file name", step, "extends")
    places = (path.parent / name, SHIPPED / name)
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        close = nearest(name, [one.name for one in SHIPPED.glob("*.yml")])
        step = f"Did you mean {shown(close)}?" if close else "Check its name"
        problem = f"{shown(name)} is neither beside this file nor one of the suite"
        raise reader.error(problem, step, "extends")
    return found


_PATTERNS: Final = (
    *("pattern", "below", "text", "exception", "frame", "raised_in", "job_reason", "unreadable"),
)


def _refuse_wrong_patterns(reader: Reader) -> None:
    """DocumentError for a pattern of one's own that does not compile, or could stall a scan."""
    if _is_shipped(reader):
        return
    for item in (*reader.items("lines"), *reader.items("observations")):
        _refuse_wrong(item, f"rule {item.text('id')}")
    for one in reader.items("buckets"):
        for condition in (one.child("when"), *one.items("unless")):
            _refuse_wrong(condition, f"bucket {one.text('name')}")


def _refuse_wrong(item: Reader, whose: str) -> None:
    for key in filter(item.has, _PATTERNS):
        compiled(item, key, whose)


def _is_shipped(reader: Reader) -> bool:
    """Whether the suite's own tests have tried the patterns."""
    return Path(reader.document.name).resolve().parent == SHIPPED


def _assemble(readers: Sequence[Reader]) -> Knowledge:
    first = readers[0]
    lines = tuple(rule for reader in readers for rule in read_rules(reader.items("lines")))
    seen = tuple(rule for reader in readers for rule in _observations(reader))
    owners = tuple(owner for reader in readers for owner in _owners(reader))
    hints = _hints(next((r for r in readers if r.has("hints")), first))
    if not first.mapping(KEYS):
        step = "Begin with a copy of examples/smallest-rules/failure-rules.yml"
        raise first.error("is empty", step)
    if not owners:
        raise first.error("no owner is configured", "Add at least one under owners", "owners")
    spoken = tuple(rule for rule in lines if rule.role not in _HINTED)
    return Knowledge(
        name=first.text("name"),
        version=first.text("version"),
        words=_words(readers, seen, hints),
        lines=lines,
        observations=seen,
        classifier=Classifier(spoken),
        hinter=Classifier(lines),
        observer=Classifier(seen),
        specific_forms=tuple(form for reader in readers for form in _forms(reader)),
        hints=hints,
        progress=next((compiled(r, "progress") for r in readers if r.has("progress")), None),
        owners=owners,
        roots=tuple(root for reader in readers for root in _roots(reader)),
        components=tuple(part for reader in readers for part in _components(reader)),
        buckets=tuple(b for reader in readers for b in read_bucket_rules(reader.items("buckets"))),
        jobs=_jobs(next((r for r in readers if r.has("jobs")), first)),
        documents=tuple(reader.document for reader in readers),
    )


def _words(
    readers: Sequence[Reader],
    seen: Sequence[LineRule],
    hints: HintRules,
) -> tuple[str, ...]:
    """What a line must hold to be read on its own account: shortest words only."""
    words = {word.lower() for reader in readers for word in reader.texts("watch", ())}
    words.update(word for rule in seen for word in rule.words)
    words.update(word.lower() for word in hints.words)
    ordered = sorted(words, key=len)
    return tuple(
        word for i, word in enumerate(ordered) if not any(other in word for other in ordered[:i])
    )


def compiled(reader: Reader, key: str, whose: str = "") -> re.Pattern[str]:
    """The pattern under `key`; DocumentError when it is none, or could stall whoever scans.

    `whose` names the rule that it is of. No search can be cut off in the threads that read traces,
    so a pattern of one's own is tried before any is read.
    """
    text, of = reader.text(key), f"{whose}: " if whose else ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)  # `[[:space:]]`: not what it is elsewhere
            pattern = re.compile(text)
    except (re.error, FutureWarning) as error:
        problem = f"{of}no regular expression: {error}"
        raise reader.error(problem, "Escape it or mend it", key) from None
    piece = "" if _is_shipped(reader) else stalls_on(pattern)
    if piece:
        problem, _, step = too_slow(piece).partition(". ")
        raise reader.error(f"{of}{shown(text)} {problem}", step, key)
    return pattern


def too_slow(piece: str) -> str:
    """What is said of a pattern that could stall a scan."""
    problem = f"takes over {TOO_LONG:g} s on repeated {shown(piece)}"
    return f"{problem}. Bound its repetitions"


def _observations(reader: Reader) -> Iterator[LineRule]:
    for item in reader.items("observations"):
        item.mapping(("id", "pattern", "words", "matches", "near_misses"))
        yield LineRule(
            id=item.text("id"),
            role="observation",
            source=item.text("pattern"),
            words=tuple(word.lower() for word in item.texts("words")),
            matches=item.texts("matches", ()),
            near_misses=item.texts("near_misses", ()),
        )


def _forms(reader: Reader) -> Iterator[SpecificForm]:
    for item in reader.items("specific_forms"):
        item.mapping(("general", "specific"))
        yield SpecificForm(compiled(item, "general"), compiled(item, "specific"))


def _hints(reader: Reader) -> HintRules:
    if not reader.has("hints"):
        return HintRules()
    item = reader.child("hints")
    item.mapping(("start", "words", "model", "keys", "commit"))
    return HintRules(
        start=compiled(item, "start"),
        words=item.texts("words"),
        model=item.text("model", "model"),
        keys=item.texts("keys", ()),
        commit=item.texts("commit", ()),
    )


def _owners(reader: Reader) -> Iterator[Owner]:
    for item in reader.items("owners"):
        item.mapping(
            ("name", "repository", "forge", "branch", "verified", "default", "home", "roots")
        )
        yield Owner(
            name=item.text("name"),
            repository=item.text("repository", ""),
            forge=item.choice("forge", ("github", "gitlab"), "github"),
            branch=item.text("branch", "main"),
            verified=item.flag("verified", False),
            default=item.flag("default", False),
            home=item.text("home", ""),
        )


def _roots(reader: Reader) -> Iterator[Root]:
    for item in reader.items("owners"):
        for root in item.items("roots"):
            root.mapping(("pattern", "folder", "except"))
            yield Root(
                owner=item.text("name"),
                pattern=compiled(root, "pattern"),
                folder=root.text("folder", ""),
                except_for=compiled(root, "except") if root.has("except") else None,
            )


def _components(reader: Reader) -> Iterator[Component]:
    for item in reader.items("components"):
        item.mapping(("owner", "pattern", "name"))
        yield Component(item.text("owner"), compiled(item, "pattern"), item.text("name"))


def _jobs(reader: Reader) -> JobNames:
    if not reader.has("jobs"):
        return JobNames()
    item = reader.child("jobs")
    item.mapping(("parts", "workload_part", "around"))
    return JobNames(
        compiled(item, "parts"), item.text("workload_part", "2"), item.text("around", "")
    )
