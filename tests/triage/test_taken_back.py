"""What takes an urgent report back, whatever its family, and what only sounds like it."""

from __future__ import annotations

import pytest

from triage.issue_making import facets, said

CLAIMS = {
    "silent_correctness": ("DDP training", "The gradients are wrong on every rank."),
    "regression": ("fully_shard problem", "It worked in 2.8 and raises a TypeError in 2.9."),
    "crash": ("ProcessGroupGloo problem", "Segmentation fault in c10d::ProcessGroupGloo."),
    "multinode_hang": ("all_gather problem", "On 4 nodes the job hangs in all_gather for ever."),
    "checkpoint_corruption": ("DCP problem", "The weights in the saved checkpoint are corrupted."),
    "reach": ("gloo problem", "Every distributed job fails to start, all users are affected."),
    "internal_assert": ("ProcessGroupGloo problem", "An internal assert in the c10d store."),
}
NOT_MEANT = [name for name in CLAIMS if name not in ("crash", "internal_assert")]
FAMILIES = pytest.mark.parametrize("family", CLAIMS)
OWN_DOING = (
    "It was my mistake: I had passed the wrong group.",
    "Sorry, false alarm, a bug in my script.",
    "Never mind, our launcher exported a stale MASTER_ADDR.",
    "PEBKAC.",
    "Turned out my own wrapper did it.",
    "The cause was our firewall.",
)
OWN_BUILD = (
    "This is with our internal fork of PyTorch; the official wheel does not show it.",
    "Only our patched build does this, vanilla 2.10 is fine.",
    "It needs our local patches. With a clean upstream build I can't see it.",
)
MENDED = (
    "Already fixed on main.",
    "The latest nightly doesn't have this any more.",
    "Upgrading to 2.9.1 solved it.",
)
NOT_SEEN = (
    "That is what I fear might happen, I have not seen it.",
    "I made that up as an example.",
    "So far this is theory.",
)
HARDWARE = ("The admins found a broken switch.", "We replaced the cable and all is well.")
EXPECTED = (
    "So it's expected.",
    "Reading the docs again, this is the documented behaviour.",
    "I was told that this is by design.",
)
STANDS = (
    "A workaround is to disable bucketing, but that is slow.",
    "Main has it as well.",
    "It is not fixed in 2.9.1.",
    "First I thought it was my mistake, but the tutorial script does the same.",
    "It might be a user error.",
    "The docs promise the opposite.",
    "No local patches, official wheels.",
    "With the official wheel it fails as well, not only with our patched build.",
    "Hardware is fine, we ran the diagnosis.",
    "It is certainly not expected.",
    "Not a user error as far as I can tell.",
    "I don't think this is by design.",
    "Replacing the cable didn't change anything.",
    "It was not our firewall.",
)


def urgent(family, *, report="", comment="", role="NONE", login="reporter"):
    title, body = CLAIMS[family]
    comments = [said(comment, role, "m" if role == "MEMBER" else login)] if comment else []
    return facets(title, f"{body}\n\n{report}", *comments).high_priority


@FAMILIES
def test_the_claim_alone_is_urgent(family):
    assert family in urgent(family)


@FAMILIES
@pytest.mark.parametrize("words", [*OWN_DOING, *OWN_BUILD, *MENDED, *NOT_SEEN, *HARDWARE])
def test_a_reporter_takes_it_back_in_the_report_or_later(family, words):
    assert urgent(family, report=words) == ()
    assert urgent(family, comment=words) == ()


@FAMILIES
@pytest.mark.parametrize("words", [*OWN_DOING, *OWN_BUILD, *NOT_SEEN, *HARDWARE, *EXPECTED])
@pytest.mark.parametrize("role", ["NONE", "CONTRIBUTOR"])
def test_a_stranger_takes_nothing_back(family, words, role):
    assert family in urgent(family, comment=words, role=role, login="passer-by")
    assert family in urgent(family, comment=f"MEMBER said: {words}", role=role, login="passer-by")


@FAMILIES
@pytest.mark.parametrize("words", MENDED)
def test_a_maintainer_says_that_it_is_mended(family, words):
    assert urgent(family, comment=words, role="MEMBER") == ()


@pytest.mark.parametrize("family", NOT_MEANT)
@pytest.mark.parametrize("words", EXPECTED)
@pytest.mark.parametrize("role", ["NONE", "MEMBER"])
def test_what_is_as_it_is_meant_to_be_is_not_urgent(family, words, role):
    assert urgent(family, comment=words, role=role) == ()


@pytest.mark.parametrize("words", EXPECTED)
def test_a_crash_is_never_meant(words):
    assert "crash" in urgent("crash", comment=words, role="MEMBER")


@FAMILIES
@pytest.mark.parametrize("words", STANDS)
def test_what_only_sounds_like_it_takes_nothing_back(family, words):
    assert family in urgent(family, report=words)
    assert family in urgent(family, comment=words)


