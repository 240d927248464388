"""The page as a file: one document, a policy that allows only itself, data that stays data."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ciops.failures.report_formats import files
from ciops.failures.report_json import to_data
from ciops.failures.report_model import Report
from ciops.failures.report_page import page, script_json
from ciops.failures.report_text import made_safe
from ciops.failures.report_words import LANGUAGES, words_of
from failures.hostile_words import HOSTILE, SECRETS, poisoned
from failures.report_samples import big, empty, usual

EN = words_of("en")


@dataclass
class Read(HTMLParser):
    """Elements with their attributes, and the texts of scripts and styles."""

    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    inside: str = ""
    scripts: list[str] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag in ("script", "style"):
            {"script": self.scripts, "style": self.styles}[tag].append("")
            self.inside = tag

    def handle_endtag(self, tag: str) -> None:
        self.inside = "" if tag == self.inside else self.inside

    def handle_data(self, data: str) -> None:
        if self.inside:
            {"script": self.scripts, "style": self.styles}[self.inside][-1] += data

    def attributes(self, tag: str, name: str) -> list[str]:
        return [attrs[name] for one, attrs in self.elements if one == tag and name in attrs]


def read(report: Report, language: str = "en") -> Read:
    parser = Read()
    parser.feed(files(report, ["html"], words_of(language))["report.html"])
    parser.close()
    return parser


def policy(of: Read) -> dict[str, str]:
    content = next(
        attrs["content"]
        for tag, attrs in of.elements
        if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy"
    )
    return dict(one.strip().split(" ", 1) for one in content.split(";"))


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_policy_allows_the_pages_own_script_and_style_and_nothing_else(language: str) -> None:
    found = read(usual(), language)
    data, script = found.scripts
    assert policy(found) == {
        "default-src": "'none'",
        "script-src": digest(script),
        "style-src": digest(found.styles[0]),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
    }
    assert len(found.styles) == 1
    assert json.loads(data)["language"] == language


def test_the_policy_comes_before_anything_it_governs() -> None:
    tags = [tag for tag, _ in read(usual()).elements]
    first = tags.index("meta", tags.index("meta") + 1)
    assert first < min(tags.index("style"), tags.index("script"), tags.index("link"))


@pytest.mark.parametrize("report", [usual(), empty(), big(50, 5)], ids=["usual", "empty", "big"])
def test_nothing_is_fetched_and_nothing_is_inline(report: Report) -> None:
    found = read(report)
    for tag, attrs in found.elements:
        assert not [name for name in attrs if name.startswith("on") or name == "style"], tag
        assert tag not in ("iframe", "object", "embed", "base", "img")
        assert not attrs.get("src")
        if tag == "a":
            assert re.match(r"https?://|#", attrs["href"])
    assert found.attributes("link", "href") == ["data:,"]
    assert not re.search(r"url\(|@import", found.styles[0])


def test_the_script_uses_no_way_to_turn_text_into_markup_or_code() -> None:
    _, script = read(usual()).scripts
    banned = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(|import\("
    assert not re.search(banned + r"|fetch\(|XMLHttpRequest|WebSocket|localStorage", script)


def data_of(report: Report) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(read(report).scripts[0])
    return data


def test_the_data_is_the_report() -> None:
    assert data_of(usual())["report"] == json.loads(json.dumps(to_data(made_safe(usual()))))


def test_a_report_that_says_more_than_once_is_said_in_the_language() -> None:
    french = page(usual(), words_of("fr"))
    assert "<h1>14 jobs en échec dans 7 buckets</h1>" in french
    assert '<html lang="fr">' in french
    assert "Comparé au pipeline" in french


def test_without_a_failed_job_there_is_no_filter() -> None:
    text = page(empty(), EN)
    assert "<h1>No failed job: 0 = 0</h1>" in text
    assert 'id="filters"' not in text


def test_a_broken_checksum_is_an_alarm() -> None:
    assert 'role="alert"' not in page(usual(), EN)
    assert 'role="alert"' in page(poisoned_total(), EN)


def poisoned_total() -> Report:
    report = usual()
    return type(report)(**{**report.__dict__, "failed_jobs_total": 15})


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_words_add_no_element(text: str) -> None:
    hostile, plain = read(poisoned(text)), read(poisoned("http://plain.test/"))
    shape = [tag for tag, _ in hostile.elements if tag not in ("a", "dt", "dd", "div", "p", "time")]
    like = [tag for tag, _ in plain.elements if tag not in ("a", "dt", "dd", "div", "p", "time")]
    assert shape == like
    assert {name for _, attrs in hostile.elements for name in attrs} <= {
        name for _, attrs in plain.elements for name in attrs
    }
    for href in hostile.attributes("a", "href"):
        assert re.match(r"https?://|#", href)
    assert len(hostile.scripts) == 2
    assert policy(hostile) == policy(plain)


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_that_came_along_is_masked(secret: str) -> None:
    assert secret not in files(poisoned(HOSTILE["secret"]), ["html"], EN)["report.html"]


@settings(max_examples=40, deadline=None)
@given(
    st.recursive(
        st.text() | st.integers(), lambda of: st.lists(of) | st.dictionaries(st.text(), of)
    )
)
def test_json_in_a_script_means_the_same_and_cannot_leave_it(data: object) -> None:
    text = script_json(data)
    assert json.loads(text) == data
    assert not re.search("[<>&\u2028\u2029]", text)
