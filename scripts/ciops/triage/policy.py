"""A triage policy as frozen data: who, which labels, which signals, which rules.

`policy_file.load_policy` builds it from YAML. Nothing here knows a product: every label, name,
path and error string comes from the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

from ciops.triage.anchor_index import AnchorIndex
from ciops.triage.lexicon import Lexicon
from ciops.triage.patterns import compiled, fold, term_pattern
from ciops.triage.reading_rules import ZONES, ReadingRules, Zone
from ciops.triage.sayings import SayingIndex
from ciops.triage.version_words import VersionWords

Role = Literal["root", "api", "path", "weak", "against"]
ROLES: Final[tuple[Role, ...]] = ("root", "api", "path", "weak", "against")
Mode = Literal["sweep", "single"]
Outweighs = Literal["never", "unless_shown", "always"]
NOT_DISTRIBUTED: Final = "not_distributed"
NEEDS_REPRODUCTION: Final = "needs_distributed_reproduction"
COMMENTS: Final = (NOT_DISTRIBUTED, NEEDS_REPRODUCTION)
"""The comments that a plan may leave; a policy gives each its marker."""
SignalKind = Literal["words", "toggle", "name", "identifier", "background"]


@dataclass(frozen=True, slots=True)
class Signal:
    """One rule: words that, in some zones, are evidence of some role for a topic.

    `topic` is what it speaks for: "component:fsdp", "priority:crash", "kind:feature" …
    `later`: it counts only in comments and in edits of the report, as what was found out.
    `by`: it counts only where the reporter, or a maintainer, says it.
    `says` are sayings: concepts of the policy's language in a row, `without` some others.
    `kind` tells a part's names from other words: what is said of a name decides its weight. An
    `identifier` names a piece of the part, so that its working does not clear the part; a
    `background` name (a tool that everybody uses) counts only where it is the subject. A `toggle`
    is a flag or variable: that setting it helped speaks for the part, that it did not against.
    `secondary` marks an echo of another process's failure; `yields` an argument check, for which
    the caller inside the product is to blame. A `trial` tells of a setup: that it worked there
    says nothing. `place` is where the file defines it.
    """

    id: str
    topic: str
    role: Role
    zones: frozenset[Zone]
    terms: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    case_sensitive: bool = False
    kind: SignalKind = "words"
    later: bool = False
    by: Literal["anybody", "party", "reporter", "maintainer"] = "anybody"
    secondary: bool = False
    yields: bool = False
    trial: bool = False
    matches: tuple[str, ...] = ()
    near_misses: tuple[str, ...] = ()
    place: tuple[str | int, ...] = ()

    @property
    def source(self) -> str:
        """One regular expression for all terms and patterns."""
        return "|".join((*map(term_pattern, self.terms), *self.patterns))

    def search(self, text: str) -> re.Match[str] | None:
        """The first place in a line where its terms or patterns are."""
        if not (self.terms or self.patterns):
            return None
        return compiled(self.source, self.case_sensitive).search(text)


@dataclass(frozen=True, slots=True)
class Component:
    """A part of the product: the label it is known by, who owns it, how people call it.

    `frames` are path fragments of its own code; `passing` ones are wrappers through which every
    call goes, so that the caller is to blame unless a person called them. A part that is used
    outside the queue's scope as well does not `proves_scope`.
    """

    id: str
    label: str | None
    route: str
    names: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    background: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    proves_scope: bool = True


@dataclass(frozen=True, slots=True)
class Route:
    """A sub-queue. `classified` routes have their issues labelled by module."""

    id: str
    label: str
    default: bool = False
    classified: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """Which markers a deployment uses. A `shared` marker is one another bot puts as well."""

    id: str
    processed: str
    classified: str | None = None
    shared: bool = False
    searches_comments: bool = True


@dataclass(frozen=True, slots=True)
class Family:
    """A priority or not-in-scope family: on where its points reach `threshold`.

    `counts` are topics whose evidence is its own too;
    `needs` are groups of which each must be there; `unless` groups of which none may be.
    `raised` are points that an exception adds (negative for failures that are silent);
    `thumbs_up` and `people`: from how many on that alone is evidence for it (0: never);
    `compares_versions`: that an earlier version worked is evidence for it;
    `not_elsewhere`: a stack whose innermost frame is in another package than these paths is of
    another product's crash (`group:elsewhere`);
    `lists_not_after`: lists of numbers that differ are evidence for it, unless after these words;
    `plain_script`: a script without a word of the scope is evidence for it; `outweighs`: when it
    must have more points than what is said of the scope; `explains_trace`: where it shows in a
    trace, what else is in the trace says nothing of the scope.
    """

    id: str
    threshold: float
    counts: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    raised: float = 0.0
    compares_versions: bool = False
    thumbs_up: int = 0
    people: int = 0
    plain_script: bool = False
    outweighs: Outweighs = "never"
    explains_trace: bool = False
    lists_not_after: frozenset[str] = frozenset()
    not_elsewhere: tuple[re.Pattern[str], ...] = ()


@dataclass(frozen=True, slots=True)
class Override:
    """An edge of the rules. `when` all hold, `unless` none: then the effects take place.

    `context`: the api evidence of these components is only on the path. `adds`: these components
    gain root evidence. `route`: the route is this one. `sets_aside`: these signals are on the path.
    """

    id: str
    when: tuple[str, ...]
    unless: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    adds: tuple[str, ...] = ()
    sets_aside: tuple[str, ...] = ()
    route: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class CommentRule:
    """A comment the bot may leave: its marker, and signals of comments that say the same.

    `sayings` is what those signals say.
    """

    id: str
    marker: str
    equivalents: tuple[Signal, ...] = ()
    sayings: SayingIndex | None = None

    def is_said_in(self, line: str) -> bool:
        """Whether a line says what the comment says."""
        if any(signal.search(line) for signal in self.equivalents):
            return True
        said = self.sayings.find(fold(line), "prose") if self.sayings else ()
        return any(True for _ in said)


@dataclass(frozen=True, slots=True)
class Scoring:
    """Points, so that a decision can be followed by hand."""

    roles: dict[str, float]
    zones: dict[str, float]
    speakers: dict[str, float]
    hedged: float
    aside: float
    superseded: float
    minimum: float
    share: float
    pair_share: float
    high: float
    most_modules: int


STANDARD: Final = Scoring(
    roles={"root": 4, "api": 2, "path": 0, "weak": 0.75, "against": -3},
    zones={
        **dict.fromkeys(ZONES, 1.0),
        **{"title": 1.5, "prose": 0.75, "steps": 0.75, "code": 0.75, "shell": 0.75},
        **{"quoted": 0.3, "env": 0},
    },
    speakers={"reporter": 1, "maintainer": 1.6, "other": 0.5, "bot": 0},
    hedged=0.5,
    aside=1,
    superseded=0.4,
    minimum=2,
    share=0.6,
    pair_share=0.4,
    high=4,
    most_modules=2,
)
"""What counts where a policy does not say otherwise."""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What counts as touching the product in code, and where else a reproduction may be.

    `launchers` are components that fail before what they launch begins: a command shows it.
    """

    touches: frozenset[str]
    template_code: tuple[str, ...]
    launchers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels with a part of their own. `allowed` is every label that may ever be added."""

    queue: str
    review: str
    reproduction: str
    performance: str | None
    types: dict[str, str]
    forbidden: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Policy:
    """A policy, ready to decide with. One is itself alone, so that what it says may be kept.

    `owners` are the path fragments of all components, longest first: (fragment, component,
    passing); `index` and `sayings` find the signals that a line needs.
    """

    name: str
    version: str
    labels: Labels
    routes: tuple[Route, ...]
    profiles: dict[str, Profile]
    default_profile: str
    reaches_everywhere: bool
    bot_logins: frozenset[str]
    parent_bot_logins: frozenset[str]
    reading: ReadingRules
    scoring: Scoring
    components: dict[str, Component]
    pairs: frozenset[frozenset[str]]
    alternatives: tuple[frozenset[str], ...]
    interchangeable: tuple[frozenset[str], ...]
    when_alone: frozenset[str]
    signals: tuple[Signal, ...]
    overrides: tuple[Override, ...]
    apart: tuple[Family, ...]
    priorities: tuple[Family, ...]
    comments: dict[str, CommentRule]
    reproduction: Reproduction
    noise_frames: tuple[str, ...]
    product_frames: tuple[str, ...]
    version_shapes: tuple[re.Pattern[str], ...]
    versions: VersionWords
    owners: tuple[tuple[str, str, bool], ...]
    index: AnchorIndex = field(default_factory=AnchorIndex)
    sayings: SayingIndex = field(default_factory=lambda: SayingIndex(Lexicon({}, {}, {})))

    def route(self, route_id: str) -> Route:
        """The route of an id."""
        return next(route for route in self.routes if route.id == route_id)

    @property
    def default_route(self) -> Route:
        """Where an issue goes that no evidence sends elsewhere."""
        return next(route for route in self.routes if route.default)

    @property
    def module_labels(self) -> tuple[str, ...]:
        """The labels that classify, in the order of the components."""
        return _module_labels(self)

    def allowed_labels(self, profile: Profile) -> frozenset[str]:
        """Every label that a plan may add under a profile."""
        labels = self.labels
        named = [
            *(route.label for route in self.routes),
            *self.module_labels,
            *labels.types.values(),
            *([labels.performance] if labels.performance else []),
            labels.review,
            labels.reproduction,
            profile.processed,
            *([profile.classified] if profile.classified else []),
        ]
        return frozenset(named)


@lru_cache(maxsize=8)
def _module_labels(policy: Policy) -> tuple[str, ...]:
    return tuple(dict.fromkeys(c.label for c in policy.components.values() if c.label))
