"""Short reports of every part and of what is out of scope: the route, and the modules.

`tests/data/triage/short/<route>.yml`; `modules` have to be there, those of `also` may.
"""

from __future__ import annotations

import pytest
import yaml

from ciops.triage.facts import Account, CommentFacts, IssueFacts
from triage.issue_making import CASES, judged_facts

SHORT = CASES.parent / "short"


def issues(name: str):
    return yaml.safe_load((SHORT / f"{name}.yml").read_text(encoding="utf-8"))


def table(*names: str):
    rows = [(name, entry) for name in names for entry in issues(name)]
    return pytest.mark.parametrize(("name", "entry"), rows, ids=[entry["id"] for _, entry in rows])


def facts_of(entry) -> IssueFacts:
    said = tuple(
        CommentFacts(Account("reporter" if c["role"] == "NONE" else "keeper"), c["role"], c["body"])
        for c in entry.get("comments", ())
    )
    return IssueFacts(
        entry["id"], 1, entry["title"], entry["body"], ("oncall: distributed",),
        Account("reporter"), comments=said,
    )  # fmt: skip


@table("infra", "parallelisms", "checkpointing")
def test_a_short_report_goes_to_its_route(name, entry):
    found = judged_facts(facts_of(entry)).facets
    assert (found.distributed, found.sub_oncall) == (True, name)
    modules = {label.removeprefix("module: ") for label in found.modules}
    assert set(entry["modules"]) <= modules
    if name != "checkpointing":
        assert modules <= {*entry["modules"], *entry.get("also", ())}


@table("out_of_scope")
def test_what_is_not_distributed_has_a_family(name, entry):
    found = judged_facts(facts_of(entry))
    assert not found.facets.distributed
    assert found.facets.confidence in ("high", "medium")
    assert any(x.evidence.topic.startswith("apart:") for x in found.evidence)
