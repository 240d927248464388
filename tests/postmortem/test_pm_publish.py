"""Publishing: exactly the approved bytes, exactly once, whatever fails on the way."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ciops.errors import RefusedError, UsageError
from ciops.postmortem.app import main
from ciops.postmortem.payload import (
    Payload,
    Visibility,
    check_length,
    digest,
    read_payload,
    read_visibility,
)
from fakes.jira import SCOPED, Account, FakeJira
from postmortem.records import CASES

RECORD = str(CASES / "01.yml")
KEY = "PLUG-2218"
MARK = "triage-action.post-mortem"
CLOUD = {"JIRA_EMAIL": "bot@example.com", "JIRA_API_TOKEN": "secret-token"}
ISSUES = {KEY: {"summary": "Handlers run twice"}}


def run(arguments: list[str], env: dict[str, str], capsys) -> tuple[int, str, str]:
    status = main(arguments, env)
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def rendered(tmp_path: Path, env: dict[str, str], *more: str) -> tuple[Path, str]:
    """A payload file and its digest."""
    assert main(["render", RECORD, "--output", str(tmp_path), *more], env) == 0
    path = next(tmp_path.glob("*.json"))
    return path, digest(path.read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """Waits are counted by the client; here none is slept."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)


@pytest.fixture
def site():
    with FakeJira(issues=ISSUES) as jira:
        yield jira


def env_of(jira: FakeJira) -> dict[str, str]:
    return {"JIRA_BASE_URL": jira.url, **CLOUD}


def test_the_approved_body_is_posted_with_its_digest_beside_it(tmp_path, site, capsys):
    path, approval = rendered(tmp_path, env_of(site), "--visibility", "role:Developers")
    status, out, _ = run(["publish", str(path), "--approve", approval], env_of(site), capsys)
    payload = json.loads(path.read_text(encoding="utf-8"))
    assert status == 0
    (comment,) = site.comments(KEY)
    assert comment["body"] == payload["body"]
    assert comment["visibility"] == {"type": "role", "value": "Developers"}
    assert site.properties(comment["id"]) == {MARK: {"digest": approval}}
    assert f"{site.url}/browse/{KEY}?focusedCommentId={comment['id']}" in out
    assert "secret-token" not in out


def test_a_second_publish_says_that_it_is_there(tmp_path, site, capsys):
    path, approval = rendered(tmp_path, env_of(site))
    for _ in range(2):
        status, out, _ = run(["publish", str(path), "--approve", approval], env_of(site), capsys)
        assert status == 0
    assert "already has this comment" in out
    assert len(site.comments(KEY)) == 1


def test_two_publishes_at_once_post_one_comment(tmp_path, site):
    path, approval = rendered(tmp_path, env_of(site))
    arguments = ["publish", str(path), "--approve", approval]
    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(lambda _: main(arguments, env_of(site)), range(4)))
    assert statuses == [0, 0, 0, 0]
    assert len(site.comments(KEY)) == 1


def test_a_comment_that_was_edited_since_is_said_to_be(tmp_path, site, capsys):
    path, approval = rendered(tmp_path, env_of(site))
    arguments = ["publish", str(path), "--approve", approval]
    assert run(arguments, env_of(site), capsys)[0] == 0
    comment = site.find_comment(site.comments(KEY)[0]["id"])
    comment["updated"] = "2030-01-01T00:00:00.000+0000"
    status, out, _ = run(arguments, env_of(site), capsys)
    assert status == 0
    assert "edited since" in out
    assert len(site.comments(KEY)) == 1


def test_the_file_is_canonical_json_and_its_digest_is_that_of_its_bytes(tmp_path, site, capsys):
    path, approval = rendered(tmp_path, env_of(site))
    out = capsys.readouterr().out
    raw = path.read_bytes()
    data = json.loads(raw)
    canonical = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert raw == canonical.encode()
    assert data["site"] == site.url
    assert sorted(data) == ["body", "issue", "site", "visibility"]
    assert raw.decode() in out
    assert approval in out


@pytest.mark.parametrize("approval", ["", "yes", "sha256:12", "sha256:" + "0" * 64])
def test_nothing_is_posted_without_the_right_digest(tmp_path, site, capsys, approval):
    path, _ = rendered(tmp_path, env_of(site))
    arguments = ["publish", str(path)] + (["--approve", approval] if approval else [])
    status, _, err = run(arguments, env_of(site), capsys)
    assert status == 3
    assert "digest" in err or "approved" in err
    assert site.request_count == 0


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (b"\xef\xbb\xbf%s", "is no payload that render wrote: it is not JSON"),
        (b"%s\n", "not the one that was approved"),
        (b" %s", "is no payload that render wrote: it is not written as render writes it"),
        (b"%s\0", "is no payload that render wrote: it is not JSON"),
    ],
)
def test_the_digest_is_that_of_every_byte(tmp_path, site, capsys, written, words):
    path, approval = rendered(tmp_path, env_of(site))
    path.write_bytes(written % path.read_bytes())
    status, _, err = run(["publish", str(path), "--approve", approval], env_of(site), capsys)
    assert (status, site.request_count) == (3, 0)
    assert words in err


