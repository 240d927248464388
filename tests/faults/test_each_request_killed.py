"""The process is killed, or told to end, at request k of every command that talks to a service.

The signal comes when the k-th request has been applied and its answer is not yet sent.
"""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from fakes.github import FakeGitHub
from faults.all_scenes import EACH
from faults.scenes import Place, Scene, Servers, broken_files, run_here, signalled, undisturbed
from faults.triage_scenes import NAMED, UNDO
from triage.small_world import small_policy

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")


@EACH
def test_killed(scene: Scene, tmp_path: Path) -> None:
    for number, place in enumerate(undisturbed(scene).places):
        folder = tmp_path / str(number)
        with scene.opened(folder) as servers:
            ran, _ = signalled(scene, servers, folder, place, signal.SIGKILL)
            assert ran.status == -signal.SIGKILL, place
            assert broken_files(folder) == [], place
            scene.check(servers, folder)
            assert_made_good(scene, servers, folder, place)


@EACH
def test_cancelled(scene: Scene, tmp_path: Path) -> None:
    """SIGTERM: status 1, where it stopped, whole files, and soon."""
    for number, place in enumerate(undisturbed(scene).distinct):
        folder = tmp_path / str(number)
        with scene.opened(folder) as servers:
            ran, seconds = signalled(scene, servers, folder, place, signal.SIGTERM)
            assert seconds < 15, place  # with the machine to itself: at once
            assert broken_files(folder) == [], place
            scene.check(servers, folder)
            assert [path for path in folder.rglob(".*") if path.is_file()] == [], place
            if ran.status != undisturbed(scene).first.status:
                assert ran.status == 1, (place, ran)
                assert re.search("SIGTERM|job was told to end", ran.said), (place, ran.said)
            assert_made_good(scene, servers, folder, place)


def assert_made_good(scene: Scene, servers: Servers, folder: Path, place: Place) -> None:
    whole = undisturbed(scene)
    again = run_here(scene, servers, folder)
    ends = (whole.first.status, whole.settled), (whole.again.status, whole.settled_again)
    assert (again.status, scene.settled(servers, folder)) in ends, (place, again)


def test_undo_of_a_killed_run_takes_back_what_it_may_have_done(tmp_path: Path) -> None:
    """The comment of issue 2 was posted, but its id was never heard. A forged one stays."""
    marker = small_policy().comments["needs_distributed_reproduction"].marker
    with NAMED.opened(tmp_path) as servers:
        (forge,) = servers
        assert isinstance(forge, FakeGitHub)
        forge.person_comments(2, f"{marker} it is me, the bot", by="mallory")
        before = NAMED.settled(servers, tmp_path)
        post = Place(0, 2, "POST", "the comment, after it was read")
        signalled(NAMED, servers, tmp_path, post, signal.SIGKILL, r"/issues/2/comments$")
        assert len(forge.comments(2)) == 3
        assert run_here(UNDO, servers, tmp_path).status == 0
        assert UNDO.settled(servers, tmp_path) == before
