"""How long post-mortem-render takes: a start, a check of the gates and the prose, each rendering.

    .venv/bin/python tests/bench/bench_postmortem.py

Times are the best of several runs, in milliseconds; a start is a whole process.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts")]

from ciops.postmortem.adf import render_adf  # noqa: E402
from ciops.postmortem.document import build  # noqa: E402
from ciops.postmortem.gates import decide  # noqa: E402
from ciops.postmortem.gfm import render_gfm  # noqa: E402
from ciops.postmortem.prose import check_record  # noqa: E402
from ciops.postmortem.prose_rules import load_guide  # noqa: E402
from ciops.postmortem.record import LANGUAGES  # noqa: E402
from ciops.postmortem.record_reader import read_record  # noqa: E402
from ciops.postmortem.references import Links  # noqa: E402
from ciops.postmortem.settings import load_settings  # noqa: E402
from ciops.postmortem.wiki_markup import render_wiki  # noqa: E402
from ciops.postmortem.wording import load_words  # noqa: E402

CASES = ROOT / "tests" / "data" / "postmortem" / "cases"
RUNS = 5
SETTINGS = load_settings()
WORDS = {language: load_words(language) for language in LANGUAGES}
GUIDES = {language: load_guide(language) for language in LANGUAGES}


def best(work: Callable[[], object], runs: int = RUNS) -> float:
    """Milliseconds of the quickest run."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds) * 1000


def start_of(*arguments: str) -> float:
    command = [sys.executable, "-I", str(ROOT / "scripts" / "post_mortem_render.py"), *arguments]
    return best(lambda: subprocess.run(command, capture_output=True, check=False))


def figures(name: str, text: str) -> dict[str, float]:
    """Milliseconds of each step for one record."""
    reading = read_record(text, name)
    record, language = reading.record, reading.record.language
    guide, words = GUIDES[language], WORDS[language]
    document = build(record, words, Links())
    return {
        "read and judge": best(lambda: decide(read_record(text, name), SETTINGS, words)),
        "prose": best(lambda: check_record(record, guide)),
        "document": best(lambda: build(record, words, Links())),
        "ADF": best(lambda: render_adf(document)),
        "Markdown": best(lambda: render_gfm(document)),
        "wiki markup": best(lambda: render_wiki(document)),
    }


def main() -> int:
    paths = sorted(CASES.glob("*.yml"))
    rows = [figures(path.stem, path.read_text(encoding="utf-8")) for path in paths]
    for name in rows[0]:
        times = [row[name] for row in rows]
        print(f"{name:15} {sum(times) / len(times):6.2f} ms a record, {max(times):6.2f} at most")
    whole = [sum(row.values()) for row in rows]
    print(f"{'all of it':15} {sum(whole) / len(whole):6.2f} ms a record, {max(whole):6.2f} at most")
    print(f"{'start, check':15} {start_of('check', str(CASES / '01.yml')):6.0f} ms")
    print(f"{'start, --help':15} {start_of('--help'):6.0f} ms")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
