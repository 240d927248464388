"""Templates in a person's language, and text that cannot act where it is shown.

Three ways to show text that somebody else wrote, each keeping every visible character:

- `escape_markdown` (filter `md`): a fact in running text. Nothing in it is markup afterwards.
- `code_span`, `fenced` (filters `code`, `fence`): a fact as code. It cannot leave the code.
- `neutralise_mentions` (filter `mention_safe`): Markdown whose formatting should stay.

`table_cell` (`cell`) comes last for what stands in a table; `link`, `escape_html` (`html`) and
`clean_text` (`clean`) do what they say. `plain_text` is the way back, for a terminal.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from ciops.errors import UsageError
from ciops.plumbing._inert_text import (
    clean_text,
    code_span,
    escape_html,
    escape_markdown,
    fenced,
    link,
    neutralise_mentions,
    table_cell,
)
from ciops.plumbing.yaml_file import Reader, load, shown

if TYPE_CHECKING:
    from jinja2 import Environment, TemplateError

__all__ = [
    "FILTERS",
    "Templates",
    "clean_text",
    "code_span",
    "escape_html",
    "escape_markdown",
    "fenced",
    "link",
    "neutralise_mentions",
    "plain_text",
    "table_cell",
]

Fact: TypeAlias = object

# What the functions above write: code, links, escapes, and comments where something would link.
_WRITTEN: Final = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|<!-- -->|\]\(https?://[^\s)]*\)|\\(?P<char>[^\w\s]|_)|^#{1,6} |\[",
    re.MULTILINE | re.DOTALL,
)


def plain_text(markdown: str) -> str:
    """Markdown that was written here as a terminal shows it: code stays marked, the rest goes."""
    return _WRITTEN.sub(lambda found: found["code"] or found["char"] or "", markdown)


class Templates:
    """The Jinja templates and messages of one tool in one language.

    `folder` holds `<language>/<name>.j2`, `<language>/messages.yml` and, for what is the same in
    every language, `<name>.j2`. What a language lacks comes from `fallback`. Names that end in
    `.html` are autoescaped; all others are Markdown or text and use the filters. Templates run
    in Jinja's sandbox and a misspelt variable is an error. In a template, `t("key", n=3)` is
    `message`. Facts are values: they are never compiled.
    """

    def __init__(self, folder: str | Path, language: str, fallback: str = "en") -> None:
        self.folder = Path(folder)
        self.fallback = fallback
        self.language = self._known(language)

    def _known(self, language: str) -> str:
        """`fr_CA.UTF-8` and `fr-CA` as `fr`; the fallback when there is no such folder."""
        base = re.split(r"[-_.]", language.strip().lower())[0]
        return base if base.isalpha() and (self.folder / base).is_dir() else self.fallback

    def render(self, name: str, **facts: Fact) -> str:
        """The template `name` (its file without `.j2`); UsageError when it cannot be rendered."""
        from jinja2 import TemplateError

        try:
            return self._environment.get_template(f"{name}.j2").render(**facts)
        except TemplateError as error:
            raise _template_error(self.folder, name, error) from error

    @cached_property
    def _environment(self) -> Environment:
        from jinja2 import FileSystemLoader, StrictUndefined  # 70 ms: only rendering pays for it
        from jinja2.sandbox import SandboxedEnvironment

        places = (self.folder / self.language, self.folder / self.fallback, self.folder)
        environment = SandboxedEnvironment(
            loader=FileSystemLoader(list(dict.fromkeys(places))),
            undefined=StrictUndefined,
            autoescape=lambda name: bool(name) and name.endswith((".html", ".html.j2")),
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        environment.filters.update(FILTERS)
        environment.globals["t"] = self.message
        return environment

    @cached_property
    def messages(self) -> dict[str, str]:
        """Every message of the language by its dotted key, completed from the fallback."""
        found: dict[str, str] = {}
        for language in dict.fromkeys((self.fallback, self.language)):
            path = self.folder / language / "messages.yml"
            if path.is_file():
                found.update(_flat(Reader(load(path))))
        return found

    def message(self, key: str, **facts: Fact) -> str:
        """One message with `{name}` replaced by facts; `n` chooses between `.one` and `.other`."""
        text = self.messages.get(key)
        if text is None and "n" in facts:
            one = facts["n"] == 1 or (self.language == "fr" and facts["n"] == 0)
            forms = (f"{key}.one", f"{key}.other") if one else (f"{key}.other",)
            text = next((self.messages[form] for form in forms if form in self.messages), None)
        if text is None:
            raise self._message_error(key, "is missing")
        try:
            return _PLACE.sub(lambda place: str(facts[place.group(1)]), text)
        except KeyError as missing:
            raise self._message_error(key, f"needs {missing.args[0]}") from None

    def _message_error(self, key: str, what: str) -> UsageError:
        place = self.folder / self.language / "messages.yml"
        return UsageError(f"{place}: message {shown(key)} {what}", "Correct the messages file")


_PLACE: Final = re.compile(r"\{(\w+)\}")


def _flat(reader: Reader, prefix: str = "") -> Iterator[tuple[str, str]]:
    for key in reader.mapping():
        if isinstance(reader.mapping()[key], dict):
            yield from _flat(reader.child(key), f"{prefix}{key}.")
        else:
            yield prefix + key, reader.text(key)


def _template_error(folder: Path, name: str, error: TemplateError) -> UsageError:
    from jinja2 import TemplateNotFound

    line = getattr(error, "lineno", None)
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.endswith(".j2"):
            name, line = frame.filename, frame.lineno
    if isinstance(error, TemplateNotFound):
        return UsageError(f"{folder}: no template {shown(error.name)}", "Check the folder")
    place = f"{folder / name}.j2" if line is None else f"{folder / name}:{line}"
    what = shown(error.message or type(error).__name__, 200, quote=False)
    return UsageError(f"{place}: {what}", "Correct the template")


FILTERS: Final[dict[str, Callable[..., str]]] = {
    "clean": lambda text: clean_text(str(text)),
    "md": escape_markdown,
    "html": escape_html,
    "code": code_span,
    "fence": fenced,
    "cell": table_cell,
    "link": link,
    "mention_safe": neutralise_mentions,
}
