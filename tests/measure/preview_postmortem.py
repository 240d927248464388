"""Pages that show a post-mortem as its readers see it, for the documentation and for a look.

    .venv/bin/python tests/measure/preview_postmortem.py examples/post-mortem.yml out/preview

Writes `jira.html` (the ADF payload, drawn after Jira's look: an approximation, Jira draws it
itself) and `markdown.html` (the Markdown file, drawn after GitHub's look). Take pictures with

    chromium --headless --no-sandbox --disable-gpu --window-size=900,1400 --screenshot=jira.png \\
        jira.html
"""

from __future__ import annotations

import html
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from ciops.postmortem.adf import render_adf  # noqa: E402
from ciops.postmortem.document import build  # noqa: E402
from ciops.postmortem.gfm import render_gfm  # noqa: E402
from ciops.postmortem.record_reader import read_record  # noqa: E402
from ciops.postmortem.references import Links  # noqa: E402
from ciops.postmortem.wording import load_words  # noqa: E402
from postmortem.visible import commonmark  # noqa: E402

Node = dict[str, Any]
STYLE = """
body{margin:24px auto;max-width:820px;font:14px/1.6 -apple-system,"Segoe UI","Noto Sans CJK JP",
 "Noto Sans",sans-serif;color:#172b4d;background:#fff}
h1,h2,h3,h4{line-height:1.25;margin:1.3em 0 .4em}h2{font-size:20px}h3{font-size:16px}
code{background:#f1f2f4;border-radius:3px;padding:1px 4px;font:12px/1.5 ui-monospace,monospace}
pre{background:#f7f8f9;border-radius:3px;padding:12px 16px;overflow-x:auto}
pre code{background:none;padding:0}
table{border-collapse:collapse;margin:.6em 0}td,th{border:1px solid #c1c7d0;padding:6px 10px;
 text-align:left}th{background:#f4f5f7}td p,th p,li p{margin:0}
blockquote{border-left:2px solid #dfe1e6;margin:.6em 0;padding-left:14px;color:#44546f}
a{color:#0c66e4;text-decoration:none}
.comment{border:1px solid #dfe1e6;border-radius:6px;padding:12px 20px}
.by{color:#44546f;font-size:12px;margin-bottom:8px}
"""
BLOCKS: dict[str, str] = {
    "paragraph": "p",
    "bulletList": "ul",
    "listItem": "li",
    "blockquote": "blockquote",
    "tableRow": "tr",
    "tableCell": "td",
    "tableHeader": "th",
    "table": "table",
}
MARKS: dict[str, Callable[[str, Node], str]] = {
    "strong": lambda text, _: f"<strong>{text}</strong>",
    "em": lambda text, _: f"<em>{text}</em>",
    "strike": lambda text, _: f"<s>{text}</s>",
    "code": lambda text, _: f"<code>{text}</code>",
    "link": lambda text, mark: f'<a href="{html.escape(mark["attrs"]["href"])}">{text}</a>',
}


def main(record: Path, folder: Path) -> int:
    reading = read_record(record.read_text(encoding="utf-8"), record.name)
    words = load_words(reading.record.language)
    document = build(reading.record, words, Links(jira="https://example.atlassian.net"))
    folder.mkdir(parents=True, exist_ok=True)
    note = '<p class="by">Drawn after Jira’s look from the ADF payload; Jira draws it itself.</p>'
    comment = f'{note}<div class="comment">{drawn(render_adf(document))}</div>'
    pages = {"jira": comment, "markdown": commonmark().render(render_gfm(document))}
    for name, body in pages.items():
        title = html.escape(f"{reading.record.ticket} {name}")
        page = f'<!doctype html><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
        (folder / f"{name}.html").write_text(page + body, encoding="utf-8")
        print(folder / f"{name}.html")
    return 0


def drawn(node: Node) -> str:
    """One ADF node as HTML."""
    kind = node["type"]
    if kind == "text":
        return text_of(node)
    inner = "".join(map(drawn, node.get("content", [])))
    if kind == "doc":
        return inner
    if kind == "heading":
        level = node["attrs"]["level"]
        return f"<h{level}>{inner}</h{level}>"
    if kind == "codeBlock":
        return f"<pre><code>{inner}</code></pre>"
    if kind == "orderedList":
        return f'<ol start="{node["attrs"]["order"]}">{inner}</ol>'
    if kind in ("hardBreak", "rule"):
        return {"hardBreak": "<br>", "rule": "<hr>"}[kind]
    return f"<{BLOCKS[kind]}>{inner}</{BLOCKS[kind]}>"


def text_of(node: Node) -> str:
    text = html.escape(node["text"])
    for mark in reversed(node.get("marks", [])):
        text = MARKS[mark["type"]](text, mark)
    return text


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), Path(sys.argv[2])))