@pytest.mark.parametrize("approval", ["", "sha256:" + "0" * 64], ids=["no-digest", "of-another"])
@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("PLUG-2218.md", "# Post-mortem", "it is not JSON"),
        ("empty.json", "", "it is not JSON"),
        ("list.json", "[]", "it holds no object"),
        ("run.json", '{"schema":1,"writes":[]}', "body (found: schema, writes)"),
    ],
)
def test_a_file_that_is_no_payload_is_said_to_be_none(
    tmp_path, site, capsys, approval, name, text, what
):
    (tmp_path / name).write_text(text, encoding="utf-8")
    arguments = ["publish", str(tmp_path / name), "--approve", approval]
    status, _, err = run(arguments, env_of(site), capsys)
    assert (status, site.request_count) == (3, 0)
    assert f"{name} is no payload that render wrote: it" in err
    assert what in err
    assert "Name the TICKET.jira.json that render --to jira wrote" in err
    assert "changed" not in err


def test_an_edited_file_is_refused(tmp_path, site, capsys):
    path, approval = rendered(tmp_path, env_of(site))
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("twice", "once"), encoding="utf-8")
    status, _, err = run(["publish", str(path), "--approve", approval], env_of(site), capsys)
    assert (status, site.request_count) == (3, 0)
    assert "not the one that was approved" in err


@pytest.mark.parametrize("base", ["", "https://other.example"], ids=["unset", "another"])
def test_another_site_is_refused(tmp_path, site, capsys, base):
    path, approval = rendered(tmp_path, env_of(site))
    env = {**env_of(site), "JIRA_BASE_URL": base}
    status, _, err = run(["publish", str(path), "--approve", approval], env, capsys)
    assert (status, site.request_count) == (3, 0)
    assert site.url in err


def test_a_payload_without_a_site_is_refused_until_rendered_for_one(tmp_path, site, capsys):
    path, approval = rendered(tmp_path, {})
    assert json.loads(path.read_text(encoding="utf-8"))["site"] is None
    status, _, err = run(["publish", str(path), "--approve", approval], env_of(site), capsys)
    assert (status, site.request_count) == (3, 0)
    assert "names no site" in err


def test_no_credentials(tmp_path, site, capsys):
    path, approval = rendered(tmp_path, env_of(site))
    env = {"JIRA_BASE_URL": site.url}
    status, _, err = run(["publish", str(path), "--approve", approval], env, capsys)
    assert status == 2
    assert "JIRA_EMAIL" in err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[]", "holds no object"),
        ('{"site":null,"issue":"A-1","visibility":null,"body":{},"x":1}', "exactly"),
        ('{"site":null,"issue":"../A-1","visibility":null,"body":"x"}', "key of a Jira issue"),
        ('{"site":null,"issue":"A-1","visibility":"x","body":"x"}', "visibility"),
        ('{"site":null,"issue":"A-1","visibility":null,"body":""}', "no body"),
        ('{"site":7,"issue":"A-1","visibility":null,"body":"x"}', "site"),
    ],
)
def test_a_payload_of_another_make(text, words):
    with pytest.raises(UsageError, match=words):
        read_payload(text, "p.json")


def test_a_body_that_is_no_adf_is_refused_before_it_is_sent(tmp_path, site, capsys):
    payload = Payload(site.url, KEY, None, {"version": 1, "type": "doc", "content": [{}]})
    path = tmp_path / "p.json"
    path.write_bytes(payload.text().encode())
    approval = digest(payload.text())
    status, _, err = run(["publish", str(path), "--approve", approval], env_of(site), capsys)
    assert (status, site.request_count) == (3, 0)
    assert "not valid ADF" in err


def test_a_body_that_is_nested_without_end_is_refused(tmp_path, site, capsys):
    inner = {"type": "paragraph"}
    for _ in range(150):
        inner = {"type": "bulletList", "content": [{"type": "listItem", "content": [inner]}]}
    payload = Payload(site.url, KEY, None, {"version": 1, "type": "doc", "content": [inner]})
    path = tmp_path / "p.json"
    path.write_bytes(payload.text().encode())
    approval = digest(payload.text())
    status, _, err = run(["publish", str(path), "--approve", approval], env_of(site), capsys)
    assert (status, site.request_count) == (3, 0)
    assert "nested too deep" in err