@FAMILIES
@pytest.mark.parametrize("words", ["Could it be my mistake?", "Is it our fault?"])
def test_to_ask_whose_fault_it_is_takes_nothing_back(family, words):
    assert family in urgent(family, comment=words)


@pytest.mark.parametrize(
    "words",
    [
        "I thought the gradients were wrong, but had compared two seeds.",
        "I was reading the wrong tensor; the reduced one is fine.",
        "Our own StorageWriter wrote the wrong rows.",
        "The loss of rank 3 differs, of course, each rank has its own batch.",
    ],
)
def test_values_that_were_ones_own_doing_are_not_urgent(words):
    assert facets("DDP training", words).high_priority == ()


@pytest.mark.parametrize(
    "words",
    [
        "I read the wrong tensor back from the reduced bucket.",
        "Our own model gets wrong gradients.",
        "I thought that the wrong gradients were gone, but they are back on rank 1.",
    ],
)
def test_values_that_are_not_ones_own_doing_are_urgent(words):
    assert "silent_correctness" in facets("DDP training", words).high_priority


@pytest.mark.parametrize("family", NOT_MEANT)
@pytest.mark.parametrize(
    "words",
    [
        "You never call set_device, so that all ranks share one GPU.",
        "Your script calls `optimizer.step()` before the backward of the last micro batch.",
        "The script modifies the parameters after wrapping them, which isn't allowed.",
        "The group is created on a subset only; every rank has to call new_group.",
        "This is a misconfiguration: rank 1 has another world size.",
        "That is a documented restriction.",
        "This limit is in the docs of the function.",
        "Refusing this is deliberate.",
        "Works as it should: the mean is taken over ranks.",
        "Behaves as specified.",
        "There is a bug in your collate function: rank 1 gets an empty batch.",
        "loss_fn is called per microbatch and you sum the outputs.",
        "`x.cuda()` makes a copy, you broadcast the copy and print the original.",
        "You load into a state dict that is a copy.",
        "The world size is 8 but you start only 4 processes.",
        "It accepted that, which was an oversight. The error is intended.",
    ],
)
def test_a_maintainer_names_the_mistake_or_the_limit(family, words):
    assert urgent(family, comment=words, role="MEMBER") == ()


@FAMILIES
@pytest.mark.parametrize(
    "words",
    [
        "Which device does each rank use?",
        "Please set TORCH_DISTRIBUTED_DEBUG=DETAIL and send the log.",
        "You have found a bug, thanks.",
        "You need to file this upstream too, but it's our bug.",
        "Thanks for the report, your script shows it here as well.",
        "You should be able to see it on one host, too.",
        "So you see the old value, that's ours to fix.",
        "Hm, it should have raised. Will fix.",
        "Thanks, you found a race. We forget to take the lock.",
        "Do you pass the group?",
        "So you call the hook on the bucket, and I can reproduce it.",
        "You pass the group twice, and that's a bug.",
    ],
)
def test_what_a_maintainer_asks_or_confirms_takes_nothing_back(family, words):
    assert family in urgent(family, comment=words, role="MEMBER")


@FAMILIES
@pytest.mark.parametrize(
    "words",
    [
        "That was it.",
        "That was it, thanks!",
        "Yes, that was the problem.",
        "Solved, thanks.",
        "I had not called eval() on the stages.",
        "Please close, I had an off-by-one in my reference.",
        "My venv mixed two versions.",
        "NCCL_SOCKET_IFNAME pointed to docker0. All good now.",
    ],
)
def test_a_reporter_agrees_with_what_was_found(family, words):
    assert urgent(family, comment=words) == ()


@FAMILIES
@pytest.mark.parametrize(
    "words",
    [
        "That was not it.",
        "Was that it?",
        "That was it for the first error, the second is still there.",
        "Thanks, that fixed it.",
        "With set_device it still fails.",
        "NCCL_SOCKET_IFNAME is set to eth0, same result.",
    ],
)
def test_a_reporter_who_only_goes_on_takes_nothing_back(family, words):
    assert family in urgent(family, comment=words)


@FAMILIES
@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("Thanks, that fixed it.", False),
        ("It works after setting the device.", False),
        ("Ok, that did the trick.", False),
        ("It works now, but still fails without the workaround.", True),
        ("Same result with it.", True),
    ],
)
def test_what_helped_is_held_against_what_a_maintainer_named(family, words, left):
    title, body = CLAIMS[family]
    named = said("All four ranks use device 0, set it from LOCAL_RANK.", "MEMBER", "m")
    found = facets(title, body, named, said(words, "NONE", "reporter")).high_priority
    assert (family in found) is left


@pytest.mark.parametrize(
    "words",
    [
        "Nothing of torch.distributed works for anybody here!!",
        "No job starts any more, nobody of us can use it.",
        "Every distributed job of our cluster fails, all colleagues are hit.",
        "torch.distributed fails for everyone at our institute.",
        "All 40 users of our cluster are affected.",
    ],
)
def test_ones_own_place_is_not_many_users(words):
    assert facets("Distributed jobs do not start", words).high_priority == ()
