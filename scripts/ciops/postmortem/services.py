"""The services that a run may reach, by what the environment names: addresses, tokens, links."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ciops.errors import UsageError
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.yaml_file import shown
from ciops.postmortem.references import Links
from ciops.postmortem.settings import Settings

if TYPE_CHECKING:
    from ciops.forges.base import Forge

TOKENS: Final[dict[str, str]] = {
    "github": "GITHUB_TOKEN",
    "gitlab": "GITLAB_TOKEN",
}


@dataclass(frozen=True, slots=True)
class Services:
    """Forges that a token is set for, the repository of a bare `#12`, and the Jira site."""

    forges: Mapping[str, Forge]
    main: Literal["github", "gitlab"]
    repo: str
    ticket_exists: Callable[[str], bool] | None = None
    jira: str = ""


def services(host: CiHost) -> Services:
    """The forges of this run; no call is made yet."""
    from ciops.forges import open_forge

    env = host.env
    forges = {
        name: open_forge(name, env, log=host.say)
        for name, variable in TOKENS.items()
        if env.get(variable)
    }
    repo = env.get("GITHUB_REPOSITORY") or env.get("CI_PROJECT_PATH") or ""
    return Services(forges, _main_forge(env), repo, _ticket_lookup(host), site_of(env))


def _ticket_lookup(host: CiHost) -> Callable[[str], bool] | None:
    """Whether a Jira issue is there, where a site and credentials are set."""
    from ciops.plumbing.http import NotFoundError
    from ciops.postmortem.jira import has_credentials, open_jira, project_type

    site = site_of(host.env)
    if not site or not has_credentials(host.env):
        return None
    jira = open_jira(host.env, site, host.say)

    def exists(key: str) -> bool:
        try:
            project_type(jira, key)
        except NotFoundError:
            return False
        return True

    return exists


def _main_forge(env: Mapping[str, str]) -> Literal["github", "gitlab"]:
    return "gitlab" if env.get("GITLAB_CI") or env.get("CI_SERVER_URL") else "github"


def site_of(env: Mapping[str, str]) -> str:
    """The Jira site's address without a closing slash, or ""; raises UsageError."""
    site = env.get("JIRA_BASE_URL", "").strip().rstrip("/")
    step = "Write it as https://example.atlassian.net"
    if site and not site.startswith(("https://", "http://")):
        raise UsageError(f"JIRA_BASE_URL is {shown(site)}, which is no address", step)
    if re.search(r"[@?#\\\s]|[^\x21-\x7e]", site):
        # Not shown: it may hold a password, and goes into what is printed and posted.
        problem = "JIRA_BASE_URL holds a user, a query, a space or a character no address has"
        raise UsageError(problem, step)
    return site


def links(env: Mapping[str, str], settings: Settings) -> Links:
    """Where references lead: the servers of this job, else those of the settings."""
    base = settings.links
    in_ci = env.get("GITHUB_SERVER_URL") or env.get("CI_SERVER_URL")
    return Links(
        forge=_main_forge(env) if in_ci else base.forge,
        github=env.get("GITHUB_SERVER_URL", base.github).rstrip("/"),
        gitlab=env.get("CI_SERVER_URL", base.gitlab).rstrip("/"),
        jira=site_of(env) or base.jira,
    )
