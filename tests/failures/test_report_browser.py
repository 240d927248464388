"""The page in headless Chromium: filters, traces, links, the keyboard, and nothing that acts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ciops.failures.report_formats import files
from ciops.failures.report_model import Report
from ciops.failures.report_words import words_of
from failures.chromium import Page, Pipe, browser
from failures.hostile_words import HOSTILE, poisoned
from failures.report_samples import big, usual

pytestmark = pytest.mark.tool
SHOWN = "[...document.querySelectorAll('.card')].filter((one) => !one.hidden).length"
NAMES = (
    "[...document.querySelectorAll('.card')].filter((one) => !one.hidden)"
    ".map((one) => one.querySelector('.name').textContent)"
)
FOCUSED = (
    "document.activeElement.id || document.activeElement.name || document.activeElement.tagName"
)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Pipe]:
    with browser() as pipe:
        yield pipe


@pytest.fixture(scope="module")
def tab(chromium: Pipe) -> Page:
    page = Page(chromium)
    page.dress(1200, 900)
    return page


@pytest.fixture
def show(tab: Page, tmp_path: Path) -> Iterator[object]:
    """Opens a report in the page; whatever a test does, nothing went wrong in the console."""

    def open_report(report: Report, fragment: str = "", language: str = "en") -> Page:
        path = tmp_path / "report.html"
        path.write_text(files(report, ["html"], words_of(language))["report.html"], "utf-8")
        tab.go(f"{path.as_uri()}{fragment}")
        return tab

    yield open_report
    assert tab.problems == []
    assert [url for url in tab.requests if not url.startswith(("file:", "about:"))] == []


def uncompared() -> Report:
    """A report without another to compare it with."""
    return replace(usual(), previous_pipeline=None)


def test_it_opens_with_every_bucket_and_says_how_many(show) -> None:
    page = show(usual())
    assert page.value(SHOWN) == 7
    assert page.value("document.querySelector('#shown').textContent") == (
        "Showing 7 of 7 buckets, 14 jobs"
    )
    assert page.value("document.querySelectorAll('#strip i').length") == 7


@pytest.mark.parametrize(
    ("choose", "says", "names"),
    [
        ("filters.elements.status.value = 'actionable'", "2 of 7 buckets, 6 jobs",
         ["loom/autodeploy-sharding/mm-reduction-dim-mismatch",
          "loom/autodeploy-attention/prepare-metadata-signature"]),
        ("filters.elements.owner.value = 'infra'", "2 of 7 buckets, 2 jobs",
         ["infra/resource/oom", "infra/runner/trace-missing"]),
        ("filters.elements.new.checked = true; filters.elements.owner.value = 'infra'",
         "1 of 7 buckets, 1 job", ["infra/runner/trace-missing"]),
        ("filters.elements.text.value = 'gatedrepo'", "1 of 7 buckets, 3 jobs",
         ["external/huggingface/access-forbidden"]),
        ("filters.elements.text.value = ' Mellum '", "1 of 7 buckets, 1 job",
         ["loom/autodeploy-sharding/mm-reduction-dim-mismatch"]),
        ("filters.elements.text.value = '311214'", "1 of 7 buckets, 1 job", ["infra/resource/oom"]),
        ("filters.elements.text.value = 'no such words'", "Nothing matches these filters.", []),
    ],
    ids=["status", "owner", "new", "error", "model", "job", "nothing"],
)  # fmt: skip
def test_filters(show, choose: str, says: str, names: list[str]) -> None:
    page = show(usual())
    page.value(f"{{ {choose}; filters.dispatchEvent(new Event('input')); }}")
    assert page.value(NAMES) == names
    assert says in page.value("document.querySelector('#shown').textContent")
    page.click("#reset")
    assert page.value(SHOWN) == 7
    assert page.value("document.querySelector('#reset').hidden") is True


def test_the_strip_shows_what_is_actionable_first_and_opens_a_bucket(show) -> None:
    page = show(usual())
    kinds = page.value("[...document.querySelectorAll('#strip i')].map((one) => one.className)")
    assert kinds == ["actionable"] * 2 + ["issue-only"] * 5
    page.click("#strip i:nth-child(2)")
    assert page.value("document.querySelector('.card.open b').textContent") == (
        "prepare-metadata-signature"
    )
    page.value(
        "{ filters.elements.owner.value = 'infra'; filters.dispatchEvent(new Event('input')) }"
    )
    assert page.value("document.querySelectorAll('#strip i.off').length") == 5


def test_a_filter_by_mouse(show) -> None:
    page = show(usual())
    page.click(".segments input[value='issue-only']")
    assert page.value(SHOWN) == 5


def test_a_search_for_one_model_leaves_one_job_of_its_bucket(show) -> None:
    page = show(usual())
    page.click(".card .row")
    page.click("[name=text]")
    page.type("mellum")
    jobs = "[...document.querySelectorAll('.jobs > li')].filter((one) => !one.hidden).length"
    assert page.value(jobs) == 1


def test_a_bucket_opens_with_the_trace_of_its_representative(show) -> None:
    page = show(usual())
    page.click(".card .row")
    assert page.value("document.querySelector('.card').classList.contains('open')") is True
    causal = page.value("document.querySelector('.causal .text').textContent")
    assert causal.startswith("RuntimeError: a and b must have same reduction dim")
    assert page.value("document.querySelector('.causal .number').textContent") == "2114"
    page.click(".card .row")
    assert page.value("document.querySelector('.card .body').hidden") is True


def test_a_trace_opens_at_its_causal_line(show) -> None:
    page = show(long_trace(), "#job-1")
    box, line = page.value(
        "[document.querySelector('.lines'), document.querySelector('.causal')]"
        ".map((one) => { const box = one.getBoundingClientRect();"
        " return {top: box.top, bottom: box.bottom}; })"
    )
    assert box["top"] < line["top"] < line["bottom"] < box["bottom"]
    assert page.value("document.querySelector('.lines').scrollTop") > 500
    assert page.value("document.querySelectorAll('.causal').length") == 1


def long_trace() -> Report:
    from dataclasses import replace

    from failures.report_samples import job, lines

    report = usual()
    excerpt = lines(1, *(f"line {number}" for number in range(1, 200)))
    return replace(report, buckets=(replace(report.buckets[0], jobs=(1,), representative_job=1),),
                   jobs=(job(1, "w", excerpt, 150),))  # fmt: skip


def test_a_link_to_a_job_opens_it_even_when_it_is_filtered_out(show) -> None:
    page = show(usual(), "#job-311162")
    assert page.value(FOCUSED) == "job-311162"
    assert page.value("document.querySelectorAll('.trace').length") == 1
    page.value(
        "{ filters.elements.owner.value = 'infra'; filters.dispatchEvent(new Event('input')) }"
    )
    assert page.value(SHOWN) == 2
    page.value("{ location.hash = '#job-311199' }")
    page.wait("document.activeElement.id === 'job-311199'")
    assert page.value(SHOWN) == 7


@pytest.mark.parametrize("fragment", ["#job-1", "#job-x", "#buckets", "#job-<b>", "#%"])
def test_a_link_to_nothing_opens_nothing(show, fragment: str) -> None:
    page = show(usual(), fragment)
    assert page.value("document.querySelectorAll('.trace').length") == 0


@pytest.mark.parametrize("permission", ["granted", "denied"])
def test_the_link_is_copied(show, chromium: Pipe, permission: str) -> None:
    page = show(usual(), "#job-311113")
    setting = {"name": "clipboard-write"}
    chromium.call("Browser.setPermission", permission=setting, setting=permission)
    address = page.value("location.href")
    page.click(".trace .copy")
    page.wait("document.querySelector('#toast').textContent !== ''")
    assert page.value("document.querySelector('#toast').textContent") == "Link copied"
    page.click("[name=text]")
    page.value("document.querySelector('[name=text]').value = ''")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="v", code="KeyV", modifiers=2,
              windowsVirtualKeyCode=86, commands=["paste"])  # fmt: skip
    assert page.value("document.querySelector('[name=text]').value") == address
    assert address.endswith("#job-311113")


def test_all_of_it_by_keyboard(show) -> None:
    page = show(usual())
    page.press("/")
    assert page.value(FOCUSED) == "text"
    page.type("kvcache")
    assert page.value(SHOWN) == 1
    page.press("Escape")
    assert page.value(SHOWN) == 7
    page.press("Tab")  # past "open all" and "close all"
    page.press("Tab")
    page.press("Tab")
    assert page.value("document.activeElement.className") == "row bucket"
    page.press("ArrowDown")
    page.press("ArrowRight")
    assert page.value("document.activeElement.getAttribute('aria-expanded')") == "true"
    page.press("ArrowDown")
    assert page.value(FOCUSED) == "job-311191"
    page.press("ArrowDown")
    page.press("Enter")
    assert page.value("location.hash") == "#job-311199"
    page.press(" ")
    assert page.value("document.activeElement.getAttribute('aria-expanded')") == "false"
    page.press("ArrowLeft")
    assert page.value("document.activeElement.className") == "row bucket"
    page.press("ArrowLeft")
    assert page.value("document.querySelectorAll('.card.open').length") == 0
    page.press("End")
    assert page.value("document.activeElement.textContent").startswith("1infra/runner/")
    page.press("Home")
    page.press("ArrowUp")
    assert page.value("document.activeElement.textContent").startswith("4loom/")


def test_focus_is_seen_and_everything_has_a_name(show) -> None:
    page = show(usual(), "#job-311097")
    page.press("Tab", modifiers=8)
    page.press("Tab")
    assert page.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    nameless = page.value(
        "[...document.querySelectorAll('button, a, input, select, [tabindex]')].filter((one) =>"
        " !(one.textContent.trim() || one.ariaLabel || one.labels?.[0]?.textContent.trim()))"
        ".map((one) => one.outerHTML)"
    )
    assert nameless == []
    ids = page.value("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    controls = page.value(
        "[...document.querySelectorAll('[aria-expanded=true]')]"
        ".map((one) => one.getAttribute('aria-controls'))"
    )
    assert set(controls) <= set(ids)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(show, tab: Page, dark: bool) -> None:
    """4.5:1 for all text: https://www.w3.org/TR/WCAG22/#contrast-minimum."""
    tab.dress(1200, 900, dark)
    page = show(usual(), "#job-311097")
    page.value("document.querySelector('#open-all').click()")
    assert page.value(CONTRAST) == []
    tab.dress(1200, 900)


