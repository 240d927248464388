"""The forges that the tools know, by name. Adding one is a line here and a module beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from ciops.errors import UsageError

if TYPE_CHECKING:
    from ciops.forges.base import Forge

Log = Callable[[str], None]
Sleep = Callable[[float], None]


def _github(env: Mapping[str, str], url: str, log: Log, sleep: Sleep) -> Forge:
    from ciops.forges.github import GitHub

    return GitHub.from_env(env, url, log, sleep)


def _gitlab(env: Mapping[str, str], url: str, log: Log, sleep: Sleep) -> Forge:
    from ciops.forges.gitlab import GitLab

    return GitLab.from_env(env, url, log, sleep)


FORGES: Final[dict[str, Callable[[Mapping[str, str], str, Log, Sleep], Forge]]] = {
    "github": _github,
    "gitlab": _gitlab,
}


def open_forge(
    name: str,
    env: Mapping[str, str],
    url: str = "",
    log: Log = lambda _: None,
    sleep: Sleep = time.sleep,
) -> Forge:
    """A forge with the address and token that the environment gives.

    `url` overrides the address (GitHub: of the API; GitLab: of the site). `log` hears of every
    wait and `sleep` does it. No call is made yet.
    """
    if name not in FORGES:
        raise UsageError(f'unknown forge "{name}"', f"Known are: {', '.join(FORGES)}")
    return FORGES[name](env, url, log, sleep)
