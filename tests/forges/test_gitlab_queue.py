"""GitLab alone: spelling, scoped labels, quick actions, access levels."""

from __future__ import annotations

import pytest

from ciops.errors import RefusedError, UsageError
from ciops.forges.base import LabelAddition, Person
from ciops.forges.gitlab_facts import person
from ciops.plumbing.http import UnauthorizedError, UnavailableError
from fakes.gitlab import Account
from forges.conftest import World


def user_id(world: World, login: str) -> int:
    found: int = world.fake.shapes.user(login)["id"]
    return found


@pytest.mark.parametrize(
    ("level", "association"),
    [
        (50, "OWNER"),
        (40, "MEMBER"),
        (30, "MEMBER"),
        (20, "COLLABORATOR"),
        (15, "NONE"),
        (10, "NONE"),
        (None, "NONE"),
    ],
)
def test_access_levels_as_associations(gitlab: World, level: int | None, association: str) -> None:
    if level is not None:
        gitlab.fake.project(7).members["carol"] = level
    carol = Person("carol", id=user_id(gitlab, "carol"))
    assert gitlab.queue.association_of(carol) == association
    asked = gitlab.fake.request_count
    assert gitlab.queue.association_of(carol) == association
    assert gitlab.fake.request_count == asked


def test_comments_and_issues_do_not_tell_associations(gitlab: World) -> None:
    gitlab.fake.person_comments(7, 1, "x", by="carol")
    comment = gitlab.queue.comments(1)[0]
    assert comment.association == gitlab.queue.issue(1).association == ""
    assert comment.author.id == user_id(gitlab, "carol")


def test_names_only_and_no_suggestions(gitlab: World) -> None:
    added = gitlab.queue.add_labels(
        1,
        [
            LabelAddition("triaged", "why", "high"),
            LabelAddition("module: x", "why", "low", suggest=True),
        ],
    )
    assert added.labels == ("queue", "Bug", "triaged")
    assert (added.plain, added.not_suggested) == (True, ("module: x",))
    assert gitlab.fake.writes[0].body == {"add_labels": "triaged"}


def test_only_suggestions_write_nothing(gitlab: World) -> None:
    added = gitlab.queue.add_labels(1, [LabelAddition("triaged", suggest=True)])
    assert added.labels == ("queue", "Bug")
    assert gitlab.writes == 0


def test_a_scoped_label_does_not_push_out_another(gitlab: World) -> None:
    gitlab.fake.person_labels(7, 1, add=["priority::low", "area::gpu::a100"])
    for name in ("Priority::high", "area::gpu::h100"):
        with pytest.raises(RefusedError, match="would replace"):
            gitlab.queue.add_labels(1, [LabelAddition("triaged"), LabelAddition(name)])
    assert gitlab.labels_of(1) == ["queue", "Bug", "priority::low", "area::gpu::a100"]
    for name in ("priority::low", "area::net", "other::x"):
        gitlab.queue.add_labels(1, [LabelAddition(name)])
    assert gitlab.labels_of(1)[2:] == ["priority::low", "area::gpu::a100", "area::net", "other::x"]


def test_two_labels_of_one_scope_would_push_out_each_other(gitlab: World) -> None:
    for wanted in (["priority::low", "priority::high"], ["a::b::c", "x", "A::b::d"]):
        with pytest.raises(RefusedError, match="would replace"):
            gitlab.queue.refuse_labels(wanted, ["queue"])
    gitlab.queue.refuse_labels(["p::low", "P::low", "q::low", "p"], ["queue", "r::1", "r::2"])


@pytest.mark.parametrize("label", ["a,b", ","])
def test_a_comma_would_be_two_labels(gitlab: World, label: str) -> None:
    with pytest.raises(UsageError, match="GitLab takes for two labels"):
        gitlab.queue.add_labels(1, [LabelAddition(label)])
    assert gitlab.writes == 0


def test_a_text_of_quick_actions_alone_is_an_error(gitlab: World) -> None:
    """202 and no note: it must not pass for a comment."""
    with pytest.raises(UnavailableError, match="taken for quick actions"):
        gitlab.queue.add_comment(1, "/label ~x")
    assert gitlab.comments_of(1) == []


def test_events_of_deleted_labels_are_left_out(gitlab: World) -> None:
    gitlab.fake.project(7).add_label_event(1, {"action": "add", "label": None, "user": "alice"})
    gitlab.fake.person_labels(7, 1, add=["triaged"])
    assert [event.label for event in gitlab.queue.timeline(1).labels] == ["triaged"]


@pytest.mark.parametrize(
    ("login", "bot", "is_bot"),
    [
        ("alice", None, False),
        ("alice", True, True),
        ("project_12_bot", None, True),
        ("project_12_bot_0af3", None, True),
        ("group_7_bot1", None, False),
        ("group_7_bot_ab", None, True),
        ("stale-bot", None, False),
        ("project_x_bot", None, False),
    ],
)
def test_who_is_a_bot(login: str, bot: bool | None, is_bot: bool) -> None:
    data = {"username": login, "id": 3} | ({} if bot is None else {"bot": bot})
    assert person(data) == Person(login, is_bot, 3)


@pytest.mark.parametrize(
    ("permissions", "missing"),
    [
        ({"project_access": {"access_level": 20}, "group_access": None}, ()),
        ({"project_access": {"access_level": 10}, "group_access": None}, ("the Reporter role",)),
        ({"project_access": {"access_level": 10}, "group_access": {"access_level": 30}}, ()),
        ({"project_access": None, "group_access": None}, ()),
        (None, ()),
    ],
)
def test_roles_that_certainly_do_not_suffice(
    gitlab: World, permissions: object, missing: tuple[str, ...]
) -> None:
    get = gitlab.fake.routes["GET /projects/{id}"]

    def with_permissions(fake: object, asked: object) -> object:
        reply = get(fake, asked)
        access = permissions or {"project_access": None, "group_access": None}
        filled = {
            key: None if level is None else {**level, "notification_level": 3}
            for key, level in access.items()  # type: ignore[attr-defined]
        }
        reply.body["permissions"] = filled
        return reply

    gitlab.fake.routes = {**gitlab.fake.routes, "GET /projects/{id}": with_permissions}
    assert gitlab.queue.viewer().missing == missing


def test_a_token_that_is_not_taken(gitlab: World) -> None:
    gitlab.fake.tokens = {"s3cret": Account("x", rejected=True)}
    with pytest.raises(UnauthorizedError, match="Check that the token is set"):
        gitlab.queue.viewer()


def test_a_project_by_its_id(gitlab: World) -> None:
    assert gitlab.forge.queue("7").issue(1).title == "Hang in all_reduce"
