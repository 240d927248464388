"""Headings and sentences in the three languages.

They stand in `templates/post-mortem-render/<language>/messages.yml`. A sentence holds `{names}` for
the facts put into it. Facts are put in as text: braces in them are never read again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from ciops.plumbing.yaml_file import Reader, load
from ciops.postmortem.record import Language

FOLDER: Final = Path(__file__).resolve().parents[3] / "templates" / "post-mortem-render"
_NAME: Final = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Words:
    """The sentences of one language."""

    language: Language
    sentences: Mapping[str, str]

    def say(self, key: str, **facts: str) -> str:
        """The sentence `key` with its facts; KeyError for a sentence or fact that is not there."""
        return _NAME.sub(lambda name: facts[name[1]], self.sentences[key])


@cache
def load_words(language: Language, folder: Path = FOLDER) -> Words:
    """Read one language's sentences: groups of texts, addressed as `group.name`."""
    top = Reader(load(folder / language / "messages.yml"))
    sentences = {
        f"{group}.{key}": reader.text(key)
        for group, reader in ((name, top.child(name)) for name in top.mapping())
        for key in reader.mapping()
    }
    return Words(language, sentences)
