"""How people tell that something is urgent without the word for it, and what takes it back."""

from __future__ import annotations

import pytest

from triage.issue_making import facets, fence, said

COLLECTIVE = fence(
    'import torch.distributed as dist\ndist.init_process_group("nccl")\ndist.all_reduce(x)',
    "python",
)
WRAPPED = fence(
    "from torch.distributed.fsdp import fully_shard\nfully_shard(model)\nloss.backward()", "python"
)
LAUNCH = "Started by `torchrun --nproc_per_node=4 train.py`."
WRONG = ("FSDP: silently wrong gradients", "The gradients are wrong, no error.\n\n" + WRAPPED)


@pytest.mark.parametrize(
    ("words", "role"),
    [
        ("Found it: the file on the second machine was an older copy. FSDP is innocent.", "NONE"),
        ("My apologies, the data differed. I'd close this tomorrow.", "NONE"),
        ("It was my data, sorry.", "NONE"),
        ("Please ignore, two of the nodes read another dataset revision.", "NONE"),
        ("I retract this: the reference run had dropout on.", "NONE"),
        ("The culprit was an interrupted rsync on our side.", "NONE"),
        ("With equal inputs both runs agree in every digit, so nothing is wrong here.", "NONE"),
        ("That is within bf16 tolerance.", "MEMBER"),
        ("1e-3 relative is what bf16 reductions give, so no bug here.", "MEMBER"),
        ("The gradients are right; what differs is how you print them.", "MEMBER"),
        ("So no wrong result here, the comparison sums before the reduction.", "COLLABORATOR"),
    ],
)
def test_a_later_conclusion_takes_wrong_values_back(words, role):
    found = said(words, role, "reporter" if role == "NONE" else "m")
    assert facets(*WRONG).high_priority == ("silent_correctness",)
    assert facets(*WRONG, found).high_priority == ()


@pytest.mark.parametrize(
    ("words", "role"),
    [
        ("Found it: the reduce-scatter divides by the wrong group size.", "NONE"),
        ("Sorry for the late answer, it is still wrong on 2.8.", "NONE"),
        ("I checked my data again, both nodes have the same files.", "NONE"),
        ("It does not depend on my config, a fresh venv shows it.", "NONE"),
        ("My apologies, I forgot the script. Here it is.", "NONE"),
        ("This is far outside of bf16 tolerance.", "MEMBER"),
        ("I can reproduce it, the gradients are wrong on rank 1.", "MEMBER"),
        ("It was my data too, never found out why.", "stranger"),
    ],
)
def test_what_takes_nothing_back(words, role):
    login = "reporter" if role == "NONE" else "m"
    found = said(
        words, "NONE" if role == "stranger" else role, login if role != "stranger" else "x"
    )
    assert facets(*WRONG, found).high_priority == ("silent_correctness",)


CORRUPT = (
    "Corrupted checkpoint after preemption",
    "`dcp.load` raises `FileNotFoundError: .metadata`. The checkpoint is corrupted.",
)


@pytest.mark.parametrize(
    "words",
    [
        "So no corruption here, the folder was never committed.",
        "Nothing is corrupted: the save was not finished, and the load refuses it loudly.",
        "The previous checkpoint was intact. This one is an unfinished save.",
        "`.metadata` is written last, so this was an incomplete save and is refused as it should.",
        "There is no corruption, only an interrupted save.",
    ],
)
def test_an_unfinished_save_that_is_refused_is_no_corruption(words):
    assert facets(*CORRUPT).high_priority == ("checkpoint_corruption",)
    assert facets(*CORRUPT, said(words, "MEMBER", "m")).high_priority == ()


@pytest.mark.parametrize(
    "words",
    [
        "Right, the planner corrupts the shard of the second writer.",
        "The load should have refused it, but it did not.",
        "The corruption is real, I see it with two writers.",
    ],
)
def test_a_corruption_that_is_confirmed_stays(words):
    assert facets(*CORRUPT, said(words, "MEMBER", "m")).high_priority == ("checkpoint_corruption",)


SUPPOSED = "if a thread were late, rank 0 would see silently wrong values, or could segfault."


