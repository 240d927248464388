"""Pages that look as a host shows what the tools hand over: drawn for pictures, never served.

GitHub draws job summaries and Markdown files itself, and its charts with Mermaid; these pages are
an approximation with markdown-it-py and a style sheet. Jira's look is in
tests/measure/preview_postmortem.py.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator

from measure.preview_postmortem import STYLE as JIRA_STYLE
from postmortem.visible import commonmark

MERMAID = re.compile(r"```mermaid\npie showData title ([^\n]+)\n(.*?)```\n", re.DOTALL)
SLICE = re.compile(r'"([^"]+)" : (\d+)')
COLOURS = ("#8dd3c7", "#bebada", "#fb8072", "#80b1d3", "#fdb462", "#b3de69", "#fccde5", "#d9d9d9")
STYLE = """
body{margin:0;padding:20px;background:#fff;color:#1f2328;
 font:14px/1.5 -apple-system,"Segoe UI","Noto Sans",Helvetica,Arial,sans-serif}
.frame{border:1px solid #d1d9e0;border-radius:6px;overflow:hidden}
.bar{background:#f6f8fa;border-bottom:1px solid #d1d9e0;padding:10px 16px;font-weight:600;
 font-size:13px}
.text{padding:4px 24px 20px}
h1,h2{padding-bottom:.3em;border-bottom:1px solid #d1d9e0b3}
h1{font-size:26px}h2{font-size:21px}h3{font-size:17px}h1,h2,h3{line-height:1.25;margin:20px 0 12px}
p{margin:0 0 12px}ul,ol{margin:0 0 12px;padding-left:2em}li+li{margin-top:.25em}
a{color:#0969da;text-decoration:none}
code{background:#818b981f;border-radius:6px;padding:.2em .4em;
 font:85%/1.5 ui-monospace,SFMono-Regular,Menlo,"Liberation Mono",monospace}
pre{background:#f6f8fa;border-radius:6px;padding:12px;overflow:hidden}pre code{background:none}
table{border-collapse:collapse;margin:0 0 12px}
td,th{border:1px solid #d1d9e0;padding:6px 13px}tr:nth-child(2n) td{background:#f6f8fa}
details{margin:0 0 10px}summary{font-weight:400}
.pie text{font:13px sans-serif}.pie .title{font-size:18px}
"""


def github(title: str, markdown: str) -> str:
    """Markdown as GitHub shows it, below a bar with a title."""
    drawn = commonmark().render(MERMAID.sub(_chart, markdown))
    return _page(
        f'<div class="frame"><div class="bar">{html.escape(title)}</div>'
        f'<div class="text">{drawn}</div></div>',
        STYLE,
    )


def jira(comment: str) -> str:
    """A comment as Jira shows it, from HTML that was drawn from its ADF."""
    return _page(f'<div class="comment">{comment}</div>', JIRA_STYLE)


def _page(body: str, style: str) -> str:
    head = f'<!doctype html><meta charset="utf-8"><title>picture</title><style>{style}</style>'
    return f"{head}{body}\n"


def _chart(found: re.Match[str]) -> str:
    """A pie as Mermaid draws one; as one line of HTML, which Markdown leaves alone."""
    slices = [(name, int(number)) for name, number in SLICE.findall(found[2])]
    title = f'<text class="title" x="150" y="22">{html.escape(found[1])}</text>'
    parts = "".join([title, *_wedges(slices), *_legend(slices)])
    return f'<div><svg class="pie" width="780" height="300">{parts}</svg></div>\n'


def _wedges(slices: list[tuple[str, int]]) -> Iterator[str]:
    whole, turned = sum(number for _, number in slices), 0.0
    for index, (_, number) in enumerate(slices):
        start, turned = turned, turned + number / whole
        (x1, y1), (x2, y2) = _rim(start), _rim(turned)
        x, y = _rim((start + turned) / 2, 85)
        large = int(number * 2 > whole)
        colour = COLOURS[index % len(COLOURS)]
        yield (
            f'<path d="M150 165L{x1:.1f} {y1:.1f}A120 120 0 {large} 1 {x2:.1f} {y2:.1f}Z" '
            f'fill="{colour}" stroke="#333"/>'
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{number * 100 / whole:.0f}%</text>'
        )


def _rim(part: float, radius: float = 120) -> tuple[float, float]:
    angle = 2 * math.pi * part
    return 150 + radius * math.sin(angle), 165 - radius * math.cos(angle)


def _legend(slices: list[tuple[str, int]]) -> Iterator[str]:
    for index, (name, number) in enumerate(slices):
        y, colour = 100 + 24 * index, COLOURS[index % len(COLOURS)]
        yield (
            f'<rect x="300" y="{y}" width="16" height="16" fill="{colour}" stroke="#333"/>'
            f'<text x="324" y="{y + 13}">{html.escape(name)} [{number}]</text>'
        )
