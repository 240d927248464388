"""What is masked before anything of a trace is printed, written or sent, and what is left."""

from __future__ import annotations

import time

import pytest

from ciops.failures.redaction import MASK, mask_secrets

WORD = "a4wJUk!OiHcRsa#9"
RANDOM = "iZyUzkGVouEsbHchqz0FpQyRDOqEQDtsMO9p"
SECRETS = [
    pytest.param(f"machine gitlab.example.com login svc password {WORD}", WORD, id="netrc"),
    pytest.param(f'{{"auths":{{"r.example.com":{{"auth":"{RANDOM}=="}}}}}}', RANDOM, id="docker"),
    pytest.param(f"//registry.example.com/:_authToken={RANDOM}", RANDOM, id="npm's token"),
    pytest.param(f"//registry.example.com/:_auth={RANDOM}", RANDOM, id="npm's _auth"),
    pytest.param(f"AccountName=x;AccountKey={RANDOM}==;E=1", RANDOM, id="a storage account"),
    pytest.param(f"clientSecret: '{WORD}'", WORD, id="camel case"),
    pytest.param(f'"accessToken": "{RANDOM}"', RANDOM, id="camel case in JSON"),
    pytest.param(f"PGPASSWORD={WORD} psql", WORD, id="a password of a database"),
    pytest.param(f"SMTP_PASS={WORD}", WORD, id="a short name"),
    pytest.param(f"curl -u bot:{WORD} https://x", WORD, id="curl -u"),
    pytest.param(f"docker login -u bot -p {WORD} registry", WORD, id="docker login"),
    pytest.param("SLACK=https://hooks.slack.com/services/T9/B1/L8x2cZgM1Hcq", "L8x2", id="Slack"),
    pytest.param("https://discord.com/api/webhooks/12/L8x2cZgM1Hcq8", "L8x2", id="Discord"),
    pytest.param("bot 123456789:AA" + "x" * 33, "AAxxx", id="Telegram"),
    pytest.param("by jane.doe+ci@corp.example.com", "jane.doe", id="a person's address"),
    pytest.param("user=root@login-4.cluster.local", "root@", id="a login"),
    pytest.param(f"https://ci:{WORD[:6]}@host.example.com/x", WORD[:6], id="in a URL"),
    pytest.param("glpat-AbCdEf0123456789WxYz!", "AbCdEf", id="GitLab"),
    pytest.param("export HF_TOKEN=hf_" + "x1" * 12, "x1x1", id="Hugging Face"),
    pytest.param("error: oglpat-AbCdEf0123456789WxYz", "AbCdEf", id="GitLab, glued to a letter"),
    pytest.param("pushed withghp_" + "x1" * 18, "x1x1", id="GitHub, glued to a word"),
    pytest.param(r'"log": "retry\nhf_' + "x1" * 12 + '"', "x1x1", id="behind an escape"),
    pytest.param("?log=retry%0Ask-" + "x1" * 12, "x1x1", id="behind an end of line of a URL"),
    pytest.param(rf'"log": "retry\ntoken={WORD}"', WORD, id="named behind an escape"),
    pytest.param(f"csrfToken={WORD}", WORD, id="a token of any kind in camel case"),
    pytest.param("Authorization: Basic dXNlcjpwYXNz", "dXNlcj", id="a header"),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_secrets_are_masked(text: str, secret: str) -> None:
    masked = mask_secrets(text)
    assert secret not in masked
    assert MASK in masked
    assert mask_secrets(masked) == masked


HARMLESS = [
    "git clone git@gitlab.example.com:group/project.git",
    "scores = q@k.transpose(-2, -1)",
    "uses: actions/checkout@v4.1.1",
    "image@sha256:0123abcd",
    "KeyError: 'model.layers.0.mlp.experts.gate_up_proj'",
    "Unexpected token } in JSON at position 12",
    "max_new_tokens: 256",
    "auth: enabled",
    "user: nobody",
    "author: the team",
    "12 passed, 0 failed",
    "key: value",
    "passed=12 failed=0",
    "AssertionError: signature mismatch",
    "token_type: bearer",
    "the task-0123456789abcdef0123456789 of flask-abcdefghijklmnopqrst",
    "highs_abcdefghijklmnopqrst",
    "tokens: 12, tokenizer: bpe, secretary=Ann",
    "cache_key=model-7b",
    "docker login succeeded -- pull begins",
    "ValueError: unknown special token '<|im_end|>'",
    "PWD=/builds/group/project",
    'File "/srv/auth/login.py", line 3, in user_login',
]


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_words_are_left(text: str) -> None:
    assert mask_secrets(text) == text


LONG = ["a" * 200_000, "a@" * 100_000, "login " * 30_000, "auth=" * 40_000, "x-" * 100_000]


@pytest.mark.parametrize("text", LONG, ids=["letters", "at", "login", "auth", "dashes"])
def test_masking_takes_time_in_proportion(text: str) -> None:
    begin = time.process_time()
    mask_secrets(text + " password")
    assert time.process_time() - begin < 2
