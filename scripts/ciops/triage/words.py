"""The templates and messages of issue-triage in a reader's language."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ciops.plumbing.rendering import Templates
from ciops.triage.command_line import ROOT

FOLDER: Final = ROOT / "templates" / "issue-triage"


def words_in(language: str, folder: Path = FOLDER) -> Templates:
    """What a language lacks is English."""
    return Templates(folder, language)
