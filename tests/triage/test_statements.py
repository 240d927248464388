"""What a sentence says about a thing it names: `[[thing]]` marks the mention."""

from __future__ import annotations

import json
import re

import pytest

from ciops.triage import event_cues, speech_cues
from ciops.triage.cue import pattern
from ciops.triage.statements import is_aside, judge_event, judge_mention
from triage.issue_making import CASES


def mention(marked: str):
    start = marked.index("[[")
    text = marked.replace("[[", "", 1)
    end = text.index("]]")
    return judge_mention(text.replace("]]", "", 1), start, end)


def event(marked: str):
    start = marked.index("[[")
    text = marked.replace("[[", "", 1)
    end = text.index("]]")
    return judge_event(text.replace("]]", "", 1), start, end)


CLEARED = [
    "This is not a [[NCCL]] problem.",
    "It isn't [[NCCL]], the shapes differ.",
    "[[NCCL]] is only doing what it is told.",
    "Check in [[c10d]] is right to complain.",
    "FSDP2, DTensor and [[NCCL]] aren't involved",
    "[[FSDP2]], DTensor and NCCL aren't involved",
    "| `module: [[nccl]]` | no |",
    "Without [[DDP]] it still fails in the same way.",
    "Even without [[FSDP]] the same error shows up.",
    "The same happens without [[DDP]].",
    "With [[DDP]] it works.",
    "With plain [[DDP]] everything is fine.",
    "[[gloo]] works.",
    "on [[gloo]] it's the right way round",
    "[[FSDP1]] is fine, FSDP2 is not.",
    "We ruled out [[NCCL]].",
    "this has nothing to do with [[torchrun]]",
    "unrelated to [[DTensor]]",
    "A monitor thread on our side is the way to go, independent of [[NCCL]].",
    "[[NCCL]] has nothing to do with it.",
    "[[DTensor]] plays no role here.",
    "[[torchrun]] is just the launcher.",
    "I removed [[DDP]] and it still crashes.",
    "Disabling [[activation checkpointing]] does not help.",
    "[[RPC]] is a red herring.",
    "please treat this as a DDP problem, not as a [[NCCL]] one",
    "The bug is in DDP rather than [[NCCL]].",
    "I don't think [[NCCL]] is to blame.",
    "a hand-written version over [[gloo]] gives the right answer",
    "[[DeviceMesh]] itself is correct.",
    "Downgrading [[NCCL]] makes no difference.",
    "A newer [[NCCL]] does not help.",
    "NCCL の問題ではなく、[[DDP]] は正常に動作しています。",
    "Switching from [[NCCL]] to gloo makes no difference.",
    "[[NCCL]] all_reduce passes.",
    "nccl-tests pass, so [[NCCL]] is healthy",
    "`[[nccl-tests]] sendrecv_perf` between the nodes is healthy at 46 GB/s",
    "So no [[RoCE]].",
    "Nothing to fix in the [[launcher]].",
    "There is no bug in [[c10d]].",
    "our own engine (own code, no [[torch.distributed.pipelining]])",
]

BLAMED = [
    "Please treat this one as a [[DDP]] problem",
    "It turned out to be [[DTensor]].",
    "The root cause is in [[DTensor]].",
    "This is a [[DTensor]] bug.",
    "this is really a [[c10d]] issue",
    "The bug is in the [[DDP]] reducer.",
    "caused by [[FSDP]]",
    "the culprit is [[NCCL]]",
    "[[NCCL]] is broken.",
    "Without [[DDP]] it works.",
    "Without `[[context_parallel]]` it's right, also with plain heads.",
    "It works fine without [[FSDP]].",
    "Removing [[activation checkpointing]] fixes it.",
    "Turning off [[DTensor]] makes the error go away.",
    "it only happens with [[FSDP2]]",
    "The problem goes away when I disable [[symmetric memory]].",
    "Looks like a [[DTensor]] issue.",
    "the fix belongs in [[DeviceMesh]]",
    "bisected to [[DTensor]]",
    "This is specific to [[gloo]].",
    "When [[FSDP]] is disabled the loss is right.",
    "with [[NCCL]] disabled the script finishes",
]

