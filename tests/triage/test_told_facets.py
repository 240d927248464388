"""Short issues by facet: what there is to run, what is asked for, where it belongs."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from triage.issue_making import facets, said

DATA = Path(__file__).resolve().parents[1] / "data" / "triage"
ISSUES = yaml.safe_load((DATA / "facets.yml").read_text(encoding="utf-8"))
PLAIN = (
    "distributed", "sub_oncall", "type", "performance", "has_reproduction", "repro_expected",
)  # fmt: skip


@pytest.mark.parametrize("told", ISSUES, ids=lambda told: told["title"][:50])
def test_an_issue_has_the_facets_that_are_told(told):
    comments = [said(c["body"], c["as"], c["by"]) for c in told.get("comments", ())]
    found = facets(told["title"], told["body"], *comments)
    assert {key: getattr(found, key) for key in PLAIN if key in told} == {
        key: told[key] for key in PLAIN if key in told
    }
    if "family" in told:
        assert bool(found.high_priority) is (told["family"] is not None), found.high_priority
    modules = {label.removeprefix("module: ") for label in found.modules}
    wanted = set(told.get("modules", modules))
    assert wanted <= modules <= wanted | set(told.get("also", ()))


@pytest.mark.parametrize(
    ("body", "present"),
    [
        ("Set the world size to 3, comment out the barrier and run it twice.", True),
        ("Set the world size to 3 and run it.", False),
        ("We set it to 3, ran it and saw the failure.", False),
    ],
)
def test_three_things_to_do_in_a_sentence_are_steps(body, present):
    assert facets("all_reduce raises", body).has_reproduction is present


def test_what_a_maintainer_tells_to_do_is_no_reproduction():
    orders = said("Set NCCL_DEBUG=INFO, run it again and post the 2 logs.", "MEMBER", "m")
    assert not facets("all_reduce raises", "It raises.", orders).has_reproduction
