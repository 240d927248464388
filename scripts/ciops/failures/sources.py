"""Where pipelines come from: GitLab, or GitHub Actions whose runs are pipelines without bridges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciops.errors import UsageError
from ciops.failures import start as starts
from ciops.failures.chain import ChainJob
from ciops.failures.code_lookup import Repository
from ciops.failures.knowledge import Owner
from ciops.failures.scope import Scope
from ciops.failures.start import Start, Target
from ciops.forges import open_forge
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.yaml_file import shown

if TYPE_CHECKING:
    from ciops.forges.base import Forge, Pipelines

TOKENS = {"github": "GITHUB_TOKEN", "gitlab": "GITLAB_TOKEN"}


class Forges:
    """The services of a run, each opened once, with the tokens that the environment gives."""

    def __init__(self, host: CiHost, gitlab_url: str, sleep: Callable[[float], None]) -> None:
        self._host = host
        self._gitlab_url = gitlab_url
        self._sleep = sleep
        self._open: dict[str, Forge] = {}

    def get(self, name: str) -> Forge:
        """A forge by name; UsageError when its token is not set."""
        variable = TOKENS[name]
        if not self._host.env.get(variable, "").strip():
            raise UsageError(f"{variable} is not set", f"Set it to work with {name}")
        if name not in self._open:
            url = self._gitlab_url if name == "gitlab" else ""
            env: Mapping[str, str] = self._host.env
            self._open[name] = open_forge(name, env, url, log=self.say, sleep=self._sleep)
        return self._open[name]

    def repository(self, owner: Owner) -> Repository | str:
        """An owner's repository to be read, or in words why it cannot be."""
        try:
            forge = self.get(owner.forge)
            return Repository(forge.code(owner.repository), forge.web_url)
        except UsageError as error:
            return error.problem

    def own_project(self) -> str:
        """The project of the job that this runs in, when its GitLab is the one that is asked."""
        env = self._host.env
        site = env.get("CI_SERVER_URL", "").rstrip("/")
        return env.get("CI_PROJECT_PATH", "") if site == self.get("gitlab").web_url else ""

    def say(self, text: str) -> None:
        """Tell a person what goes on."""
        self._host.say(text, "dim")


@dataclass(frozen=True, slots=True)
class Source:
    """Pipelines to report on. `find` gives the starting one, checked; `log_url` a raw log."""

    name: str
    site: str
    pipelines: Pipelines
    find: Callable[[], Start]
    log_url: Callable[[ChainJob], str]


def gitlab(forges: Forges, scope: Scope, asked: str) -> Source:
    """The pipelines of the configured GitLab; of the job's own project where no scope names one."""
    forge = forges.get("gitlab")
    pipelines = forge.pipelines()
    scope = scope if scope.upstream else replace(scope, upstream=forges.own_project())

    def find() -> Start:
        if not asked and scope.upstream and scope.bridges is None:
            return starts.newest_failed(scope.upstream, pipelines)
        if not asked:
            return starts.newest(scope, pipelines)
        found = starts.find(starts.gitlab_target(asked, forge.web_url), scope, pipelines)
        starts.refuse_benchmark(found, scope, pipelines, forges.say)
        return found

    def log_url(job: ChainJob) -> str:
        return f"{job.job.url}/raw" if job.job.url else ""

    return Source("gitlab", forge.web_url, pipelines, find, log_url)


def github_actions(forges: Forges, scope: Scope, asked: str, host: CiHost) -> Source:
    """The workflow runs of the configured GitHub."""
    forge = forges.get("github")
    pipelines = forge.pipelines()
    api = host.env.get("GITHUB_API_URL") or "https://api.github.com"

    def find() -> Start:
        target = starts.github_target(asked, forge.web_url) if asked else _of_event(host)
        place = (target.project if target else "") or _own_repository(host)
        if target is None:
            found = starts.newest_failed(place, pipelines)
        else:
            found = starts.find_run(Target(target.id, place), pipelines)
        starts.refuse_benchmark(found, scope, pipelines, forges.say)
        return found

    def log_url(job: ChainJob) -> str:
        return f"{api}/repos/{job.project}/actions/jobs/{job.job.id}/logs"

    return Source("github-actions", forge.web_url, pipelines, find, log_url)


def _of_event(host: CiHost) -> Target | None:
    """The run whose end started this one (`on: workflow_run`)."""
    event = host.event()
    run = event.payload.get("workflow_run") if event and event.name == "workflow_run" else None
    identity = run.get("id") if isinstance(run, dict) else None
    return Target(identity) if isinstance(identity, int) else None


def _own_repository(host: CiHost) -> str:
    name = host.env.get("GITHUB_REPOSITORY", "")
    if not name:
        problem = "no repository is named"
        raise UsageError(problem, "Give --pipeline the URL of a run, or set GITHUB_REPOSITORY")
    if name.count("/") != 1:
        raise UsageError(f"GITHUB_REPOSITORY: {shown(name)} is no OWNER/NAME", "Correct it")
    return name
