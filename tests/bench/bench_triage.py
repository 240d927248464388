"""How fast issues are judged: policy load, a typical issue, long ones, bodies made to blow up.

    python tests/bench/bench_triage.py [--rounds N]

Times are of the processor, the best of so many rounds, each issue judged as a stranger (nothing of
it is kept from a round before).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from ciops.triage import (  # noqa: E402
    code_reading,
    issue_text,
    lexicon,
    line_shapes,
    matching,
    sayings,
    statements,
    versions,
)
from ciops.triage.decide import decide, profile_of  # noqa: E402
from ciops.triage.facts import Account, CommentFacts, IssueFacts, from_rest  # noqa: E402
from ciops.triage.patterns import compiled  # noqa: E402
from ciops.triage.policy import Policy, Profile  # noqa: E402
from ciops.triage.policy_file import load_policy  # noqa: E402
from ciops.triage.would_change import would_change  # noqa: E402

POLICY = ROOT / "config/issue-triage/pytorch-distributed.yml"
CASES = ROOT / "tests/data/triage/cases"
LENGTH = 60_000
LIMITS = {"load": 80.0, "typical": 3.0, "long": 50.0}
KEPT = (
    matching._spans,
    code_reading.touching_line,
    code_reading.is_call,
    code_reading.is_program,
    statements.judge_mention,
    statements.judge_toggle,
    statements.judge_event,
    statements._tone,
    statements._sentence_ends,
    line_shapes.shape_of,
    issue_text._document,
    lexicon._read,
    versions._told,
    sayings._said_in,
)
RANK = "[rank{0}]:[E ProcessGroupNCCL.cpp:632] [Rank {1}] Watchdog caught collective timeout {1}\n"
FRAME = '  File "/x/torch/distributed/distributed_c10d.py", line 1, in f\n    x = 1\n'
REPEATED = {
    "one word": "a",
    "brackets": "[",
    "blanks": " ",
    "empty lines": "\n",
    "rank prefixes": "[rank0]:",
    "quote marks": "> ",
    "opening fences": "```\n",
    "fences with a language": "```py\nx\n",
    "traceback headers": "Traceback (most recent call last):\n",
    "frames": FRAME,
    "details": "<details>\n",
    "HTML comments": "<!-- ",
    "names": "FSDP DDP NCCL gloo hang not without works ",
    "sentences": "FSDP works. DDP hangs without NCCL. It used to work in 2.5. ",
    "one long sentence": "without DDP but with FSDP it works or hangs ",
    "wrong values": "wrong gradient value loss differs ",
    "versions": "worked in 2.5 on 2.6 with 2.7 ",
    "code spans": "`a` ",
    "calls in spans": "`f(x=1)` then ",
    "dotted names": "a.b.c.d.",
    "digits": "1234567890",
    "links": "https://github.com/a/b ",
    "table rows": "| a | b |\n",
    "list items": "- run `torchrun x.py`\n",
    "comparisons": "8 GB in 2.5 and 9 GB in 2.6, ",
    "questions": "Could DDP do it? ",
    "Japanese": "分散学習がハングする。",
}
FENCED = {
    "code": "x = dist.all_reduce(torch.ones(2))\n",
    "broken code": "x = = dist.all_reduce(torch.ones(2)\n",
    "parentheses": "(",
    "definitions": "def f(x):\n  return torch.ones(x)\n",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="the best of so many (5)")
    rounds = parser.parse_args().rounds
    load = best(rounds, lambda: load_policy(POLICY))
    print(f"{'policy load':32} {load:8.1f} ms")
    policy = load_policy(POLICY)
    profile = profile_of(policy)
    cases = [
        from_rest(json.loads(path.read_text("utf-8"))) for path in sorted(CASES.glob("*.json"))
    ]
    first = best(rounds, lambda: decide(cases[0], load_policy(POLICY), profile)) - load
    print(f"{'the first issue after a load':32} {first:8.1f} ms")
    for case in cases:
        decide(case, policy, profile)
    each = [best(rounds, lambda case=case: decide(case, policy, profile)) for case in cases]
    typical = sum(each) / len(each)
    sizes = sum(len(case.body) + sum(len(x.body) for x in case.comments) for case in cases)
    print(
        f"{'a case of the 50, on average':32} {typical:8.1f} ms ({sizes // len(each)} characters)"
    )
    print(f"{'the slowest of them':32} {max(each):8.1f} ms")
    naive = best(1, lambda: everything_everywhere(cases, policy)) / len(cases)
    print(
        f"{'every pattern on every line':32} {naive:8.1f} ms, {naive / typical:.0f} times as long"
    )
    reasons = [explained(case, policy, profile) for case in cases]
    print(f"{'what would change it, on average':32} {sum(reasons) / len(reasons):8.1f} ms")
    slowest = 0.0
    for name, facts in made_up(cases):
        took = best(rounds, lambda facts=facts: decide(facts, policy, profile))
        slowest = max(slowest, took)
        print(f"{name:32} {took:8.1f} ms")
    late = {"load": load, "typical": typical, "long": slowest}
    over = [
        f"{name} {late[name]:.1f} > {limit:.0f} ms"
        for name, limit in LIMITS.items()
        if late[name] > limit
    ]
    print("all within their limits" if not over else f"over the limit: {', '.join(over)}")
    return 0


def best(rounds: int, work: Callable[[], object]) -> float:
    """The fastest of some rounds, in milliseconds of processor time."""
    took = []
    for _ in range(rounds):
        for kept in KEPT:
            kept.cache_clear()
        start = time.process_time()
        work()
        took.append((time.process_time() - start) * 1000)
    return min(took)


def explained(case: IssueFacts, policy: Policy, profile: Profile) -> float:
    """What it costs to say what would change a decision, beside the decision."""
    decision = decide(case, policy, profile)
    return best(1, lambda: would_change(case, decision, policy))


def everything_everywhere(cases: list[IssueFacts], policy: Policy) -> int:
    """What the rules alone would cost, without choosing which of them a line needs."""
    sources = [(x, signal) for signal in policy.signals for x in signal.patterns]
    regexes = [compiled(source, signal.case_sensitive) for source, signal in sources]
    lines = [line for case in cases for line in case.body.split("\n")]
    return sum(regex.search(line) is not None for line in lines for regex in regexes)


def made_up(cases: list[IssueFacts]) -> Iterator[tuple[str, IssueFacts]]:
    text = "\n\n".join(case.body for case in cases)
    yield "60,000 characters of cases", issue(text[:LENGTH])
    told = text[: LENGTH // 10]
    ends = "\n".join(
        FRAME.replace("line 1", f"line {at}") + RANK.format(at, at) for at in range(400)
    )
    yield "a report with a long log", issue(f"{told}\n```\n{ends[: LENGTH - len(told)]}\n```")
    log = "".join(RANK.format(at % 64, at) for at in range(1000))[:LENGTH]
    yield "a log of ranks", issue(f"```\n{log}\n```")
    for name, piece in REPEATED.items():
        yield name, issue((piece * LENGTH)[:LENGTH])
    for name, piece in FENCED.items():
        yield name, issue(f"```python\n{(piece * LENGTH)[:LENGTH]}\n```")
    said = "FSDP hangs without NCCL on 2 nodes, in run {0}. "
    comments = [CommentFacts(Account("a"), "NONE", said.format(at) * 14) for at in range(100)]
    yield "100 comments", replace(issue("y"), comments=tuple(comments))


def issue(body: str) -> IssueFacts:
    return IssueFacts("x", 1, "It broke", body, ("oncall: distributed",))


if __name__ == "__main__":
    raise SystemExit(main())