@pytest.mark.parametrize(
    "words",
    [
        f"Reading `distributed_c10d.py`, I think that {SUPPOSED} I have never seen it.",
        f"By code review only: {SUPPOSED} Not observed in practice.",
        f"{SUPPOSED} This is theoretical, nobody has hit it as far as I know.",
        f"{SUPPOSED} I haven't seen this happen, it just looks racy to me.",
        f"A purely hypothetical scenario: {SUPPOSED}",
        f"{SUPPOSED} I couldn't trigger it, only reasoned about it from the source.",
        f"While reading the source for a talk I noticed: {SUPPOSED} Never observed.",
        f"I was never able to make it happen. {SUPPOSED}",
    ],
)
def test_what_nobody_ever_saw_is_not_urgent(words):
    assert (
        facets("ProcessGroup: two threads could read each other's result", words).high_priority
        == ()
    )


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("all_reduce segfaults", "I have never seen this on 2.5, but 2.6 segfaults each time."),
        ("all_reduce segfaults", "I read the code and found why it segfaults: a null pointer."),
        ("Segfault in barrier", "We have never seen such a trace before."),
        ("Segfault in barrier", "It looked theoretical at first, now it segfaults daily."),
    ],
)
def test_what_was_seen_is_urgent_whatever_was_read(title, words):
    assert "crash" in facets(title, words + "\n\n" + COLLECTIVE).high_priority


@pytest.mark.parametrize(
    "words",
    [
        "The process disappears without a message, `echo $?` prints 139.",
        "Each run ends with rc=139.",
        "rank 2 exits with 139 (no Python traceback).",
        fence("$ echo $?\n139"),
        fence("srun: error: node3: task 5: Segmentation fault"),
        "The worker got SIGBUS in the all-gather.",
        "returncode=-11, nothing in stderr.",
        "On Windows the exit code is 0xC0000005.",
        "It dumped core in `c10d::TCPStore`.",
        fence("train.py[88121]: segfault at 18 ip 00007f8f error 4 in libtorch_cpu.so"),
        "Exit status 134, glibc prints `double free or corruption (out)`.",
        "The process died from signal 11.",
        "it's killed by SIGSEGV as soon as the second group exists",
        "gdb says SIGABRT in `ProcessGroupGloo::~ProcessGroupGloo`.",
    ],
)
def test_an_exit_status_or_a_signal_is_a_crash(words):
    assert (
        "crash" in facets("TCPStore client disappears", words + "\n\n" + COLLECTIVE).high_priority
    )


@pytest.mark.parametrize(
    "words",
    [
        "It crashes with `ValueError: bad device_ids`, cannot use at all.",
        "CRASH!!! on all machines: `RuntimeError: Tensors must be contiguous`.",
        "RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed.",
        "The worker exits with code -9 after the memory is full.",
        "exit code 137, dmesg: Out of memory: Killed process 31.",
        "It returns 139 elements instead of 140.",
        "step 139: loss 1.2",
        "exit code 1",
        "The launcher reports signal 15 (SIGTERM) for the others.",
    ],
)
def test_an_exception_or_a_kill_is_no_crash(words):
    assert "crash" not in facets("Training stops", words + "\n\n" + COLLECTIVE).high_priority


@pytest.mark.parametrize(
    ("words", "role"),
    [
        ("Nobody on Windows is able to create a process group at all.", "MEMBER"),
        ("We have around thirty duplicates across the repos.", "MEMBER"),
        ("This hits every user of the 2.8 wheels, we will need a point release.", "MEMBER"),
        ("Broken for everyone on macOS, I'm afraid.", "COLLABORATOR"),
        ("dozens of duplicates of this one already", "MEMBER"),
        ("Nobody can start a job with this nightly.", "MEMBER"),
    ],
)
def test_reach_as_a_maintainer_tells_it(words, role):
    found = said(words, role, "m")
    assert (
        "reach" in facets("gloo cannot be used", "It raises.\n" + COLLECTIVE, found).high_priority
    )


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("CRASH!!! DDP crashes at construction", "cannot use at all, 100% on all machines"),
        ("DDP raises", "It is completely broken for me, fails on all my machines."),
        ("URGENT: DDP does not work", "Blocks our release on Friday, please fix ASAP!!!"),
        ("DDP unusable", "Totally unusable!!! ValueError in all our runs."),
    ],
)
def test_loud_words_about_an_exception_are_no_reach(title, body):
    error = fence("ValueError: DistributedDataParallel device_ids only work with GPU modules.")
    script = fence("nn.parallel.DistributedDataParallel(m, device_ids=[r])", "python")
    assert facets(title, f"{body}\n\n{error}\n\n{script}").high_priority == ()