CONTRAST = """(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const bytes = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = (rgb) => rgb.slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => { for (let at = node; at; at = at.parentElement) {
    const colour = bytes(getComputedStyle(at).backgroundColor);
    if (colour[3] === 255) return colour; } return [255, 255, 255]; };
  const bad = new Set();
  for (const node of document.querySelectorAll('body *')) {
    const own = [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
    if (!own || !node.checkVisibility()) continue;
    if (node.closest('.unseen, noscript, script, style')) continue;
    const style = getComputedStyle(node);
    const [a, b] = [light(bytes(style.color)), light(behind(node))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) bad.add(`${node.className || node.tagName} ${style.color}`);
  }
  return [...bad];
})()"""


@pytest.mark.parametrize("report", [usual(), poisoned(HOSTILE["long"])], ids=["usual", "long"])
def test_nothing_is_wider_than_the_window(show, tab: Page, report: Report) -> None:
    page = show(report)
    page.value("document.querySelectorAll('.card .row').forEach((one) => one.click())")
    for width in (320, 390, 768, 1200, 1800):
        tab.dress(width, 900)
        assert page.value("document.documentElement.scrollWidth") <= width
    tab.dress(1200, 900)


@pytest.mark.parametrize("language", ["en", "fr", "ja"])
@pytest.mark.parametrize("report", [usual(), uncompared()], ids=["compared", "alone"])
def test_no_fact_of_the_head_stands_on_a_line_of_its_own(
    show, tab: Page, report: Report, language: str
) -> None:
    page = show(report, language=language)
    rows = (
        "[...document.querySelectorAll('.facts:last-of-type > div')]"
        ".map((one) => one.getBoundingClientRect().top)"
    )
    for width in (768, 1280, 1920):
        tab.dress(width, 900)
        tops = page.value(rows)
        assert len(tops) == 2 + bool(report.previous_pipeline)
        assert len(set(tops)) == 1, width
    tab.dress(1200, 900)


