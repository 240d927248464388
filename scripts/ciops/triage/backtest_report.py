"""The figures of a backtest as Markdown, for people, and as JSON, for machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ciops.plumbing.rendering import escape_markdown
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
    yield f"# Backtest: {escape_markdown(title)}"
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
            yield f"- {escape_markdown(name)}: {escape_markdown('; '.join(problems))}"
        yield ""
    if differences is not None:
        yield "## Decided differently by the other policy"
        yield ""
        yield from (f"- {_told(item)}" for item in differences)
        if not differences:
            yield "None."


def _told(item: Difference) -> str:
    evidence = [*(f"+ {x}" for x in item.gained[:4]), *(f"− {x}" for x in item.lost[:4])]
    change = f"{item.facet}: {_plain(item.before)} → {_plain(item.after)}"
    return escape_markdown(f"{item.id}, {change}; evidence {', '.join(evidence) or 'the same'}")


def _facet_rows(figures: Figures) -> Iterator[tuple[str, ...]]:
    for name, share in [
        *figures.facets.items(),
        ("plan", figures.plan),
        ("process", figures.process),
    ]:
        if share.of:
            yield name, str(share.right), str(share.of), f"{share.value:.1%}"


def _count_rows(figures: Figures) -> Iterator[tuple[str, ...]]:
    counts = [
        *sorted(figures.modules.items()),
        ("all modules (micro)", figures.micro),
        ("high priority", figures.high_priority),
        ("not distributed", figures.not_distributed),
    ]
    for name, count in counts:
        shares = (f"{count.precision:.2f}", f"{count.recall:.2f}", f"{count.f1:.2f}")
        yield name, *shares, str(count.tp), str(count.fp), str(count.fn)


def _confusion(figures: Figures) -> Iterator[str]:
    names = sorted({name for pair in figures.confusion for name in pair})
    rows = [
        (want, *(str(figures.confusion.get((want, got), 0)) for got in names)) for want in names
    ]
    if names:
        yield from _table(("Expected route \\ got", *names), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|---" * len(head) + "|"
    yield from ("| " + " | ".join(escape_markdown(cell) for cell in row) + " |" for row in rows)
    yield ""
