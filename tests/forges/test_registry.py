"""Forges by name and environment, without a call and without loading what is not needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ciops.errors import UsageError
from ciops.forges import FORGES, open_forge
from ciops.forges.base import CodeHost, Forge, IssueQueue, Pipelines
from ciops.forges.gitlab import addresses

SITE = "https://gitlab.example.com"


@pytest.mark.parametrize(
    ("env", "url", "web", "api"),
    [
        ({}, "", "https://gitlab.com", "https://gitlab.com/api/v4"),
        ({"GITLAB_URL": SITE + "/"}, "", SITE, SITE + "/api/v4"),
        ({"CI_SERVER_URL": SITE}, "", SITE, SITE + "/api/v4"),
        (
            {"CI_SERVER_URL": SITE, "CI_API_V4_URL": SITE + "/x/api/v4"},
            "",
            SITE,
            SITE + "/x/api/v4",
        ),
        ({"CI_API_V4_URL": SITE + "/api/v4"}, "", SITE, SITE + "/api/v4"),
        ({"CI_SERVER_URL": "https://a", "GITLAB_URL": SITE}, "", SITE, SITE + "/api/v4"),
        ({"CI_API_V4_URL": "https://a/api/v4", "GITLAB_URL": SITE}, "", SITE, SITE + "/api/v4"),
        ({"GITLAB_URL": "https://a"}, SITE, SITE, SITE + "/api/v4"),
        ({}, SITE + "/git/", SITE + "/git", SITE + "/git/api/v4"),
        ({}, SITE + "/api/v4/", SITE, SITE + "/api/v4"),
    ],
)
def test_addresses_of_gitlab(env: dict[str, str], url: str, web: str, api: str) -> None:
    assert addresses(env, url) == (web, api)


@pytest.mark.parametrize(
    ("env", "web"),
    [
        ({}, "https://github.com"),
        ({"GITHUB_SERVER_URL": "https://ghe.example.com/"}, "https://ghe.example.com"),
    ],
)
def test_addresses_of_github(env: dict[str, str], web: str) -> None:
    forge = open_forge("github", {**env, "GITHUB_API_URL": "https://ghe.example.com/api/v3"})
    assert (forge.name, forge.web_url) == ("github", web)
    assert forge.client.calls == 0
    forge.client.close()


@pytest.mark.parametrize(
    ("name", "variable"), [("github", "GITHUB_API_URL"), ("gitlab", "GITLAB_URL")]
)
def test_a_token_does_not_go_over_plain_http(name: str, variable: str) -> None:
    with pytest.raises(UsageError, match="would carry the token unencrypted"):
        open_forge(name, {variable: "http://forge.example.com"})


def test_an_unknown_forge() -> None:
    with pytest.raises(UsageError, match=r'unknown forge "svn"\. Known are: github, gitlab'):
        open_forge("svn", {})


@pytest.mark.parametrize("name", FORGES)
def test_every_forge_hands_out_what_the_tools_ask_for(name: str) -> None:
    forge: Forge = open_forge(name, {"GITHUB_TOKEN": "x", "GITLAB_TOKEN": "x"})
    asked = [(IssueQueue, forge.queue("o/r")), (CodeHost, forge.code("o/r"))]
    for protocol, found in [*asked, (Pipelines, forge.pipelines())]:
        methods = {name for name in vars(protocol) if not name.startswith("_")}
        assert methods
        assert all(callable(getattr(found, method)) for method in methods)
    forge.client.close()


def loaded_by(code: str) -> set[str]:
    scripts = Path(__file__).parents[2] / "scripts"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"],
        env={**os.environ, "PYTHONPATH": str(scripts)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_the_registry_loads_no_forge() -> None:
    loaded = loaded_by("import ciops.forges, ciops.forges.base")
    assert not loaded & {"requests", "urllib3", "ciops.forges.github", "ciops.plumbing.http"}


def test_a_forge_loads_only_itself() -> None:
    loaded = loaded_by("from ciops.forges import open_forge\nopen_forge('github', {})")
    assert "requests" in loaded
    unneeded = {"jinja2", "markdown_it", "jsonschema", "ciops.forges.gitlab"}
    assert not loaded & (unneeded | {"ciops.forges.github_code", "ciops.forges.github_actions"})