@pytest.mark.parametrize(
    ("title", "body"),
    [
        (
            "NCCL error after upgrade",
            "What was upgraded: EFA installer 1.37 to 1.40, torch is the same.",
        ),
        (
            "all_reduce fails since the update",
            "We updated the driver from 550 to 570. torch 2.7.0 stays.",
        ),
        (
            "barrier fails after the upgrade",
            "The upgrade was of OFED only; the conda env with torch 2.7.0 is unchanged.",
        ),
        (
            "regression: trains with DDP, FSDP complains",
            "regression when moving from DDP to FSDP. torch 2.3.1",
        ),
        (
            "FSDP regression",
            "After switching from DDP to FSDP it raises. With DDP this worked since 1.8.",
        ),
        ("regression from FSDP1 to FSDP2", "Moving from FSDP1 to FSDP2 the same config raises."),
        (
            "fails after upgrade",
            "We upgraded transformers 4.40 to 4.45 with the same torch 2.4; `all_reduce` raises.",
        ),
        (
            "all_reduce fails after upgrade",
            "We upgraded to Ubuntu 24.04. Same torch wheel as before.",
        ),
    ],
)
def test_another_thing_that_was_changed_is_no_regression(title, body):
    assert "regression" not in facets(title, body + "\n\n" + COLLECTIVE).high_priority


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("all_reduce fails after upgrade", "We upgraded torch from 2.6 to 2.7, nothing else."),
        ("regression in FSDP", "Worked in 2.3.0, since 2.3.1 it raises. With DDP it works."),
        ("FSDP regression in 2.5", "Moving from 2.4 to 2.5 broke FSDP."),
        (
            "barrier fails since the update",
            "The driver is unchanged; torch went from 2.6 (fine) to 2.7 (fails).",
        ),
    ],
)
def test_a_new_version_of_the_product_is_a_regression(title, body):
    assert "regression" in facets(title, body + "\n\n" + COLLECTIVE).high_priority


@pytest.mark.parametrize(
    "added",
    [
        "**Update after a day with the sanitizer:** it's our own kernel, FSDP is innocent.",
        "It came every time. EDIT: it was our own kernel.",
        "Edit 2: my fault, an old build of my extension.",
    ],
)
def test_what_is_added_to_a_report_takes_it_back(added):
    crash = "The second step segfaults.\n\n" + WRAPPED
    assert facets("FSDP segfaults", crash).high_priority == ("crash",)
    assert facets("FSDP segfaults", f"{crash}\n\n{added}").high_priority == ()


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Found it, my fault. Could the error at least name the parameter?", "enhancement"),
        (
            "It's our own kernel. I'd still ask for a friendlier text of the watchdog.",
            "enhancement",
        ),
        ("Mistake on our side. Can you make the message say it?", "bug"),
        ("The parameter is that of the second block.", "bug"),
    ],
)
def test_a_crash_that_is_taken_back_may_leave_a_wish(words, kind):
    found = facets("FSDP segfaults", WRAPPED, said(words, login="reporter"))
    assert found.kind == kind


SILENT_HANGS = [
    (
        '4 nodes: every rank prints "start" and nothing more for the rest of the night',
        "In the morning there is still only `start` in the log. With one node it takes 6 seconds.",
    ),
    ('2 hosts: "hello" on each rank, then silence until the morning', "See above."),
    ('8 nodes, new_group: no line after "begin" all weekend', "With a single node it is quick."),
    ('Two machines: the script shows "init ok" and then nothing for hours', "One machine: 2 s."),
    ('all_reduce across 3 nodes: last line is "before", three hours ago', "With one node: 2 s."),
    ('Nothing after "connected" on 2 nodes', "In the morning there was still only `connected`."),
    ("Two servers", 'All write "enter", nobody writes "leave", 5 hours later the same.'),
]


@pytest.mark.parametrize(("title", "body"), SILENT_HANGS)
def test_a_hang_that_is_told_by_its_course(title, body):
    found = facets(title, f"{body}\n\n{COLLECTIVE}")
    assert found.high_priority == ("multinode_hang",)


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ('1 node: every rank prints "start" and nothing more for the rest of the night', "8 GPUs."),
        ('4 nodes: every rank prints "start" and nothing more', "The rest is in the file."),
        ('4 nodes: prints "start" and then raises ValueError', "Nothing more in the log."),
        ('2 nodes: the log shows "start" twice', "It finished over night."),
    ],
)
def test_a_short_log_is_no_hang(title, body):
    assert facets(title, f"{body}\n\n{COLLECTIVE}").high_priority == ()
