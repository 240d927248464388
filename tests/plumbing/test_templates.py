"""Templates and messages: languages, strictness, and facts that are never templates."""

from __future__ import annotations

from pathlib import Path

import pytest

from ciops.errors import UsageError
from ciops.plumbing.rendering import FILTERS, Templates

FILES = {
    "en/hello.md.j2": "Hello {{ who | md }}\n",
    "fr/hello.md.j2": "Bonjour {{ who | md }}\n",
    "en/only.md.j2": "English only\n",
    "shared.md.j2": "{% include 'hello.md.j2' %}same\n",
    "en/page.html.j2": "<b title=\"{{ who }}\">{{ who }}</b> {{ t('amp') }}\n",
    "en/strict.md.j2": "ok\n{{ nope }}\n",
    "en/attribute.md.j2": "{{ who.nope }}\n",
    "en/broken.md.j2": "a\n{% if %}\n",
    "en/escape.md.j2": "{{ who.__class__.__mro__ }}\n",
    "en/blocks.md.j2": "{% for x in xs %}\n- {{ x | code }}\n  {% endfor %}\nend\n",
    "en/said.md.j2": "{{ t('jobs', n=n) }}\n",
    "en/messages.yml": "amp: 'a & b'\ngreet: Hello {who}, {count}\n"
    "jobs:\n  one: '{n} job'\n  other: '{n} jobs'\nonly: English\n",
    "fr/messages.yml": "greet: '{count} bonjours, {who}'\n"
    "jobs:\n  one: '{n} tâche'\n  other: '{n} tâches'\n",
    "ja/messages.yml": "greet: '{who}さん {count}'\njobs:\n  other: '{n} 件'\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("language", "chosen"),
    [
        ("en", "en"),
        ("fr", "fr"),
        ("fr-CA", "fr"),
        ("fr_FR.UTF-8", "fr"),
        ("FR", "fr"),
        ("de", "en"),
        ("", "en"),
        ("..", "en"),
        ("../fr", "en"),
    ],
)
def test_the_language_or_its_fallback(folder: Path, language: str, chosen: str) -> None:
    assert Templates(folder, language).language == chosen


def test_a_template_of_the_language_then_of_the_fallback_then_of_all(folder: Path) -> None:
    french = Templates(folder, "fr")
    assert french.render("hello.md", who="Zoé") == "Bonjour Zoé"
    assert french.render("only.md") == "English only"
    assert french.render("shared.md", who="x") == "Bonjour xsame"


def test_facts_are_values_and_no_templates(folder: Path) -> None:
    text = "{{ 7 * 7 }}{% raw %}{{x}}"
    assert "49" not in Templates(folder, "en").render("hello.md", who=text)
    assert "{{x}}" in Templates(folder, "en").render("hello.md", who=text).replace("\\", "")


def test_html_is_escaped_by_itself_and_markdown_by_its_filters(folder: Path) -> None:
    page = Templates(folder, "en").render("page.html", who='<i>"x"')
    assert page == '<b title="&lt;i&gt;&#34;x&#34;">&lt;i&gt;&#34;x&#34;</b> a &amp; b'
    assert Templates(folder, "en").render("hello.md", who="<i> @a") == r"Hello \<i\> \@<!-- -->a"


def test_block_tags_leave_no_blank_lines(folder: Path) -> None:
    assert Templates(folder, "en").render("blocks.md", xs=["a", "`"]) == "- `a`\n- `` ` ``\nend"


MISTAKES = {
    "misspelt variable": ("strict.md", "en/strict.md.j2:2: 'nope' is undefined"),
    "misspelt attribute": ("attribute.md", "en/attribute.md.j2:1: 'str object' has no attribute"),
    "syntax": ("broken.md", "broken.md.j2:2: Expected an expression"),
    "no such template": ("absent.md", 'no template "absent.md.j2". Check the folder'),
    "outside the folder": ("../../etc/passwd", 'no template "../../etc/passwd.j2"'),
    "sandbox": ("escape.md", "escape.md.j2:1: access to attribute '__class__'"),
}


@pytest.mark.parametrize(("name", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_template_is_one_sentence(folder: Path, name: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        Templates(folder, "en").render(name, who="x")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("language", "key", "facts", "text"),
    [
        ("en", "greet", {"who": "A", "count": 2}, "Hello A, 2"),
        ("fr", "greet", {"who": "A", "count": 2}, "2 bonjours, A"),
        ("ja", "greet", {"who": "A", "count": 2}, "Aさん 2"),
        ("fr", "only", {}, "English"),
        ("en", "jobs", {"n": 0}, "0 jobs"),
        ("en", "jobs", {"n": 1}, "1 job"),
        ("en", "jobs", {"n": 2}, "2 jobs"),
        ("fr", "jobs", {"n": 0}, "0 tâche"),
        ("fr", "jobs", {"n": 1}, "1 tâche"),
        ("fr", "jobs", {"n": 2}, "2 tâches"),
        ("ja", "jobs", {"n": 2}, "2 件"),
        ("en", "greet", {"who": "{count}", "count": "{who}"}, "Hello {count}, {who}"),
    ],
)
def test_messages(
    folder: Path, language: str, key: str, facts: dict[str, object], text: str
) -> None:
    assert Templates(folder, language).message(key, **facts) == text


def test_messages_in_a_template(folder: Path) -> None:
    assert Templates(folder, "fr").render("said.md", n=3) == "3 tâches"


@pytest.mark.parametrize(
    ("key", "facts", "words"),
    [
        ("absent", {}, 'message "absent" is missing'),
        ("greet", {"who": "A"}, 'message "greet" needs count'),
        ("jobs", {}, 'message "jobs" is missing'),
    ],
)
def test_a_mistake_in_a_message(
    folder: Path, key: str, facts: dict[str, object], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        Templates(folder, "en").message(key, **facts)


def test_a_folder_without_messages(tmp_path: Path) -> None:
    (tmp_path / "en").mkdir()
    assert Templates(tmp_path, "en").messages == {}


def test_every_filter_takes_any_fact() -> None:
    for name in FILTERS.keys() - {"link", "mention_safe"}:
        assert FILTERS[name](12) in ("12", "`12`", "```\n12\n```")
