"""The post-mortem part of the demo runs, and shows what it says it shows."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

from postmortem.records import ROOT


def test_the_demo_refuses_renders_and_posts_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    spec = importlib.util.spec_from_file_location(
        "demo_postmortem", ROOT / "examples/demo_postmortem.py"
    )
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    assert demo.run(Path("demo")) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]
    said = capsys.readouterr().out
    assert "✗ root cause: " in said
    assert "✗ validation: " in said
    assert "Posted to JIRA-12345: " in said
    assert said.endswith("1 comment on JIRA-12345.\n")
    payload = json.loads((tmp_path / "demo/JIRA-12345.jira.json").read_text("utf-8"))
    posted = json.loads((tmp_path / "demo/posted.json").read_text("utf-8"))
    assert posted["body"] == payload["body"]