@pytest.mark.parametrize(
    "base",
    [
        "https://bot:s3cret@example.atlassian.net",
        "https://example.atlassian.net?token=s3cret",
        "https://example.atlassian.net/#s3cret",
        "https://example.atlassian.net\\@s3cret",
        "https://example.atlassian.net s3cret",
        "https://éxample.net/s3cret",
    ],
)
def test_a_site_that_is_more_than_an_address_is_refused_unseen(tmp_path, capsys, base):
    env = {"JIRA_BASE_URL": base}
    status, out, err = run(["render", RECORD, "--output", str(tmp_path)], env, capsys)
    assert status == 2
    assert "JIRA_BASE_URL" in err
    assert "s3cret" not in out + err
    assert list(tmp_path.iterdir()) == []


def test_a_service_project_gets_a_warning_unless_the_comment_is_kept_inside(tmp_path, capsys):
    for visibility, warned in (((), True), (("--visibility", "group:staff"), False)):
        folder = tmp_path / str(warned)
        issues = {KEY: {"summary": "x", "project_type": "service_desk"}}
        with FakeJira(issues=issues) as jira:
            path, approval = rendered(folder, env_of(jira), *visibility)
            arguments = ["publish", str(path), "--approve", approval]
            _, _, err = run(arguments, env_of(jira), capsys)
            assert ("customers may see" in err) is warned
            assert len(jira.comments(KEY)) == 1


def test_a_scoped_token_goes_to_its_own_address(tmp_path, capsys):
    tokens = {"scoped": Account("bot@example.com", scopes={SCOPED})}
    with FakeJira(issues=ISSUES, tokens=tokens) as jira:
        env = {
            **env_of(jira),
            "JIRA_API_TOKEN": "scoped",
            "JIRA_CLOUD_ID": jira.cloud_id,
            "JIRA_SCOPED_API_URL": jira.url,
        }
        path, approval = rendered(tmp_path, env)
        assert run(["publish", str(path), "--approve", approval], env, capsys)[0] == 0
        assert len(jira.comments(KEY)) == 1
        assert all(asked.path.startswith("/ex/jira/") for asked in jira.requests)


@pytest.mark.parametrize("root", ["", "/jira"])
def test_data_center_takes_wiki_markup_with_a_personal_token(tmp_path, capsys, root):
    with FakeJira(issues=ISSUES, data_center=True, root=root) as jira:
        env = {"JIRA_BASE_URL": jira.url, "JIRA_PAT": "pat"}
        path, approval = rendered(tmp_path, env, "--to", "jira-server")
        for _ in range(2):
            assert run(["publish", str(path), "--approve", approval], env, capsys)[0] == 0
        (comment,) = jira.comments(KEY)
        assert comment["body"].startswith("h2. Post-mortem PLUG-2218")
        assert jira.properties(comment["id"]) == {MARK: {"digest": approval}}


def test_adf_is_not_sent_to_data_center(tmp_path, capsys):
    with FakeJira(issues=ISSUES, data_center=True) as jira:
        env = {"JIRA_BASE_URL": jira.url, "JIRA_PAT": "pat"}
        path, approval = rendered(tmp_path, env)
        status, _, err = run(["publish", str(path), "--approve", approval], env, capsys)
        assert status == 3
        assert "jira-server" in err
        assert jira.writes == []


def test_an_issue_that_is_not_there(tmp_path, capsys):
    with FakeJira(issues={"OTHER-1": {}}) as jira:
        path, approval = rendered(tmp_path, env_of(jira))
        status, _, err = run(["publish", str(path), "--approve", approval], env_of(jira), capsys)
        assert status != 0
        assert KEY in err
        assert jira.writes == []


def test_a_comment_that_is_too_long_names_the_section_to_cut(tmp_path, capsys):
    text = Path(RECORD).read_text(encoding="utf-8")
    long = text.replace("The dispatcher walks", "The dispatcher walks " + "on and on " * 3_500)
    record = tmp_path / "long.yml"
    record.write_text(long, encoding="utf-8")
    for destination, status in (("jira", 3), ("jira-server", 3), ("file", 0)):
        arguments = ["render", str(record), "--to", destination, "--output", str(tmp_path)]
        assert main(arguments, {}) == status
        err = capsys.readouterr().err
        assert ("Cut the section Why it produced this symptom first" in err) is bool(status)
    assert list(tmp_path.glob("*.json")) == []


def test_length_is_measured_as_it_is_sent():
    check_length(10, {"a": 10}, 10)
    with pytest.raises(RefusedError, match=r"11 characters.*Cut the section b first"):
        check_length(11, {"a": 2, "b": 9}, 10)


@pytest.mark.parametrize("text", ["group:staff", "role:Service Desk Team"])
def test_a_visibility(text):
    kind, _, name = text.partition(":")
    assert read_visibility(text) == Visibility(kind, name)


@pytest.mark.parametrize("text", ["staff", "group:", "user:me", ""])
def test_no_visibility(text):
    with pytest.raises(UsageError, match="group:NAME or role:NAME"):
        read_visibility(text)
