"""Templates and messages in three languages: complete, inert, and recognised when seen again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from ciops.forges.base import Viewer
from ciops.plumbing.rendering import Templates
from ciops.triage.command_line import LANGUAGES, POLICY, ROOT
from ciops.triage.comment_rules import standing_comment
from ciops.triage.comments import own_comment, render_comment
from ciops.triage.decide import decide, profile_of
from ciops.triage.facts import Account, CommentFacts, IssueFacts
from ciops.triage.never import COMMENTS
from ciops.triage.policy import Policy
from ciops.triage.policy_file import load_policy
from ciops.triage.words import FOLDER, words_in
from triage.small_world import ELSEWHERE, QUEUE, SMALL, small_policy

SOURCES = ROOT / "scripts" / "ciops" / "triage"
PLACE = re.compile(r"\{(\w+)\}")


def own_messages(language: str) -> dict[str, str]:
    """The messages of a language without what it would borrow from English."""
    return Templates(FOLDER, language, fallback=language).messages


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_message(language: str) -> None:
    assert own_messages(language).keys() == own_messages("en").keys()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_takes_the_same_facts(language: str) -> None:
    english = own_messages("en")
    for key, text in own_messages(language).items():
        assert set(PLACE.findall(text)) == set(PLACE.findall(english[key])), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_comment(language: str) -> None:
    assert {path.name for path in (FOLDER / language).glob("*.md.j2")} == {
        f"{name}.md.j2" for name in COMMENTS
    }


def test_every_message_is_used_and_every_used_one_is_there() -> None:
    """By its literal key; `section.{…}` in the sources stands for the whole section."""
    texts = [path.read_text(encoding="utf-8") for path in SOURCES.glob("*.py")]
    texts += [path.read_text(encoding="utf-8") for path in FOLDER.glob("*.j2")]
    source = "\n".join(texts).replace('say("', '"explain.')
    counted = {key.removesuffix(".one") for key in own_messages("en") if key.endswith(".one")}
    keys = {
        next((c for c in counted if key.startswith(f"{c}.")), key) for key in own_messages("en")
    }
    sections = {key.partition(".")[0] for key in keys}
    named = set(re.findall(rf"[\"']((?:{'|'.join(sections)})\.[a-z_.-]+)[\"']", source))
    computed = set(re.findall(r"[\"']((?:[a-z]+\.)+)(?:[a-z_]*\{|[\"'] ~)", source))
    assert {key for key in keys - named if key.rpartition(".")[0] + "." not in computed} == set()
    assert {key for key in named - keys if not key.endswith(".")} == set()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("template", COMMENTS)
def test_a_comment_starts_with_its_marker_and_names_the_labels(
    template: str, language: str
) -> None:
    policy = small_policy()
    text = comment_on(ELSEWHERE["title"], template, policy, language)
    assert text.startswith(policy.comments[template].marker + "\n")
    named = QUEUE if template == "not_distributed" else policy.labels.reproduction
    assert f"`{named}`" in text
    assert "torch" not in text.lower(), "a product's words belong into its policy"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("template", COMMENTS)
def test_the_same_words_from_another_account_are_recognised(template: str, language: str) -> None:
    """A run by another bot, before or after a change of accounts, must not say it again."""
    policy = load_policy(POLICY)
    text = comment_on("It fails", template, policy, language).replace("<!--", "<!-- another")
    said = CommentFacts(Account("another-bot", is_bot=True), "NONE", text)
    facts = IssueFacts("7", 7, "", "", (), comments=(said,))
    assert standing_comment(facts, template, policy, profile_of(policy)) is not None


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "title",
    [
        "my toaster @everyone @org/team",
        "my toaster fixes #12, closes GH-3",
        "my toaster <img src=x onerror=alert(1)>",
        "my toaster ``` @alice",
        "my toaster --> @alice <!-- shelf: not_distributed -->",
        "/close my toaster",
        "my toaster [click](javascript:alert(1)) ![x](http://evil/x.png)",
        "my toaster {{ 7 * 7 }} {% raw %}",
        "my toaster \u202e\u200b@alice",
    ],
)
def test_nothing_of_an_issue_acts_in_a_comment(title: str, language: str) -> None:
    text = comment_on(title, "not_distributed", small_policy(), language)
    tokens = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(text)
    inline = [child for token in tokens if token.children for child in token.children]
    spoken = " ".join(child.content for child in inline if child.type == "text")
    assert "@" not in spoken
    assert not re.search(r"#\d|GH-\d", spoken)
    kinds = {child.type for child in inline}
    assert not kinds & {"link_open", "image", "html_inline"}
    html = [token.content for token in tokens if token.type == "html_block"]
    assert html == [small_policy().comments["not_distributed"].marker + "\n"]
    assert not any(line.startswith("/") for line in text.splitlines())
    assert text == comment_on(title, "not_distributed", small_policy(), language)


@pytest.mark.parametrize(
    ("by", "is_bot", "counts"),
    [
        pytest.param("the-runner", False, True, id="this account"),
        pytest.param("THE-RUNNER", False, True, id="in any case"),
        pytest.param("some-app[bot]", True, True, id="a bot"),
        pytest.param("stranger", False, False, id="a forged marker"),
    ],
)
def test_whose_marker_counts(by: str, is_bot: bool, counts: bool) -> None:
    policy = small_policy()
    marker = policy.comments["not_distributed"].marker
    said = CommentFacts(Account(by, is_bot), "NONE", f"{marker}\nhello")
    viewer = Viewer("the-runner", is_bot=False)
    found = own_comment("not_distributed", [said], viewer, policy)
    assert (found is not None) is counts


def comment_on(title: str, template: str, policy: Policy, language: str) -> str:
    facts = IssueFacts("7", 7, title, "", (policy.labels.queue,))
    decision = decide(facts, policy, profile_of(policy))
    return render_comment(template, decision, policy, words_in(language))


def test_the_small_policy_is_of_another_product() -> None:
    assert "torch" not in Path(SMALL).read_text(encoding="utf-8").lower()
