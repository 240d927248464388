"""The report's words in a reader's language.

They stand in `templates/pipeline-failure-report/<language>/messages.yml`. What comes from elsewhere
(traces, names, reasons that a configuration gives) is shown as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ciops.plumbing.rendering import Templates

FOLDER: Final = Path(__file__).resolve().parents[3] / "templates" / "pipeline-failure-report"
LANGUAGES: Final = ("en", "fr", "ja")
# https://cldr.unicode.org: French groups digits by a narrow no-break space.
_GROUP: Final = {"fr": "\u202f"}


@dataclass(frozen=True, slots=True)
class Words:
    """Sentences of one language; `templates` also renders that language's Jinja templates."""

    templates: Templates

    @property
    def language(self) -> str:
        """`en`, `fr` or `ja`."""
        return self.templates.language

    def say(self, key: str, n: int | None = None, **facts: object) -> str:
        """The message `key`; with `n`, its form for that number, which fills `{n}`."""
        if n is None:
            return self.templates.message(key, **facts)
        form = f"{key}.{self._form(n)}"
        return self.templates.message(form, n=self.number(n), **facts)

    def known(self, group: str, name: str) -> str:
        """The message `group.name`, or `name` as it is when the language has no such message."""
        key = f"{group}.{name.replace(' ', '-')}"
        return self.templates.messages.get(key, name)

    def number(self, n: int) -> str:
        """A count as the language writes it."""
        return f"{n:,}".replace(",", _GROUP.get(self.language, ","))

    def _form(self, n: int) -> str:
        """https://cldr.unicode.org/index/cldr-spec/plural-rules: 0 is singular in French."""
        singular = n == 1 or (n == 0 and self.language == "fr")
        return "one" if singular and self.language != "ja" else "other"


def words_of(language: str, folder: str | Path = FOLDER) -> Words:
    """The words of a language (`fr`, `fr_CA.UTF-8`), or English for one that is not there."""
    return Words(Templates(folder, language))
