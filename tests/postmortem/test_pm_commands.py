"""The command line: exit statuses, JSON, files, and where inputs of an action land."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from ciops.postmortem.app import COMMANDS, main
from ciops.postmortem.output_folder import file_stem
from postmortem.records import CASES, GONE, ROOT, changed

EXAMPLE = str(ROOT / "examples" / "post-mortem.yml")
DESTINATIONS = ["jira", "jira-server", "print", "file", "pull-request", "wiki"]


def run(capsys, *arguments: str, **env: str) -> tuple[int, str, str]:
    status = main(arguments, env)
    shown = capsys.readouterr()
    return status, shown.out, shown.err


@pytest.fixture
def record(tmp_path):
    """Writes a record and gives its path."""

    def write(**changes: object) -> str:
        path = tmp_path / "record.yml"
        text = yaml.safe_dump(changed(**changes), allow_unicode=True, sort_keys=False)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


@pytest.mark.parametrize(
    ("name", "status"),
    [("01", 0), ("10", 0), ("07", 3), ("13", 3), ("14", 3), ("15", 3), ("16", 3)],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_check_exits_by_the_verdict(capsys, name, status, form):
    assert run(capsys, "check", str(CASES / f"{name}.yml"), "--format", form)[0] == status


def test_check_prints_the_json_of_its_contract(capsys):
    status, out, _ = run(capsys, "check", str(CASES / "10.yml"), "--format", "json")
    data = json.loads(out)
    assert status == 0
    assert list(data) == [
        "schema",
        "verdict",
        "missing",
        "redirect",
        "errors",
        "findings",
        "sections",
    ]
    assert data["schema"] == 1
    assert list(data["findings"][0]) == ["kind", "field", "line", "phrase", "suggestion"]
    assert [finding["line"] for finding in data["findings"]] == [23, 24, 27]
    errors = json.loads(run(capsys, "check", str(CASES / "16.yml"), "--format", "json")[1])[
        "errors"
    ]
    assert errors[0] == {
        "path": "root_casue",
        "problem": "unknown-key",
        "suggestion": "Did you mean root_cause?",
        "line": 11,
    }


def test_a_yaml_fault_is_refused_and_a_missing_file_is_usage(capsys, tmp_path):
    broken = tmp_path / "broken.yml"
    broken.write_text("summary: a: b\n", encoding="utf-8")
    status, out, _ = run(capsys, "check", str(broken), "--format", "json")
    assert status == 3
    assert json.loads(out)["errors"][0]["problem"] == "yaml-syntax"
    status, _, err = run(capsys, "check", str(tmp_path / "none.yml"))
    assert status == 2
    assert "no such file" in err


def test_strict_makes_findings_count(capsys):
    assert run(capsys, "check", str(CASES / "10.yml"), "--strict")[0] == 3
    assert run(capsys, "check", str(CASES / "01.yml"), "--strict")[0] == 0


@pytest.mark.parametrize(
    ("own", "asked", "said"),
    [
        ("ja", "fr", "--language fr は使われません。記録自身が language: ja と指定しています。"),
        ("en", "ja", "--language ja is passed over: the record says language: en itself."),
        ("fr", "en", "--language en n'est pas suivi\u00a0: la clé language du dossier indique fr."),
        ("fr", "fr", ""),
        (GONE, "fr", ""),
        ("fr", None, ""),
        ("frr", "en", ""),  # an error of its own
    ],
)
def test_a_record_s_own_language_is_stronger_than_the_option_and_says_so(
    capsys, record, own, asked, said
):
    option = ["--language", asked] if asked else []
    out = run(capsys, "check", record(language=own), *option)[1]
    assert ("--language" in out) == bool(said)
    assert said in out


def test_an_incident_waits_for_its_confirmation(capsys):
    incident = str(CASES / "13.yml")
    status, out, _ = run(capsys, "check", incident)
    assert status == 3
    assert "incident report" in out
    assert "--confirm-bug-fix" in out
    assert run(capsys, "check", incident, "--confirm-bug-fix")[0] == 0


def test_a_trivial_fix_is_sent_to_its_pull_request(capsys, record):
    status, out, _ = run(capsys, "check", record(kind="trivial"))
    assert status == 3
    assert "description of its pull request" in out


def test_render_writes_every_destination(capsys, tmp_path):
    arguments = ["render", EXAMPLE, "--to", *DESTINATIONS, "--output", str(tmp_path)]
    status, out, _ = run(capsys, *arguments)
    assert status == 0
    written = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*"))
    assert written == [
        "JIRA-12345.jira-server.json",
        "JIRA-12345.jira.json",
        "JIRA-12345.pr.md",
        "JIRA-12345.wiki",
        str(Path("docs", "postmortems", "JIRA-12345.md")),
        "summary.md",
    ]
    assert "# Post-mortem JIRA-12345: Tada hangs on dumbModel" in out
    assert "--handoff FILE" in out


def test_render_goes_to_jira_unless_told_otherwise(capsys, tmp_path):
    assert run(capsys, "render", EXAMPLE, "--output", str(tmp_path))[0] == 0
    assert [path.name for path in tmp_path.glob("*.json")] == ["JIRA-12345.jira.json"]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["--to", "jira"], 3), (["--to", "file", "--strict"], 3)],
    ids=["a gate", "strict"],
)
def test_nothing_is_drafted_when_refused(capsys, tmp_path, arguments, status):
    name = "07" if "--strict" not in arguments else "10"
    folder = tmp_path / "out"
    command = ["render", str(CASES / f"{name}.yml"), "--output", str(folder), *arguments]
    assert run(capsys, *command)[0] == status
    assert [path.name for path in folder.rglob("*.*")] == ["summary.md"]


def test_two_renders_are_the_same_bytes(capsys, tmp_path):
    for folder in ("a", "b"):
        arguments = ["--to", *DESTINATIONS, "--output", str(tmp_path / folder)]
        run(capsys, "render", str(CASES / "03.yml"), *arguments)
    for path in (tmp_path / "a").rglob("*.*"):
        other = tmp_path / "b" / path.relative_to(tmp_path / "a")
        assert path.read_bytes() == other.read_bytes()


def test_the_handoff_is_written_only_when_asked(capsys, tmp_path):
    target = tmp_path / "handoff.md"
    arguments = ["render", EXAMPLE, "--to", "print", "--output", str(tmp_path / "out")]
    run(capsys, *arguments)
    assert not target.exists()
    run(capsys, *arguments, "--handoff", str(target))
    assert "## Root cause" in target.read_text(encoding="utf-8")


def test_a_ticket_can_be_given_in_place_of_the_records(capsys, tmp_path, record):
    arguments = ["--ticket", "OTHER-9", "--output", str(tmp_path)]
    assert run(capsys, "render", record(), *arguments)[0] == 0
    payload = json.loads((tmp_path / "OTHER-9.jira.json").read_text(encoding="utf-8"))
    assert payload["issue"] == "OTHER-9"


def test_a_ticket_that_is_no_jira_issue_is_told(capsys, tmp_path, record):
    path = record(ticket="org/repo#12")
    status, _, err = run(capsys, "render", path, "--output", str(tmp_path))
    assert status == 2
    assert "--ticket" in err
    assert run(capsys, "render", path, "--to", "file", "--output", str(tmp_path))[0] == 0
    assert (tmp_path / "docs" / "postmortems" / "org-repo-12.md").exists()


@pytest.mark.parametrize(
    ("ticket", "stem"),
    [
        ("PLUG-1", "PLUG-1"),
        ("../../etc/passwd", "etc-passwd"),
        ("org/repo#12", "org-repo-12"),
        ("障害-7", "障害-7"),
        ("CON", "_CON"),
        ("a" * 300, "a" * 100),
    ],
)
def test_a_ticket_as_a_file_name(ticket, stem):
    assert file_stem(ticket) == stem


@pytest.mark.parametrize("ticket", ["障害" * 80, "é" * 200, "PLUG-" + "1" * 300])
def test_a_long_ticket_still_names_a_file(capsys, tmp_path, record, ticket):
    out = tmp_path / "out"
    to = ("--to", "file", "wiki", "--output", str(out))
    assert run(capsys, "render", record(ticket=ticket), *to)[0] == 0
    assert len(list((out / "docs" / "postmortems").iterdir())) == 1


def test_a_symbolic_link_in_the_output_folder_is_refused(capsys, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    out = tmp_path / "out"
    out.mkdir()
    (out / "docs").symlink_to(elsewhere)
    status, _, err = run(capsys, "render", EXAMPLE, "--to", "file", "--output", str(out))
    assert status == 3
    assert "symbolic link" in err
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("command", [[], ["--help"], *([name, "--help"] for name in COMMANDS)])
def test_help_has_an_example(capsys, command):
    if len(command) == 2:
        with pytest.raises(SystemExit, match="0"):
            main(command, {})
    else:
        assert main(command, {}) == (0 if command else 2)
    assert "example:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["chekc"], 'Did you mean "check"?'),
        (["check"], "--help"),
        (["check", EXAMPLE, "--format", "xml"], "--format"),
        (["check", EXAMPLE, "--form", "json"], "--form"),
        (["render", EXAMPLE, "--visibility", "staff"], "group:NAME or role:NAME"),
        (["render", EXAMPLE, "--to", "slack"], "slack"),
        (["publish", "none.json"], "no such file"),
    ],
)
def test_a_usage_error_says_what_to_do(capsys, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    status, _, err = run(capsys, *arguments)
    assert status == 2
    assert words in err


def test_check_hands_its_verdict_to_later_steps(capsys, tmp_path):
    output = tmp_path / "output"
    env = {"GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": str(output)}
    assert main(["check", EXAMPLE], env) == 0
    assert output.read_text("utf-8").splitlines()[1] == "render"


def test_inputs_of_an_action_stand_for_options(capsys, tmp_path):
    env = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "INPUT_COMMAND": "render",
        "INPUT_RECORD": EXAMPLE,
        "INPUT_TO": "file, wiki",
        "INPUT_OUTPUT": str(tmp_path / "out"),
        "INPUT_STRICT": "false",
    }
    assert main([], env) == 0
    assert sorted(path.name for path in (tmp_path / "out").rglob("*.*")) == [
        "JIRA-12345.md",
        "JIRA-12345.wiki",
    ]
    assert "### Root cause" in (tmp_path / "summary").read_text(encoding="utf-8")
    assert "verdict" in (tmp_path / "output").read_text(encoding="utf-8")


def test_a_command_line_wins_over_inputs(capsys, tmp_path):
    env = {"INPUT_RECORD": str(CASES / "07.yml"), "INPUT_FORMAT": "json"}
    assert main(["check", EXAMPLE, "--format", "text"], env) == 0
    assert "can be written" in capsys.readouterr().out


def test_faults_and_findings_are_annotated_on_github(capsys):
    _, out, _ = run(capsys, "check", str(CASES / "14.yml"), GITHUB_ACTIONS="true")
    assert "line=35::action_items[1].owner: missing" in out
    _, out, _ = run(capsys, "check", str(CASES / "10.yml"), GITHUB_ACTIONS="true")
    assert "::warning file=" in out
    assert 'line=23::hedge: "We believe"' in out


@pytest.mark.parametrize("title", ["::error::x", "##[error]x"])
def test_record_text_speaks_no_workflow_command(capsys, tmp_path, record, title):
    path = record(title=title, summary=f"{title}\n\n{title}")
    arguments = ["render", path, "--to", "print", "--output", str(tmp_path)]
    _, out, _ = run(capsys, *arguments, GITHUB_ACTIONS="true")
    spoken = [line for line in out.split("\n") if line.lstrip().startswith("::error")]
    assert spoken == []
    assert "::stop-commands::" in out or "##[" not in out
    _, out, _ = run(capsys, "check", path, "--format", "json", GITHUB_ACTIONS="true")
    assert json.loads(out)["verdict"] == "render"


def test_a_refusal_in_the_summary_holds_no_markup_of_the_record(tmp_path, capsys):
    path, summary = tmp_path / "r.yml", tmp_path / "summary.md"
    key = "<img src=x> [c](https://evil.example) @everyone"
    path.write_text(f'ticket: "A-1"\n"{key}": 1\n', encoding="utf-8")
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    status, _, _ = run(capsys, "render", str(path), "--output", str(tmp_path / "out"), **env)
    shown = MarkdownIt("gfm-like", {"linkify": False}).render(summary.read_text(encoding="utf-8"))
    assert status == 3
    assert "&lt;img src=x&gt; [c](https://evil.example)" in shown.replace("<!-- -->", "")
    assert "<a" not in shown
    assert "<img" not in shown
    assert "@everyone" not in shown


def test_the_entry_point_runs_isolated_with_packages_from_elsewhere():
    import yaml as package

    import ciops

    site = str(Path(package.__file__).resolve().parents[1])
    command = [sys.executable, "-I", str(ROOT / "scripts" / "post_mortem_render.py")]
    done = subprocess.run(
        [*command, "check", EXAMPLE],
        env={"TRIAGE_ACTION_SITE": site},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert ciops.__name__ == "ciops"


@pytest.mark.parametrize("command", ["check", "lint", "new"])
def test_a_start_pays_for_no_library_that_it_does_not_use(tmp_path, command):
    arguments = {
        "check": [EXAMPLE],
        "lint": [str(ROOT / "tests" / "golden" / "postmortem" / "file.en.md")],
        "new": ["PLUG-1"],
    }[command]
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from ciops.postmortem.app import main\n"
        "main(sys.argv[2:], {})\n"
        "print(sorted({'requests', 'jinja2', 'jsonschema', 'urllib3'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT / "scripts"), command, *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        cwd=tmp_path,
    )
    assert done.stdout.strip().endswith("[]"), done.stdout + done.stderr
