"""The zone of each line, and the tracebacks in them."""

from __future__ import annotations

import pytest

from ciops.triage.issue_text import read_issue
from ciops.triage.tracebacks import find_tracebacks
from ciops.triage.zones import MAX_SEGMENT, zone_document
from triage.issue_making import fence, issue, policy, said

TRACE = """Traceback (most recent call last):
  File "/w/train.py", line 3, in main
    step()
  File "/v/torch/distributed/fsdp/_flat_param.py", line 9, in unshard
    raise ValueError(x)
ValueError: it broke
more of the message"""


def zones(text: str) -> list[tuple[str, str]]:
    return [(line.zone, line.text) for line in zone_document(text, policy().reading)]


def tracebacks(text: str):
    return find_tracebacks(zone_document(text, policy().reading))


@pytest.mark.parametrize(
    ("line", "zone"),
    [
        ("We train on 8 GPUs and it hangs.", "prose"),
        ("[E612 03:41:07.118 ProcessGroupNCCL.cpp:632] [Rank 9] Watchdog caught", "log"),
        ("host-1:123:456 [0] NCCL INFO Bootstrap", "log"),
        ("[../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed", "log"),
        ("RuntimeError: it broke", "traceback"),
        ("frame #5: clone + 0x44 (0x7f in libc.so)", "cpp"),
        ("#1  0x00007f in ncclCommAbort () from /usr/lib/libnccl.so", "cpp"),
        ("$ torchrun --nproc-per-node 2 a.py", "shell"),
        ("torchrun --nproc-per-node 2 a.py", "shell"),
        ("`torchrun --nproc-per-node 2 a.py`", "shell"),
        ("    wait (threading.py:331)", "traceback"),
        ("python is good at this", "prose"),
        ("make sure that all ranks are there", "prose"),
    ],
)
def test_a_line_that_nobody_fenced(line, zone):
    assert zones(line)[0][0] == zone


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            fence("x = torch.ones(2)\nprint(x)"), ["code", "code"], id="python without a name"
        ),
        pytest.param(fence("import torch", "python"), ["code"], id="python"),
        pytest.param(fence("pip install torch", "bash"), ["shell"], id="bash"),
        pytest.param(fence("rank 0 done\nrank 1 done"), ["log", "log"], id="output"),
        pytest.param(
            fence("$ python a.py\nRuntimeError: x"), ["shell", "traceback"], id="command and error"
        ),
        pytest.param(
            fence("from torch import x", "markdown"), ["quoted"], id="markdown is a sample"
        ),
        pytest.param(
            fence("x = 1\ny = f(x)\nValueError: bad"),
            ["code", "code", "traceback"],
            id="code and error",
        ),
    ],
)
def test_a_fence_without_or_with_a_language(text, expected):
    assert [zone for zone, _ in zones(text)] == expected


@pytest.mark.parametrize(
    "dump",
    [
        fence("PyTorch version: 2.9.1\nIs debug build: False\n[pip3] nvidia-nccl-cu12==2.2"),
        "### Versions\ntorch 2.9 with NCCL 2.27, MPI, gloo",
        "PyTorch version: 2.9.1\nIs debug build: False\nGPU 0: A100\n[pip3] triton==3.5",
        "<details><summary>env</summary>\n\n"
        "Collecting environment information...\nPyTorch version: 2\n",
    ],
)
def test_an_environment_dump_is_not_text(dump):
    assert {zone for zone, text in zones(dump) if "env" not in text} <= {"env", "template"}


def test_code_below_the_versions_is_still_code():
    text = "### Versions\n2.9\n" + fence("import torch\ntorch.ones(2)", "python")
    assert ("code", "torch.ones(2)") in zones(text)


def test_code_that_nobody_fenced_takes_three_lines():
    code = "import torch\nx = torch.ones(2)\nprint(x.sum())"
    assert [zone for zone, _ in zones(f"Run this:\n{code}\nIt fails.")] == [
        "prose",
        "code",
        "code",
        "code",
        "prose",
    ]
    assert zones("import torch")[0][0] == "prose"


