"""`open-pr`: propose the change that fixes a bucket, from a branch that holds it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Final

from ciops.errors import EXIT_DONE, UsageError
from ciops.failures import change_request as changes
from ciops.failures.command_line import (
    MISSING_TOKEN,
    Parser,
    add_config,
    add_gitlab_url,
    is_dry,
    refuse_strangers_rules,
)
from ciops.failures.knowledge import load_knowledge
from ciops.failures.report_json import load_report
from ciops.failures.report_text import made_safe
from ciops.failures.sources import Forges
from ciops.failures.tracking_rules import read_tracking
from ciops.plumbing.command_line import open_host, parse

ABOUT: Final = """Open a pull or merge request for one bucket, in the repository of its owner.

Refused (exit 3) when the bucket is issue-only, lacks an excerpt or a hypothesis in code, belongs to
another repository, is covered by an open pull request, or the validation is empty."""
EXAMPLE: Final = (
    "--report out/report.json --bucket TensorRT-LLM/sharding/mismatch \\\n"
    '    --head fix-sharding --validation "pytest tests/test_sharding.py"'
)
REQUIRED: Final = ("report", "bucket", "head", "validation")


def main(
    arguments: Sequence[str], env: Mapping[str, str], sleep: Callable[[float], None] = time.sleep
) -> int:
    """The command; its exit status."""
    host = open_host(env)
    parser = Parser("open-pr", ABOUT, EXAMPLE)
    add_config(parser)
    add_gitlab_url(parser)
    parser.add_argument("--report", metavar="FILE", help="the report.json that holds the bucket")
    parser.add_argument("--bucket", metavar="NAME", help="the bucket that the branch mends")
    parser.add_argument("--head", metavar="BRANCH", help="BRANCH, or OWNER:BRANCH of a fork")
    parser.add_argument("--validation", metavar="TEXT", help="what shows that the fix works")
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would be opened, and open nothing"
    )
    given = parse(parser, arguments, host)
    missing = [f"--{name}" for name in REQUIRED if getattr(given, name) is None]
    if missing:
        raise UsageError(f"{', '.join(missing)} not given", f"See {parser.prog} --help")
    refuse_strangers_rules(given, env)
    knowledge = load_knowledge(given.config)
    rules = read_tracking(knowledge)
    report = made_safe(load_report(given.report))
    bucket = changes.chosen_bucket(report, given.bucket)
    changes.refuse_by_report(report, bucket, given.validation, given.head)
    owner = changes.owner_of(bucket, knowledge, env)
    if owner.forge == "gitlab" and not env.get("GITLAB_TOKEN", "").strip():
        raise UsageError(MISSING_TOKEN)
    forge = Forges(host, given.gitlab_url, sleep).get(owner.forge)
    change = changes.planned(report, bucket, owner, rules, forge, given.head, given.validation)
    if is_dry(given, env):
        host.say(f"would open in {change.repository}:", "bold")
        host.say(json.dumps(asdict(change), ensure_ascii=False, indent=1))
        return EXIT_DONE
    code = forge.code(change.repository)
    opened = code.create_pull(change.title, change.body, head=change.head, base=change.base)
    host.say(opened.url)
    host.output("url", opened.url)
    return EXIT_DONE