@pytest.mark.parametrize("language", ["en", "fr", "ja"])
def test_what_opens_and_closes_all_stays_together(show, tab: Page, language: str) -> None:
    page = show(usual(), language=language)
    height = "(id) => document.querySelector(id).getClientRects()[0].height"
    for width in (320, 360, 768):
        tab.dress(width, 900)
        tall = [page.value(f"({height})('{one}')") for one in ("#open-all", "#close-all")]
        assert max(tall) < 30, width
        top = "document.querySelector('#%s').getBoundingClientRect().top"
        assert page.value(top % "open-all") == page.value(top % "close-all")
    tab.dress(1200, 900)


def test_it_prints_every_job(show, tab: Page) -> None:
    page = show(usual())
    assert page.call("Page.printToPDF")["data"]
    tab.dress(1200, 900, media="print")
    page.value("dispatchEvent(new Event('beforeprint'))")
    assert (
        page.value("[...document.querySelectorAll('.job')].filter(e => e.offsetParent).length")
        == 14
    )
    assert page.value("getComputedStyle(document.querySelector('.filters')).display") == "none"
    page.value("dispatchEvent(new Event('afterprint'))")
    assert page.value("document.querySelectorAll('.card.open').length") == 0
    tab.dress(1200, 900)


def test_five_hundred_jobs_are_quick(show) -> None:
    page = show(big(500, 60))
    milliseconds = page.value(
        "(() => { const start = performance.now();"
        " document.querySelector('#open-all').click();"
        " filters.elements.text.value = 'model-40'; filters.dispatchEvent(new Event('input'));"
        " document.body.offsetHeight; return performance.now() - start; })()"
    )
    assert page.value("document.querySelectorAll('.job').length") == 500
    assert milliseconds < 1500
    assert page.value("performance.getEntriesByType('navigation')[0].domComplete") < 3000


