"""`publish`: post an approved payload to its Jira issue, once."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ciops.errors import EXIT_DONE, RefusedError, UsageError
from ciops.plumbing.ci_host import CiHost
from ciops.plumbing.command_line import open_host, parse
from ciops.plumbing.yaml_file import read_bytes
from ciops.postmortem import command_line
from ciops.postmortem.adf_schema import adf_problems
from ciops.postmortem.payload import Payload, check_length, digest, read_payload, sent_length
from ciops.postmortem.record import Language
from ciops.postmortem.services import site_of
from ciops.postmortem.settings import Settings, load_settings
from ciops.postmortem.wording import load_words


def parser() -> command_line.Parser:
    about = "Post exactly the payload whose digest was approved; a second run says it is there."
    built = command_line.Parser("publish", about, "out/PLUG-2218.jira.json --approve sha256:…")
    built.add_argument("payload", type=Path, metavar="FILE", help="a payload that render wrote")
    built.add_argument("--approve", metavar="sha256:HEX", default="", help="its approved digest")
    command_line.add_language(built, "what is printed")
    command_line.add_settings(built)
    return built


def main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    host = open_host(env)
    options = parse(parser(), arguments, host)
    settings = load_settings(options.settings)
    # Read once: what was approved is what is sent, whatever becomes of the file.
    raw = read_bytes(options.payload)
    payload = approved(raw, options.approve, str(options.payload))
    same_site(payload, site_of(env))
    postable(payload, str(options.payload), settings)
    with _alone(options.payload):
        _publish(payload, digest(raw), options.language, settings, host)
    return EXIT_DONE


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One publish of a file at a time: two that both look first would both post."""
    try:
        from fcntl import LOCK_EX, flock
    except ImportError:  # Windows has no such lock
        yield
        return
    with path.open("rb") as file:
        with contextlib.suppress(OSError):  # a file system without locks
            flock(file, LOCK_EX)
        yield


def approved(raw: bytes, approval: str, name: str) -> Payload:
    """The payload; refuse unless the approval is the digest of these very bytes."""
    if approval == digest(raw):
        return read_payload(raw, name)
    try:
        read_payload(raw, name)
    except UsageError as error:
        raise RefusedError(error.problem, error.next_step) from None
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", approval):
        problem = "no digest approves this payload" if not approval else "the approval is no digest"
        raise RefusedError(problem, "Read the payload, then give --approve with the digest shown")
    problem = "the payload is not the one that was approved"
    step = "It was changed or rendered anew since: read it again and approve its own digest"
    raise RefusedError(problem, step)


def same_site(payload: Payload, site: str) -> None:
    """Refuse a payload that was rendered for no site, or for another one."""
    if not payload.site:
        problem = "the payload names no site"
        raise RefusedError(problem, "Set JIRA_BASE_URL, render again, and approve that payload")
    if payload.site != site:
        problem = f"the payload is for {payload.site}, and JIRA_BASE_URL is {site or 'not set'}"
        raise RefusedError(problem, "Publish to the site it was approved for, or render again")


def postable(payload: Payload, name: str, settings: Settings) -> None:
    """Refuse what Jira would answer 400 to without saying where."""
    if isinstance(payload.body, str):
        check_length(len(payload.body), {"": len(payload.body)}, settings.longest_comment)
        return
    length = sent_length(payload.body)
    check_length(length, {"": length}, settings.longest_comment)
    problems = adf_problems(name, payload.body)
    if problems:
        raise RefusedError(f"{name}: the body is not valid ADF: {problems[0]}", "Render it again")


def _publish(
    payload: Payload, approval: str, language: Language, settings: Settings, host: CiHost
) -> None:
    from ciops.postmortem.jira import open_jira, project_type, publish

    words = load_words(language)
    jira = open_jira(host.env, payload.site, host.say)
    if project_type(jira, payload.issue) == "service_desk" and payload.visibility is None:
        host.warning(words.say("done.customers", issue=payload.issue))
    posted = publish(jira, payload, approval, settings.property_key)
    key = "posted" if posted.fresh else "edited" if posted.edited else "already"
    said = words.say(f"done.{key}", issue=payload.issue, url=posted.url)
    host.say(said)
    host.summary(said)
    host.output("comment-url", posted.url)