def test_a_sentence_that_was_wrapped_by_hand_is_one_line():
    text = (
        "It seems that the failure only comes up when the job is started\nwithout DDP on one GPU."
    )
    assert zones(text) == [("prose", text.replace("\n", " "))]


def test_list_items_and_table_rows_stay_apart():
    assert (
        len(zones("- one thing that is long enough to be a whole sentence of its own\n- two")) == 2
    )
    assert len(zones("| a | b |\n|---|---|\n| c | d |")) == 3


def test_a_launchers_footer_is_dropped_but_for_the_signal():
    footer = (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
        "=========\ntrain.py FAILED\n  exitcode  : -11 (pid: 7)\n  rank      : 0\n========="
    )
    assert [text for _, text in zones(fence(footer))] == ["  exitcode  : -11 (pid: 7)"]


def test_prefixes_of_ranks_times_and_pods_are_stripped():
    trace = "\n".join(f"[rank1]:[rank1]: {line}" for line in TRACE.split("\n"))
    (found,) = tracebacks(fence(trace))
    assert found.prefix == "[rank1]:"
    assert found.exception == "ValueError"


def test_lines_stay_short_enough_for_a_pattern():
    lines = zones("x " * 5000)
    assert max(len(text) for _, text in lines) <= MAX_SEGMENT


def test_a_quoted_reply_is_somebody_elses_words_and_a_quoted_trace_is_a_trace():
    reading = read_issue(issue("", "", said("> It is NCCL\n\nNo.")), policy().reading)
    assert [line.text for line in reading.lines] == ["No."]
    assert (
        zones('> Traceback (most recent call last):\n>   File "a.py", line 1, in f')[0][0]
        == "traceback"
    )


def test_what_a_bot_says_is_not_read():
    facts = issue("", "", said("It is NCCL", login="pytorch-bot[bot]", bot=True))
    assert read_issue(facts, policy().reading, policy().bot_logins).lines == ()


@pytest.mark.parametrize(
    ("role", "login", "speaker"),
    [
        ("MEMBER", "m", "maintainer"),
        ("COLLABORATOR", "m", "maintainer"),
        ("NONE", "reporter", "reporter"),
        ("CONTRIBUTOR", "c", "other"),
    ],
)
def test_who_speaks_is_told_by_association(role, login, speaker):
    reading = read_issue(issue("", "", said("words", role, login)), policy().reading)
    assert reading.lines[0].speaker == speaker


# ------------------------------------------------------------------------------- tracebacks
def test_a_traceback_has_frames_an_exception_and_a_message():
    (found,) = tracebacks(fence(TRACE))
    assert [frame.name for frame in found.frames] == ["main", "unshard"]
    assert (found.exception, found.message) == ("ValueError", "it broke more of the message")
    assert found.frames[0].source == "step()"


def test_the_last_block_of_a_chain_is_its_root():
    chain = (
        TRACE
        + "\n\nDuring handling of the above exception, another exception occurred:\n\n"
        + TRACE
    )
    assert [block.links for block in tracebacks(fence(chain))] == [1, 0]


def test_the_ranks_of_one_block_are_kept_apart():
    mixed = "\n".join(f"[rank{rank}]: {line}" for line in TRACE.split("\n") for rank in (0, 1))
    assert [found.prefix for found in tracebacks(fence(mixed))] == ["[rank0]:", "[rank1]:"]


def test_stacks_of_a_live_process_list_the_innermost_call_first():
    stack = (
        "Thread 0x7f (most recent call first):\n"
        '  File "a.py", line 1 in inner\n  File "b.py", line 2 in outer'
    )
    (found,) = tracebacks(fence(stack))
    assert found.running
    assert [frame.name for frame in found.frames] == ["outer", "inner"]


def test_a_native_error_says_where_it_was_raised():
    text = "Exception raised from checkTimeout at ../torch/csrc/distributed/c10d/NCCLUtils.cpp:618"
    assert tracebacks(fence(text))[0].frames[0].path.endswith("NCCLUtils.cpp")
