"""The figures of a backtest as Markdown, for people, and as JSON, for machines.

People read the Markdown in a terminal as well, so names stand in code spans, which need no escapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ciops.plumbing.rendering import code_span
from ciops.triage.backtest import Count, Difference, Figures, Share


def figures_json(figures: Figures, differences: Iterable[Difference] = ()) -> dict[str, Any]:
    """All figures as plain data."""
    return {
        "issues": figures.issues,
        "facets": {name: _share(share) for name, share in figures.facets.items()},
        "route_confusion": [
            {"expected": want, "got": got, "issues": count}
            for (want, got), count in sorted(figures.confusion.items())
        ],
        "modules": {name: _count(count) for name, count in sorted(figures.modules.items())},
        "modules_micro": _count(figures.micro),
        "high_priority": _count(figures.high_priority),
        "not_distributed": _count(figures.not_distributed),
        "plan": _share(figures.plan),
        "process": _share(figures.process),
        "wrong": figures.wrong,
        "differences": [_difference(item) for item in differences],
    }


def _share(share: Share) -> dict[str, Any]:
    return {"right": share.right, "of": share.of, "share": round(share.value, 4)}


def _count(count: Count) -> dict[str, Any]:
    return {
        "tp": count.tp,
        "fp": count.fp,
        "fn": count.fn,
        "precision": round(count.precision, 4),
        "recall": round(count.recall, 4),
        "f1": round(count.f1, 4),
    }


def _difference(item: Difference) -> dict[str, Any]:
    return {
        "id": item.id,
        "facet": item.facet,
        "from": _plain(item.before),
        "to": _plain(item.after),
        "gained": list(item.gained),
        "lost": list(item.lost),
    }


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def figures_markdown(
    figures: Figures, title: str, differences: Sequence[Difference] | None = None
) -> str:
    """The figures as a page; `differences` where two policies were compared."""
    return "\n".join(_page(figures, title, differences)) + "\n"


def _page(figures: Figures, title: str, differences: Sequence[Difference] | None) -> Iterator[str]:
    yield f"# Backtest of {code_span(title)}"
    yield ""
    yield f"Issues: {figures.issues}"
    yield ""
    yield from _table(("Facet", "Right", "Of", "Share"), _facet_rows(figures))
    yield from _table(("Modules and flags", "P", "R", "F1", "tp", "fp", "fn"), _count_rows(figures))
    yield from _confusion(figures)
    if figures.wrong:
        yield "## Not as expected"
        yield ""
        for name, problems in figures.wrong.items():
            yield f"- {code_span(name)}: {'; '.join(map(code_span, problems))}"
        yield ""
    if differences is not None:
        yield "## Decided differently by the other policy"
        yield ""
        yield from (f"- {_told(item)}" for item in differences)
        if not differences:
            yield "None."


def _told(item: Difference) -> str:
    evidence = [*(f"+ {x}" for x in item.gained[:4]), *(f"− {x}" for x in item.lost[:4])]
    change = code_span(f"{item.facet}: {_plain(item.before)} → {_plain(item.after)}")
    told = ", ".join(map(code_span, evidence)) or "the same"
    return f"{code_span(item.id)}: {change}; evidence {told}"


def _facet_rows(figures: Figures) -> Iterator[tuple[str, ...]]:
    for name, share in [
        *figures.facets.items(),
        ("plan", figures.plan),
        ("process", figures.process),
    ]:
        if share.of:
            yield code_span(name), str(share.right), str(share.of), f"{share.value:.1%}"


def _count_rows(figures: Figures) -> Iterator[tuple[str, ...]]:
    """What nothing is expected or found of is left out."""
    counts = [
        *((code_span(name), count) for name, count in sorted(figures.modules.items())),
        ("all modules (micro)", figures.micro),
        ("high priority", figures.high_priority),
        ("not distributed", figures.not_distributed),
    ]
    for name, count in counts:
        if not count.tp + count.fp + count.fn:
            continue
        shares = (f"{count.precision:.2f}", f"{count.recall:.2f}", f"{count.f1:.2f}")
        yield name, *shares, str(count.tp), str(count.fp), str(count.fn)


def _confusion(figures: Figures) -> Iterator[str]:
    names = sorted({name for pair in figures.confusion for name in pair})
    rows = [
        (code_span(want), *(str(figures.confusion.get((want, got), 0)) for got in names))
        for want in names
    ]
    if names:
        yield from _table(("Expected ↓ got →", *map(code_span, names)), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Columns of one width; nothing where there is no row."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (head, *rows)]
    if len(cells) == 1:
        return
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * width for width in widths])
    for row in cells:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"| {' | '.join(padded)} |"
    yield ""
