"""What a team decides about its records: the rate that counts, empty words, links, limits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ciops.plumbing.yaml_file import Document, Reader, load
from ciops.postmortem.references import Links

DEFAULT: Final = (
    Path(__file__).resolve().parents[3] / "config" / "post-mortem-render" / "settings.yml"
)
FIX_MARK: Final = "\ue000"


@dataclass(frozen=True, slots=True)
class Settings:
    """`minimum_rate` is (n, m): fewer than n reproductions in m runs are none."""

    minimum_rate: tuple[int, int]
    placeholders: frozenset[str]
    no_section: frozenset[str]
    failing: re.Pattern[str]
    part_of_fix: re.Pattern[str]  # over text in which FIX_MARK stands for a fix reference
    label: str
    property_key: str
    longest_comment: int
    links: Links

    def blank(self, text: str) -> bool:
        """Whether a text is empty or only stands for one ("TBD", "未定", "à définir")."""
        return _bare(text) in self.placeholders

    def names_no_section(self, text: str) -> bool:
        return self.blank(text) or _bare(text) in self.no_section


def _bare(text: str) -> str:
    return text.strip(" \t\n.,;:!?()[]<>*_`-–—…。、，（）［］「」").casefold()


def load_settings(path: Path = DEFAULT) -> Settings:
    """Read the settings file; raises DocumentError with the place and the nearest right key."""
    return read_settings(load(path))


def read_settings(document: Document) -> Settings:
    top = Reader(document)
    top.mapping(
        (
            "schema",
            "minimum_rate",
            "placeholders",
            "no_section",
            "failing",
            "part_of_fix",
            "label",
            "property_key",
            "longest_comment",
            "links",
        )
    )
    return Settings(
        minimum_rate=_minimum_rate(top),
        placeholders=frozenset({"", *map(_bare, top.texts("placeholders"))}),
        no_section=frozenset(map(_bare, top.texts("no_section"))),
        failing=_any_of(top, "failing"),
        part_of_fix=_any_of(top, "part_of_fix"),
        label=top.text("label"),
        property_key=top.text("property_key"),
        longest_comment=top.integer("longest_comment"),
        links=_links(top.child("links")),
    )


def _minimum_rate(top: Reader) -> tuple[int, int]:
    rate = read_rate(top.text("minimum_rate"))
    if rate is None or rate[0] == 0:
        raise top.error("expected a rate such as 1/2, more than 0", key="minimum_rate")
    return rate


def read_rate(text: str) -> tuple[int, int] | None:
    """`9/10` and `9/10 runs` as (9, 10), or None for what begins with no rate."""
    pattern = r"\s*([0-9]{1,9})\s*[/／]\s*([0-9]{1,9})(?![0-9/.,%])"
    match = re.match(pattern, _without_group_marks(text))
    if match is None:
        return None
    n, m = int(match[1]), int(match[2])
    return (n, m) if m > 0 and n <= m else None


def _without_group_marks(text: str) -> str:
    """`1 000/1 200` and `1,000/1,200` as `1000/1200`."""
    return re.sub(r"(?<=[0-9])[ ,\u00a0\u202f](?=[0-9]{3}(?![0-9]))", "", text)


def _any_of(top: Reader, key: str) -> re.Pattern[str]:
    try:
        patterns = (each.replace("{fix}", FIX_MARK) for each in top.texts(key))
        return re.compile("|".join(f"(?:{each})" for each in patterns), re.IGNORECASE)
    except re.error as error:
        raise top.error(f"not a regular expression: {error}", key=key) from None


def _links(reader: Reader) -> Links:
    reader.mapping(("forge", "github", "gitlab", "jira"))
    forge = reader.choice("forge", ("github", "gitlab"))
    return Links(
        forge="gitlab" if forge == "gitlab" else "github",
        github=reader.text("github", "").rstrip("/"),
        gitlab=reader.text("gitlab", "").rstrip("/"),
        jira=reader.text("jira", "").rstrip("/"),
    )
