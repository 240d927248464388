"""Options and inputs: what is given where, and that an input is never another option."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import pytest

from ciops.errors import UsageError
from ciops.plumbing.command_line import TOKENS, Parser, open_host, parse, truth
from plumbing.conftest import Seen


class Tool(Parser):
    script = "tool.py"
    instead = frozenset({"--issue", "--sweep"})


class Reading(Tool):
    reads_positionals = True


def parser(kind: type[Parser] = Tool) -> Parser:
    made = kind("run", "What it does.", "--issue 7")
    made.add_argument("record", nargs="?", default="")
    made.add_argument("--issue", nargs="+", action="extend", default=None)
    made.add_argument("--policy", default="own")
    made.add_argument("--dry-run", action="store_true")
    made.add_argument("--sweep", action="store_true")
    return made


@pytest.fixture
def options(on: Callable[..., Seen]) -> Callable[..., argparse.Namespace]:
    def read(*argv: str, kind: type[Parser] = Tool, **inputs: str) -> argparse.Namespace:
        env = {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
        return parse(parser(kind), argv, on(env).host)

    return read


Read = Callable[..., argparse.Namespace]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("FILE", "FILE is not given. For an action it is the input paths. See tool.py run --help"),
        ("--issue", "--issue is not given. See tool.py run --help"),
    ],
)
def test_what_must_be_given_is_named(on: Callable[..., Seen], name: str, says: str) -> None:
    made = Tool("run", "What it does.", "--issue 7")
    made.add_argument(name, **({"required": True} if name.startswith("-") else {}))
    with pytest.raises(UsageError) as caught:
        parse(made, [], on({}).host)
    assert str(caught.value) == says


def test_an_input_stands_where_the_command_line_is_silent(options: Read) -> None:
    given = options("--policy", "mine", policy="theirs", issue="7, 8\n9", dry_run="yes")
    assert (given.policy, given.issue, given.dry_run) == ("mine", ["7", "8", "9"], True)


def test_one_way_to_name_issues_takes_the_place_of_the_other(options: Read) -> None:
    assert options("--issue", "7", sweep="true").sweep is False
    assert options("--sweep", issue="7").issue is None


@pytest.mark.parametrize(
    "value",
    ["--policy=evil", "7 --policy=evil", "7,--policy,evil", "-p", "7\n--policy\nevil", "-- evil"],
)
@pytest.mark.parametrize("name", ["issue", "policy", "record"])
def test_an_input_never_becomes_another_option(options: Read, name: str, value: str) -> None:
    given = options(kind=Reading, **{name: value})
    assert given.policy == (value.strip() if name == "policy" else "own")
    assert given.sweep is given.dry_run is False
    if name == "issue":  # what is no number is refused by its type
        assert "".join(given.issue) in "".join(value.replace(",", " ").split())


def test_positionals_are_inputs_only_where_a_tool_says_so(options: Read) -> None:
    assert options(record="a.yml").record == ""
    assert options(kind=Reading, record="a.yml").record == "a.yml"
    assert options("b.yml", kind=Reading, record="a.yml").record == "b.yml"
    assert options(kind=Reading, record="-x.yml").record == "./-x.yml"


@pytest.mark.parametrize(("value", "is_true"), [("true", 1), (" YES ", 1), ("off", 0), ("0", 0)])
def test_truth(value: str, is_true: int) -> None:
    assert truth(value, "dry-run") is bool(is_true)


@pytest.mark.parametrize("value", ["maybe", "truee", "1 1", "${{ inputs.x }}"])
def test_no_truth(options: Read, value: str) -> None:
    with pytest.raises(UsageError, match=r"input dry-run is .*Write true or false"):
        options(dry_run=value)


@pytest.mark.parametrize("argv", [["--polic", "x"], ["--nope"], ["--policy"]])
def test_an_error_is_a_sentence_with_the_next_step(options: Read, argv: list[str]) -> None:
    with pytest.raises(UsageError, match=r"See tool\.py run --help"):
        options(*argv)


@pytest.mark.parametrize("name", TOKENS)
def test_the_tokens_of_every_tool_are_masked(name: str) -> None:
    host = open_host({name: "  s3cret-token\n"})
    assert host.safe("s3cret-token") == "***"
