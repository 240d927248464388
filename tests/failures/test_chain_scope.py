"""The scope and the tracking of a configuration: what is read, and what is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from ciops.errors import UsageError
from ciops.failures.app import main
from ciops.failures.knowledge import Knowledge, load_knowledge
from ciops.failures.scope import Names, read_scope
from ciops.failures.tracking_rules import FORM, read_tracking
from failures.pipeline_worlds import scope

HEAD = 'name: mine\nversion: "1"\nowners: [{name: us, repository: o/r, verified: true}]\n'


def config(folder: Path, text: str) -> Knowledge:
    path = folder / "mine.yml"
    path.write_text(HEAD + text, "utf-8")
    return load_knowledge(path)


BRIDGES = [
    pytest.param("trigger-model-coverage", True, id="plain"),
    pytest.param("model-coverage: [gb200]", True, id="of a matrix"),
    pytest.param("Model_Coverage", True, id="another spelling"),
    pytest.param("autodeploy/coverage/run", True, id="between slashes"),
    pytest.param("code-coverage", False, id="of code"),
    pytest.param("coverage-report", False, id="a report on it"),
    pytest.param("coverage-benchmark", False, id="a benchmark of it"),
    pytest.param("trigger-benchmark", False, id="a benchmark"),
    pytest.param("docs", False, id="something else"),
]


@pytest.mark.parametrize(("name", "of_scope"), BRIDGES)
def test_bridges_of_the_shipped_scope(name: str, of_scope: bool) -> None:
    assert scope().has_bridge(name) is of_scope


BENCHMARKS = [
    pytest.param("perf/llama-3.1-8b_tp1 [2 oci-hsg/run]", True, id="perf before a slash"),
    pytest.param("[2 dgx/run] perf-llama", True, id="behind its part"),
    pytest.param("ad-bench-phi", True, id="behind a prefix"),
    pytest.param("benchmarks_ws1", True, id="several"),
    pytest.param("ad-coverage_phi-4_ws2 [2 oci-hsg/run]", False, id="coverage"),
    pytest.param("ad-coverage_performer-7b", False, id="a model's name"),
    pytest.param("cov-h100-workbench-7b", False, id="a word that ends like it"),
]


@pytest.mark.parametrize(("name", "is_one"), BENCHMARKS)
def test_jobs_of_benchmarks(name: str, is_one: bool) -> None:
    assert scope().benchmark.jobs.hold(name) is is_one


def test_the_shipped_scope_is_that_of_model_coverage() -> None:
    found = scope()
    assert found.name == "model-coverage"
    assert found.projects == ("ftp/infra/autodeploy-dashboard", "dl/jet/ci")


def test_a_configuration_without_a_scope_is_named_after_itself(tmp_path: Path) -> None:
    found = read_scope(config(tmp_path, ""))
    assert (found.name, found.projects, found.bridges) == ("mine", (), None)
    assert found.has_bridge("anything")
    rule = found.dead_end("not-triggered", "no idea")
    assert (rule.bucket, rule.status) == ("infra/pipeline/not-triggered", "issue-only")


def test_a_scope_is_extended_by_dead_ends(tmp_path: Path) -> None:
    base = "scope:\n  dead_ends: [{kind: not-visible, bucket: a/b/base, reason: base}]\n"
    (tmp_path / "base.yml").write_text(f'name: base\nversion: "1"\n{base}', "utf-8")
    own = (
        "extends: [base.yml]\nscope:\n  name: nightly\n  bridges: night\n  dead_ends:\n"
        "    - {kind: not-visible, failure_reason: secret, bucket: a/b/own, reason: own}\n"
    )
    found = read_scope(config(tmp_path, own))
    assert found.name == "nightly"
    assert found.dead_end("not-visible", "it is secret").bucket == "a/b/own"
    assert found.dead_end("not-visible", "404").bucket == "a/b/base"


def test_names_are_none_without_a_pattern() -> None:
    assert not Names().hold("anything")


WRONG = [
    pytest.param("scope: {nmae: x}", 'unknown key "nmae".*Did you mean "name"', id="a key"),
    pytest.param("scope: {name: x, bridges: '('}", "scope.bridges: no regular", id="a pattern"),
    pytest.param(
        "scope: {name: x, benchmark: {jobs: {patern: x}}}", 'unknown key "patern"', id="below"
    ),
    pytest.param(
        "scope: {dead_ends: [{kind: gone, bucket: a/b/c, reason: x}]}", "gone", id="a kind"
    ),
    pytest.param(
        "scope: {dead_ends: [{kind: not-read, bucket: a, reason: x}]}", "no bucket name", id="name"
    ),
    pytest.param("scope: {name: x, downstream: a/b}", "expected a list", id="a list"),
]


@pytest.mark.parametrize(("text", "words"), WRONG)
def test_a_wrong_scope_is_refused_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    known = config(tmp_path, text)
    with pytest.raises(UsageError, match=words) as caught:
        read_scope(known)
    assert "mine.yml:4" in str(caught.value)


# --- tracking ---------------------------------------------------------------------------------


def test_without_rules_the_usual_form_is_taken(tmp_path: Path) -> None:
    rules = read_tracking(config(tmp_path, ""))
    assert (rules.form, rules.form_for("a/b/c"), rules.change_type) == (FORM, FORM, "fix")


def test_another_form_for_what_is_no_bug(tmp_path: Path) -> None:
    text = "tracking: {form: bug.yml, other_forms: [{buckets: ^external/, form: wish.yml}]}"
    rules = read_tracking(config(tmp_path, text))
    assert rules.form_for("us/gear/teeth") == "bug.yml"
    assert rules.form_for("external/hub/gated") == "wish.yml"


WRONG_RULES = [
    pytest.param("tracking: {forms: x}", 'unknown key "forms"', id="a key"),
    pytest.param("tracking: {other_forms: [{buckets: '[', form: x}]}", "no regular", id="pattern"),
    pytest.param("tracking: {change: {ticket: X-1}}", "no group named ticket", id="a ticket"),
    pytest.param("tracking: {answers: {area: 3}}", "expected text", id="an answer"),
]


@pytest.mark.parametrize(("text", "words"), WRONG_RULES)
def test_wrong_rules_are_refused_with_their_place(tmp_path: Path, text: str, words: str) -> None:
    known = config(tmp_path, text)
    with pytest.raises(UsageError, match=words) as caught:
        read_tracking(known)
    assert "mine.yml:4" in str(caught.value)


def test_rules_check_knows_scope_and_tracking(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.yml"
    for text, words in (
        ("scope: {name: x, bridges: '('}", "scope.bridges: no regular expression"),
        (
            "scope: {name: x, bridges: 'a[[:space:]]'}",
            "scope.bridges: no regular expression: Possible nested set at position 2",
        ),
        ("tracking: {change: {ticket: X-1}}", "no group named ticket"),
    ):
        path.write_text(HEAD + text, "utf-8")
        assert main(["rules", "check", str(path)], {}) == 2
        assert words in capsys.readouterr().err
