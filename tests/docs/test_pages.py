"""Pages lead where they say, and speak of the project alone."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from ci_programs import pages
from ci_programs.pages import PAGES
from ci_programs.suite import ROOT

README = ROOT / "README.md"
MACHINE = re.compile(r"(?<![\w.-])/(?:work|home|root|Users|tmp)/|[A-Z]:\\\\|\blocalhost\b")


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def broken(page: Path, link: str) -> str:
    """What is wrong with a link, "" when it leads somewhere. Other sites are not asked."""
    if re.match(r"https?://|mailto:", link):
        return ""
    path, _, anchor = unquote(link).partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.is_relative_to(ROOT) or not target.exists():
        return f"{link}: nothing is there"
    if anchor and anchor not in pages.anchors(target):
        return f"{link}: the page has no such heading"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=page_name)
class TestEveryPage:
    def test_its_links_lead_somewhere(self, page: Path) -> None:
        problems = [broken(page, link) for link in pages.links(page)]
        assert [problem for problem in problems if problem] == []

    def test_it_can_be_reached(self, page: Path) -> None:
        assert page in reached()

    def test_it_has_one_title(self, page: Path) -> None:
        tokens = [token for token in pages.tokens(page) if token.type == "heading_open"]
        assert [token.tag for token in tokens].count("h1") == 1
        assert tokens[0].tag == "h1"

    def test_it_speaks_of_no_machine(self, page: Path) -> None:
        assert MACHINE.findall(page.read_text(encoding="utf-8")) == []

    def test_its_options_are_there(self, page: Path) -> None:
        """A page of one tool names options of that tool, others of any."""
        own = pages.TOOLS.get(page.stem.replace("-", "_"))
        known = known_options() if own is None else options_of(own)
        named = re.findall(r"`--([a-z][a-z-]+)", page.read_text(encoding="utf-8"))
        assert set(named) - known - {"help"} == set()


def options_of(tool: str) -> set[str]:
    from ci_programs import command_lines

    return set(command_lines.all_options(tool))


def known_options() -> set[str]:
    return set().union(*map(options_of, pages.TOOLS.values()))


def reached() -> set[Path]:
    """The pages that links lead to from the README."""
    found, waiting = {README}, [README]
    while waiting:
        page = waiting.pop()
        for link in pages.links(page):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.is_file() and target not in found:
                found.add(target)
                waiting.append(target)
    return found


@pytest.mark.parametrize(
    ("link", "right"),
    [
        pytest.param("docs/house.md", True, id="a page"),
        pytest.param("docs/house.md#one-issue", True, id="a heading"),
        pytest.param("docs/security.md#what-is-held-by-which-test", True, id="a long heading"),
        pytest.param("https://example.com/nothing", True, id="another site"),
        pytest.param("docs/haus.md", False, id="no page"),
        pytest.param("docs/house.md#one-tissue", False, id="no heading"),
        pytest.param("../elsewhere.md", False, id="outside"),
    ],
)
def test_a_link(link: str, right: bool) -> None:
    assert (broken(README, link) == "") is right


def test_every_picture_is_shown() -> None:
    shown = {Path(link).name for page in PAGES for link in pages.links(page)}
    assert {path.name for path in (ROOT / "docs/pictures").glob("*.png")} <= shown
