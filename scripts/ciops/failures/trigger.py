"""The bridge that triggered a pipeline.

GitLab's REST API does not name it: the bridges of the pipelines that were created before are asked,
the nearest first. How many are asked in all is bounded; a search that gives up says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from ciops.failures.scope import Scope
from ciops.plumbing.http import HttpError

if TYPE_CHECKING:
    from ciops.forges.base import Bridge, Pipeline, Pipelines

CLIMB: Final = 5
"""Levels that are climbed to a bridge of a telling name."""
MOST_ASKED: Final = 100
"""Pipelines whose bridges are asked for, over all levels."""
_LISTED: Final = 400
"""Pipelines of a project that are listed for each level; newer ones than the pipeline count too."""
_TRIGGERED: Final = ("pipeline", "parent_pipeline")

Say = Callable[[str], None]


def bridges_of(pipelines: Pipelines, project: int | str, pipeline_id: int) -> list[Bridge]:
    """The bridges of a pipeline as far as they can be seen."""
    try:
        return pipelines.bridges(project, pipeline_id)
    except HttpError:
        return []


class TriggerSearch:
    """Looks for the bridge of the scope or of a benchmark above a pipeline."""

    def __init__(self, scope: Scope, pipelines: Pipelines, say: Say) -> None:
        self._scope = scope
        self._pipelines = pipelines
        self._say = say
        self._left = MOST_ASKED

    def bridge(self, pipeline: Pipeline, project: int | str) -> Bridge | None:
        """The first bridge above of a telling name; one named neither way leads a level higher."""
        for _ in range(CLIMB):
            above = self._above(pipeline, project)
            if above is None:
                return None
            pipeline, project, bridge = above
            if self._scope.has_bridge(bridge.name) or self._scope.benchmark.bridges.hold(
                bridge.name
            ):
                return bridge
        self._say(f"what triggered pipeline {pipeline.id} was not looked for: {CLIMB} levels up")
        return None

    def _above(
        self, pipeline: Pipeline, project: int | str
    ) -> tuple[Pipeline, int | str, Bridge] | None:
        for candidate, place in self._candidates(pipeline, project):
            if self._left == 0:
                asked = f"among the bridges of {MOST_ASKED} earlier pipelines"
                self._say(f"what triggered pipeline {pipeline.id} was not found {asked}; gave up")
                return None
            self._left -= 1
            for bridge in bridges_of(self._pipelines, place, candidate.id):
                if bridge.downstream is not None and bridge.downstream.id == pipeline.id:
                    return candidate, place, bridge
        return None

    def _candidates(
        self, pipeline: Pipeline, project: int | str
    ) -> Iterator[tuple[Pipeline, int | str]]:
        """Pipelines that may have triggered one: of its own project for a child, of the scope's."""
        if pipeline.source not in _TRIGGERED:
            return
        child = pipeline.source == "parent_pipeline"
        listed = [
            self._older(pipeline, place, source)
            for place in ((project,) if child else self._scope.projects)
            for source in (("", "parent_pipeline") if child else ("",))
        ]
        yield from _in_turn(listed)

    def _older(
        self, pipeline: Pipeline, place: int | str, source: str
    ) -> Iterator[tuple[Pipeline, int | str]]:
        listed = self._pipelines.pipelines(place, source=source, before=pipeline.created_at)
        try:
            for other in islice(listed, _LISTED):
                if other.id < pipeline.id:
                    yield other, other.project_id or place
        except HttpError:  # a project that the token may not see tells nothing
            return


def _in_turn(
    lists: list[Iterator[tuple[Pipeline, int | str]]],
) -> Iterator[tuple[Pipeline, int | str]]:
    """One of each list after the other, so that no long list uses up what may be asked."""
    while lists:
        for one in list(lists):
            found = next(one, None)
            if found is None:
                lists.remove(one)
            else:
                yield found
