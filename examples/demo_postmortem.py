"""A record becomes a post-mortem, posted for real over HTTP: the post-mortem part of `make demo`.

    python examples/demo_postmortem.py [FOLDER]

The Jira is on this machine, and the bug of `post-mortem.yml` is invented. The same record as it
stood before the cause was known is refused; the finished one is rendered, and posted once.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from ciops.postmortem.app import main  # noqa: E402
from ciops.postmortem.payload import digest  # noqa: E402
from fakes.jira import FakeJira  # noqa: E402

RECORD = ROOT / "examples" / "post-mortem.yml"
TICKET = "JIRA-12345"
# What the record said while the cause was a guess and nobody had rerun the reproduction.
EARLIER = {"status: identified": "status: hypothesis", "result: pass\n": "result: not-run\n"}
WIDTH = 200


def run(folder: Path) -> int:
    """Refuse the early record, render the finished one, post it, and find it posted."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    early = folder / "too-early.yml"
    early.write_text(_earlier(RECORD.read_text(encoding="utf-8")), encoding="utf-8")
    with FakeJira(issues={TICKET: {"summary": "Tada hangs on dumbModel"}}) as jira:
        env = {"JIRA_BASE_URL": jira.url, "JIRA_EMAIL": "a@example.com", "JIRA_API_TOKEN": "any"}
        refused = _tool(["check", str(early)], env)
        rendered = _tool(
            ["render", str(RECORD), "--to", "jira", "file", "--output", str(folder)], env
        )
        payload = folder / f"{TICKET}.jira.json"
        approval = digest(payload.read_text(encoding="utf-8"))
        posted = [_tool(["publish", str(payload), "--approve", approval], env) for _ in range(2)]
        comments = jira.comments(TICKET)
        (folder / "posted.json").write_text(json.dumps(comments[0], indent=1), encoding="utf-8")
    print(f"\n{len(comments)} comment on {TICKET}.")
    return 0 if (refused, rendered, *posted) == (3, 0, 0, 0) else 4


def _earlier(text: str) -> str:
    for now, then in EARLIER.items():
        text = text.replace(now, then, 1)
    return text


def _tool(arguments: list[str], env: dict[str, str]) -> int:
    """Run a command and show what it says, long lines cut: a payload is one."""
    shown = " ".join(arguments).replace(f"{ROOT}/", "")
    print(f"\n$ post_mortem_render.py {shown}")
    said = io.StringIO()
    # A summary that is nobody's lands in the working folder's `out`.
    with (
        tempfile.TemporaryDirectory() as aside,
        contextlib.chdir(aside),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
    ):
        status = main(arguments, env)
    for line in said.getvalue().splitlines():
        print(line if len(line) <= WIDTH else f"{line[:WIDTH]}… ({len(line):,} characters)")
    print(f"(exit status {status})")
    return status


if __name__ == "__main__":
    raise SystemExit(run(Path(sys.argv[1] if len(sys.argv) > 1 else "out/demo/post-mortem-render")))