NEITHER = [
    "We train with [[FSDP]] on 8 GPUs.",
    "I use [[torchrun]] to launch.",
    "The model is wrapped in [[DDP]].",
    "Our [[DDP]] training hangs.",
    "[[FSDP2]] with bf16",
    "With enable_gqa=True the dK from [[ring attention]] is too large by the group factor",
    "[[DTensor]] version of the layer",
    "split_group in [[c10d]] passes the wrong color",
    "the model is sharded by [[FSDP]]",
]

SUBJECT = [
    "Please make `[[torchrun]]` choose IPv4",
    "[[DTensor]] used the current device in place of the mesh's device.",
    "[[NCCL]] doesn't have tags",
    "[[DDP]] broadcasts its buffers in eval as well",
    "DTensor/[[TP]] used the current device",
    "[[DTensor]]/TP used the current device",
    "[[fully_shard]] breaks my optimizer",
    "[[DCP]] drops the last shard",
    "ShardingStrategy is ignored by [[FSDP]] when a group of size 1 is passed in",
    "the timeout is not respected by [[gloo]]",
]


@pytest.mark.parametrize("sentence", CLEARED)
def test_a_sentence_clears(sentence):
    assert mention(sentence).stance == "cleared"


@pytest.mark.parametrize("sentence", BLAMED)
def test_a_sentence_blames(sentence):
    assert mention(sentence).stance == "blamed"


@pytest.mark.parametrize(
    "title",
    ["backend='cpu:gloo,cuda:[[nccl]]' breaks barrier", 'f(backend="[[gloo]]") raises in a thread'],
)
def test_what_an_argument_is_set_to_is_a_setting(title):
    assert mention(title).stance == "context"


@pytest.mark.parametrize("sentence", NEITHER)
def test_a_sentence_only_names(sentence):
    assert mention(sentence).stance in ("named", "context", "located")


@pytest.mark.parametrize("sentence", SUBJECT)
def test_a_sentence_says_what_a_thing_does(sentence):
    assert mention(sentence).stance == "subject"


@pytest.mark.parametrize(
    "sentence",
    [
        "I think [[NCCL]] is in a deadlock.",
        "Maybe it's [[DDP]]",
        "my guess is [[FSDP]]",
        "I suspect the [[DTensor]] dispatcher.",
        "It is probably [[NCCL]].",
    ],
)
def test_a_guess_is_told_from_a_finding(sentence):
    assert mention(sentence).guessed


@pytest.mark.parametrize(
    "sentence",
    [
        "Is it [[NCCL]]?",
        "Can you try without [[DDP]]?",
        "Does it reproduce with [[gloo]]?",
        "Please try [[NCCL]] 2.27 first.",
    ],
)
def test_a_question_says_nothing(sentence):
    assert mention(sentence).asked


@pytest.mark.parametrize(
    "sentence",
    [
        "[[NCCL]] 2.26.2, out since yesterday, fixes it.",
        "With [[NCCL]] 2.20 it works.",
        "it passes with [[NCCL]] <= 2.30.7, it works",
        "Upgrading [[NCCL]] to 2.26 helps.",
        "with an older [[NCCL]] everything is fine",
    ],
)
def test_what_another_version_of_a_thing_mends_is_its_own(sentence):
    found = mention(sentence)
    assert (found.stance, found.outcome) == ("blamed", "works")


@pytest.mark.parametrize(
    ("sentence", "outcome"),
    [
        ("The same happens with [[gloo]].", "same"),
        ("[[gloo]] fails too.", "same"),
        ("It hangs with [[gloo]] after an hour.", "fails_with"),
        ("crashes in [[NCCL]] on start", "fails_with"),
        ("[[NCCL]] 2.21.5, two nodes, a driver of last year.", None),
        ("[[RCCL]]: no space left on device", None),
    ],
)
def test_what_fails_alike_is_told_from_what_only_fails_there(sentence, outcome):
    found = mention(sentence)
    assert found.outcome == outcome
    assert found.stance in ("context", "located", "named")


def test_the_turn_of_a_sentence_counts():
    text = "I thought it was NCCL. It turned out to be DDP."
    assert judge_mention(text, 17, 21).stance != "cleared"
    assert judge_mention(text, text.index("DDP"), text.index("DDP") + 3).stance == "blamed"