def test_the_policy_refuses_what_is_planted_in_the_page(show) -> None:
    """Without the policy this script would run: that it does not is the policy's doing."""
    page = show(usual())
    page.value(
        "{ const one = document.createElement('script'); one.append('window.ran = 1');"
        " try { document.body.append(one) } catch { window.refused = true } }"
    )
    assert page.value("window.ran") is None
    assert page.value(
        "(() => { try { document.body.innerHTML = 'x' } catch { return 'no' } })()"
    ) == ("no")
    page._pipe.events.clear()  # the refusals are reported to the console


@pytest.mark.parametrize("turn", [0, 7, 17])
def test_hostile_words_are_shown_and_do_nothing(show, turn: int) -> None:
    texts = [*HOSTILE.values()]
    page = show(poisoned(*texts[turn:], *texts[:turn]))
    page.value("document.querySelector('#open-all').click()")
    page.value("document.querySelectorAll('.job').forEach((one) => one.click())")
    assert page.value("window.ran") is None
    assert (
        page.value("document.querySelectorAll('.jobs img, .jobs svg, main script, h1 *').length")
        == 0
    )
    links = page.value("[...document.querySelectorAll('a')].map((one) => one.protocol)")
    assert set(links) <= {"http:", "https:", "file:"}
    assert page.value("document.querySelectorAll('.trace').length") == 14


def test_a_planted_script_in_a_trace_is_text(show) -> None:
    page = show(poisoned(HOSTILE["script"]), "#job-311097")
    shown = page.value("document.querySelector('.lines .text').textContent")
    assert shown == HOSTILE["script"]
    assert page.value("window.ran") is None


@pytest.mark.parametrize(
    ("language", "says"),
    [
        ("fr", "Affichés\u00a0: 7 sur 7 buckets, 14 jobs"),
        ("ja", "バケット 7 個中 7 個、ジョブ 14 件を表示"),
    ],
)
def test_it_speaks_the_language(show, language: str, says: str) -> None:
    page = show(usual(), "#job-311097", language)
    assert page.value("document.querySelector('#shown').textContent") == says
    missing = page.value(
        "document.body.innerText.match(/undefined|NaN|\\{\\w+\\}|[a-z]+\\.[a-z-]+\\.one/)"
    )
    assert missing is None


def test_without_scripts_the_buckets_are_listed(show, tab: Page) -> None:
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page = show(usual())
        text = page.call("DOM.getDocument", depth=-1)
        assert "mm-reduction-dim-mismatch" in json.dumps(text)
    finally:
        tab.call("Emulation.setScriptExecutionDisabled", value=False)
