"""The files that make the suite installable, as data: actions, workflows, components."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ci_programs.suite import ROOT

Json = dict[str, Any]


class Loader(yaml.SafeLoader):
    """YAML as GitHub and GitLab read it: `on` is a key like any other."""


Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:bool"]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", yaml.resolver.re.compile("^(?:true|false)$"), list("tf")
)


def read(path: Path) -> list[Any]:
    """The documents of a file."""
    return list(yaml.load_all(path.read_text(encoding="utf-8"), Loader))


@dataclass(frozen=True, slots=True)
class Component:
    """A GitLab component: its inputs and its jobs, not yet filled in."""

    inputs: Json
    jobs: Json

    @property
    def main(self) -> Json:
        return next(iter(self.jobs.values()))


def action(tool: str) -> Json:
    """The action of a tool: issue-triage is the one at the top."""
    folder = ROOT if tool == "issue-triage" else ROOT / tool
    return read(folder / "action.yml")[0]


def component(tool: str) -> Component:
    head, jobs = read(ROOT / "templates" / tool / "template.yml")
    return Component(head["spec"]["inputs"], jobs)


WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
EXAMPLES = sorted((ROOT / "examples/github").glob("*.yml"))


def workflow(name: str) -> Json:
    return read(ROOT / f".github/workflows/{name}.yml")[0]


def jobs(path: Path) -> dict[str, Json]:
    return dict(read(path)[0]["jobs"])


def steps(path: Path) -> list[Json]:
    return [step for job in jobs(path).values() for step in job.get("steps", [])]
