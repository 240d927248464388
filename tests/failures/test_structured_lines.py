"""Log lines that are records: what the program said, and how loudly."""

from __future__ import annotations

import pytest

from ciops.failures.prefixes import ERROR, INFO, NO_LEVEL, WARNING, peel
from ciops.failures.structured_lines import Record, record


@pytest.mark.parametrize(
    ("line", "level", "text"),
    [
        ('{"level":"error","msg":"connection refused"}', "error", "connection refused"),
        ('{"ts":1,"severity":"ERROR","message":"x \\"y\\""}', "ERROR", 'x "y"'),
        ('- {"dt": "2026", "lvl": "exception", "msg": "timed out"}', "exception", "timed out"),
        ('{"msg": "first", "level": "warn"}', "warn", "first"),
        ('{"level":"error","msg":"two\\nlines\\u0041"}', "error", "two linesA"),
        ('{"level":"error","msg":"never ends', "error", "never ends"),
        ('level=fatal msg="no port" error="taken"', "fatal", 'no port error="taken"'),
        ('time="2026-05-04T10:00:00Z" level=info msg=started', "info", "started"),
        ('ts=2026 caller=a.go:1 level=warn msg="slow"', "warn", "slow"),
    ],
    ids=str,
)
def test_a_record_is_its_message_with_its_level(line: str, level: str, text: str) -> None:
    assert record(line) == Record(level, text)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "plain words",
        '{"event":"heartbeat","errors":0,"failed":0,"last_exception":null}',
        '{"msg": {"case": "job"}, "lvl": "results"}',
        '{"level":"error"}',
        "- a list item",
        'the level=5 of msg="x" stands late',
        "level=error and no message",
        '{"level":"error","msg":""}',
    ],
)
def test_other_lines_are_no_records(line: str) -> None:
    assert record(line) is None


def test_a_control_character_in_a_message_does_not_come_through() -> None:
    found = record('{"level":"error","msg":"a\\u001b[31mb\\u202ec"}')
    assert found is not None
    assert found.text.isprintable()


@pytest.mark.parametrize(
    ("line", "level", "text"),
    [
        ('{"lvl":"exception","msg":"no"}', ERROR, "no"),
        ('0: {"level":"warn","msg":"slow"}', WARNING, "slow"),
        ('{"level":"target","msg":"<6>[  1.512] boot"}', NO_LEVEL, "boot"),
        ('2026-05-04T10:00:00Z {"level":"info","msg":"[E] deep"}', ERROR, "deep"),
        ('level=info msg="fine"', INFO, "fine"),
    ],
    ids=str,
)
def test_records_are_peeled_like_prefixes(line: str, level: str, text: str) -> None:
    peeled = peel(line)
    assert (peeled.level, peeled.text) == (level, text)


def test_a_record_in_a_record_in_a_record_ends() -> None:
    line = '{"level":"error","msg":"x"}'
    for _ in range(30):
        line = '{"level":"info","msg":"' + line.replace("\\", "\\\\").replace('"', '\\"') + '"}'
        if len(line) > 3000:
            break
    assert peel(line).text