@pytest.mark.parametrize(
    "sentence",
    [
        "There is no [[hang]] with gloo.",
        "it does not [[crash]]",
        "never [[hangs]] on one GPU",
        "without a [[deadlock]]",
        "we have not seen a [[regression]]",
    ],
)
def test_an_event_is_denied(sentence):
    assert event(sentence).denied


@pytest.mark.parametrize(
    "sentence",
    [
        "This can potentially cause a [[hang]].",
        "it might [[crash]]",
        "I worry that it could [[deadlock]]",
        "if it [[hangs]]",
    ],
)
def test_an_event_is_only_possible(sentence):
    assert event(sentence).possible


@pytest.mark.parametrize(
    "sentence",
    ["The job [[hangs]] after an hour.", "rank 1 [[crashes]]", "a [[deadlock]] in backward"],
)
def test_an_event_happened(sentence):
    assert event(sentence) == type(event(sentence))()


CUES = {
    name: cue
    for name, cue in [*vars(speech_cues).items(), *vars(event_cues).items()]
    if name.isupper() and isinstance(cue, str) and len(cue) > 40
}


@pytest.mark.parametrize("name", CUES)
def test_a_cue_is_for_words_in_lower_case(name):
    cue = CUES[name]
    letters = re.sub(r"\\.", "", cue)
    assert "(?-i:" in cue or letters == letters.lower()


@pytest.mark.parametrize("name", [name for name in CUES if not name.startswith("_")])
def test_a_cue_is_compiled_to_find_what_it_says(name):
    cue = CUES[name]
    plain = re.compile(cue, pattern(cue).flags)
    texts = [json.loads(path.read_text("utf-8"))["issue"]["body"] for path in CASES.glob("*")]
    for line in sorted({line.lower() for text in texts for line in text.splitlines()})[::9]:
        ours, theirs = pattern(cue).search(line), plain.search(line)
        assert (ours and ours.start()) == (theirs and theirs.start()), line


@pytest.mark.parametrize(
    "sentence",
    [
        "There is a [[DTensor]] bug that can make the optimizer fail.",
        "It may be [[NCCL]].",
        "We know of a [[DTensor]] bug.",
    ],
)
def test_a_possibility_is_a_guess(sentence):
    assert mention(sentence).guessed


@pytest.mark.parametrize(
    ("title", "aside"),
    [
        ("FSDP ignores the strategy when the [[process group]] has one rank", True),
        ("DDP hangs (2 nodes x 4 GPUs, [[NCCL]])", True),
        ("FSDP leaks memory if [[DTensor]] is used", True),
        ("[[NCCL]] hangs when a rank dies", False),
        ("[TP] wrong device of [[DTensor]]", False),
        ("NaN after loading with [[DCP]]", False),
    ],
)
def test_a_title_has_a_main_clause(title, aside):
    start = title.index("[[")
    assert is_aside(title.replace("[[", "").replace("]]", ""), start) is aside


@pytest.mark.parametrize(
    ("marked", "denied"),
    [
        ("Agent [[segfaults]]?? (no: killed by the OOM killer)", True),
        ("[[Corruption]] of the files? No, my mistake", True),
        ("[[segfault]]? No idea why", False),
        ("[[segfaults]] on exit?", False),
    ],
)
def test_a_question_that_is_answered_at_once(marked, denied):
    assert event(marked).denied is denied


@pytest.mark.parametrize(
    "text",
    [
        "First I thought that the [[hang]] came from us",
        "it might [[hang]]",
        "we suspected a [[wrong gradient]]",
    ],
)
def test_what_is_or_was_only_supposed(text):
    assert event(text).supposed


@pytest.mark.parametrize(
    "text",
    [
        "Resharding from 8 to 4 [[swaps rows]]",
        "I thought that the [[hang]] was fixed in 2.9",
        "it [[hangs]]",
    ],
)
def test_what_is_not_only_supposed(text):
    assert not event(text).supposed


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("I was reading the [[wrong tensor]]", True),
        ("I had passed the [[wrong group]]", True),
        ("our own StorageWriter wrote the [[wrong rows]]", True),
        ("the loss [[differs]], of course, on each rank", True),
        ("I read the [[wrong tensor]] back", False),
        ("our own model gets the [[wrong gradients]]", False),
        ("our writer has had the [[wrong rows]]", False),
    ],
)
def test_what_is_the_speakers_own_doing_did_not_happen(text, denied):
    assert event(text).denied is denied
