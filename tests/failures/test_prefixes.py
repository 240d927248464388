"""Prefixes that launchers, loggers and viewers stack before a line."""

from __future__ import annotations

import pytest

from ciops.failures.prefixes import ERROR, INFO, NO_LEVEL, WARNING, peel


@pytest.mark.parametrize(
    ("line", "source", "level", "text"),
    [
        ("plain words", "", NO_LEVEL, "plain words"),
        ("3: hello", "rank 3", NO_LEVEL, "hello"),
        ("[rank1]: hello", "rank 1", NO_LEVEL, "hello"),
        ("2026-05-04 10:00:00 ERROR 404: Not Found.", "", ERROR, "404: Not Found."),
        ("2026-05-04 10:00:00 ERROR [rank1]: lost", "rank 1", ERROR, "lost"),
        ("[1,2]<stderr>: x", "rank 2", NO_LEVEL, "x"),
        ("[prterun-host-7@1,4]<stdout>: x", "rank 4", NO_LEVEL, "x"),
        ("[3]<stderr>:x", "rank 3", NO_LEVEL, "x"),
        ("worker-2: x", "rank 2", NO_LEVEL, "x"),
        ("Rank 5> x", "rank 5", NO_LEVEL, "x"),
        ("(EngineCore_0 pid=12) x", "EngineCore_0 12", NO_LEVEL, "x"),
        ("(pid=12, ip=10.0.0.1) x", "pid 12", NO_LEVEL, "x"),
        ("web-1  | x", "web-1", NO_LEVEL, "x"),
        ("shop> x", "shop", NO_LEVEL, "x"),
        ("0: [rank1]:E1122 10:31:51.468000 16 a/b.py:2] X: y", "rank 0", ERROR, "X: y"),
        ("[05/04/2026-10:31:08] [TRT-LLM] [RANK 2] [E] bad", "rank 2", ERROR, "bad"),
        ("2026-05-04 10:00:00,123 - shop.db - ERROR - bad", "", ERROR, "bad"),
        ("2026-05-04T10:00:00.1234567Z ##[error]bad", "", ERROR, "bad"),
        ("##[warning]meh", "", WARNING, "meh"),
        ("[INFO] fine", "", INFO, "fine"),
        ("[warn] src/cart.ts", "", WARNING, "src/cart.ts"),
        ("<3>[   63.622235]  trace", "", NO_LEVEL, " trace"),
        ("==4711== Invalid read", "", NO_LEVEL, "Invalid read"),
        ("    [junit]     => x", "", NO_LEVEL, "    => x"),
        ("[pipenv.exceptions.X]:   File", "", NO_LEVEL, "  File"),
        ("│ exit code: 1", "", NO_LEVEL, "exit code: 1"),
        ("35%|███ | 6/17 [00:18<00:33,  3.84s/it]Error", "", NO_LEVEL, "Error"),
        ("[1778.176] [pool0:38 :0]   ib.c:171  UCX  ERROR gone", "", ERROR, "gone"),
        ("#12 0.433 main.c:3: error", "rank 12", NO_LEVEL, "main.c:3: error"),
    ],
    ids=str,
)
def test_peeled(line: str, source: str, level: str, text: str) -> None:
    peeled = peel(line)
    assert (peeled.source, peeled.level, peeled.text) == (source, level, text)


@pytest.mark.parametrize(
    "line",
    [
        "[  FAILED  ] Cart.AddsTax (0 ms)",
        "[FAIL] total",
        "[success] Total time: 9 s",
        "[ 43%] Building C object",
        "12:30 is no time of day with seconds",
        "error: x",
        "E       assert 100 == 119",
        "web > lint",
    ],
)
def test_what_is_no_prefix_stays(line: str) -> None:
    assert peel(line).text == line


def test_indentation_of_a_traceback_survives_its_prefixes() -> None:
    assert peel('0: [rank0]:   File "a.py", line 1, in f').text == '  File "a.py", line 1, in f'


@pytest.mark.parametrize("prefix", ["3: ", "[a] ", "10:00:00 ", "| ", "#1 ", "==1== ", "<3>"])
def test_many_prefixes_are_peeled_in_bounded_steps(prefix: str) -> None:
    assert "end" in peel(prefix * 5000 + "end").text
