"""Keep secrets out of everything that is printed, written or sent.

Traces are read by strangers' eyes: reports, issues and job logs are public more often than the
CI they describe. `mask_secrets` replaces whatever looks like a credential by `[MASKED]` and
leaves the words around it, so that an excerpt still explains the failure.

Token shapes: GitHub https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/,
GitLab https://docs.gitlab.com/security/tokens/#token-prefixes,
AWS https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html.

Every pattern starts with a literal and repeats a character class at most once before the next
literal, so masking takes time proportional to the text.
"""

from __future__ import annotations

import re
from typing import Final

MASK: Final = "[MASKED]"

# Tokens that are known by how they begin: some wherever they stand, since whatever is written
# without an end of line is glued to what comes next; the others where a word begins, be it behind
# the escape of a control character (`\n` in JSON, `%0A` in a URL).
_TOKENS: Final = re.compile(
    r"""
      gh[pousr]_[A-Za-z0-9]{30,255}
    | github_pat_[A-Za-z0-9_]{20,255}
    | gl(?:pat|ptt|dt|rt|rtr|soat|ft|imt|agent|cbt|oas|feat|ffct)-[A-Za-z0-9_.=-]{16,255}
    | GR1348941[A-Za-z0-9_-]{16,64}
    | nvapi-[A-Za-z0-9_-]{20,255}
    | dckr_pat_[A-Za-z0-9_-]{20,64}
    | (?:(?<![A-Za-z0-9])|(?<=\\[abfnrtv])|(?<=\\x[0-9a-fA-F]{2})|(?<=%[0-9A-F]{2}))(?:
      gh[pousr]_[A-Za-z0-9]{16,29}
    | _gitlab_session=[A-Za-z0-9]{8,255}
    | hf_[A-Za-z0-9]{16,64}
    | (?:sk|pk|rk|xai|gsk)-[A-Za-z0-9_-]{20,255}
    | (?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,255}
    | (?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA)[A-Z0-9]{16}(?![A-Za-z0-9])
    | AIza[A-Za-z0-9_-]{35}
    | ya29\.[A-Za-z0-9_-]{20,512}
    | xox[abeoprs]-[A-Za-z0-9-]{10,255}
    | xapp-[A-Za-z0-9-]{10,255}
    | npm_[A-Za-z0-9]{30,64}
    | pypi-[A-Za-z0-9_-]{40,512}
    | do[op]_v1_[a-f0-9]{32,64}
    | (?:glsa|sntrys|sntryu|lin_api|shpat|shpss|whsec|figd|rubygems|ops)_[A-Za-z0-9_=+/.-]{20,255}
    | dapi[a-f0-9]{32}(?![A-Za-z0-9])
    | key-[a-f0-9]{32}(?![A-Za-z0-9])
    | \d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])
    | ATATT[A-Za-z0-9_=-]{20,512}
    | SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}
    | AGE-SECRET-KEY-1[A-Z0-9]{40,64}
    | hv[sbr]\.[A-Za-z0-9_-]{20,255}
    | eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{4,4096}(?:\.[A-Za-z0-9_-]{2,4096})?
    )""",
    re.VERBOSE,
)
_TOKEN_STARTS: Final = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "GR13", "hf_", "nvapi-", "xai-"),
    *("glpat-", "glptt-", "gldt-", "glrt-", "glrtr-", "glsoat-", "glft-", "glimt-", "glagent-"),
    *("glcbt-", "gloas-", "glfeat-", "glffct-", "_gitlab_session", "sk-", "pk-", "rk-", "gsk-"),
    *("sk_", "pk_", "rk_", "AKIA", "ASIA", "AGPA", "AIDA", "AROA", "ANPA", "ANVA", "AIza"),
    *("ya29.", "xox", "xapp-", "npm_", "pypi-", "dckr_pat_", "doo_v1", "dop_v1", "ATATT", "SG."),
    *("AGE-SECRET", "hvs.", "hvb.", "hvr.", "eyJ", ":AA", "glsa_", "sntry", "lin_api_", "shp"),
    *("whsec_", "figd_", "rubygems_", "ops_", "dapi", "key-"),
)

# `password = x`, `"api_key": "x"`, `--token x`, `NPM_TOKEN=x`, in shells, YAML, JSON and URLs.
_NAMED: Final = re.compile(
    r"""(?P<name>
        (?<![A-Za-z])(?:[A-Za-z0-9]{1,40}[_-]){0,6}
        (?:[A-Za-z]{0,12}(?:passw(?:or)?d|passphrase|secrets?|token)|pwd|(?<=[_-])pass|signature
          |sig|credentials?|cookie
          |(?:api|access|secret|private|account|auth|client|shared|storage|signing|encryption|master)
           [_-]?(?:access[_-]?)?(?:key|token|secret)
          |(?:refresh|bearer|session|bot|id|user|app)[_-]?(?:token|secret))
        (?:[_-](?:key|id|value|token|b64|base64))?
      )
      (?P<between>["']?\s{0,3}(?:=>|:=|[=:])\s{0,3}|["']?\s{1,3}(?=["']))
      (?P<value>"[^"\n]{1,4096}"|'[^'\n]{1,4096}'|[^\s"'&;,<>|)\]}]{1,4096})
    """,
    re.VERBOSE | re.IGNORECASE,
)
# What a name and its value look like in lower case: looked for first, since it is seldom there.
_NAME_HINT: Final = re.compile(
    r"(?:passw(?:or)?d|passphrase|pass|pwd|secrets?|token|signature|sig|credentials?|cookie|key)"
    r"(?:[_-](?:key|id|value|token|b64|base64))?[\"']?\s{0,3}[=:\"']"
)
_OPTION: Final = re.compile(
    r"(?P<name>(?<![\w-])--?(?:[a-z0-9]{1,20}-){0,4}(?:password|passwd|token|secret|api-key"
    r"|access-key|private-key|auth)\s{1,3})(?P<value>(?!-)[^\s\"']{4,4096}|\"[^\"\n]{1,4096}\""
    r"|'[^'\n]{1,4096}')",
    re.IGNORECASE,
)
_HEADER: Final = re.compile(
    r"(?P<name>\b(?:proxy-)?authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?"
    r"(?:(?:basic|bearer|token|negotiate|digest|aws4-hmac-sha256)\s{1,3})?)"
    r"(?P<value>[^\s\"',;]{4,4096})",
    re.IGNORECASE,
)
# `"auth": "…"` of Docker's configuration, `_auth=…` of npm's.
_AUTH: Final = re.compile(
    r"(?P<name>(?<![A-Za-z0-9])_?auth[\"']?\s{0,3}[:=]\s{0,3}[\"']?)"
    r"(?P<value>[A-Za-z0-9+/_-]{14,4096}={0,2})(?![A-Za-z0-9+/=_.-])"
)
# `machine HOST login NAME password WORD` of .netrc, `curl -u NAME:WORD`, `docker login -p WORD`.
_NETRC: Final = re.compile(
    r"(?P<name>\blogin\s{1,3}\S{1,200}\s{1,3}password\s{1,3})(?P<value>\S{1,4096})"
)
_USER: Final = re.compile(
    r"(?P<name>(?<![\w-])(?:-u|--user|--proxy-user)[\s=]{1,3}[\"']?[^\s:\"']{1,200}:)"
    r"(?P<value>[^\s\"']{3,4096})"
)
_LOGIN: Final = re.compile(
    r"(?P<name>\blogin\b[^\n]{0,200}?\s-p[\s=]{1,3})(?P<value>[^\s\"']{3,4096}|\"[^\"\n]{1,4096}\")"
)
# Addresses that are secrets themselves: who knows them may post.
_HOOK: Final = re.compile(
    r"(?P<name>\bhttps://(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/"
    r"|(?:\w{1,20}\.)?discord(?:app)?\.com/api/webhooks/|[\w.-]{1,80}\.webhook\.office\.com/"
    r"|api\.telegram\.org/bot|chat\.googleapis\.com/v1/spaces/))(?P<value>[^\s\"'<>)]{6,2048})"
)
# Who a person is; a name before a host of git is none, nor is a product of two tensors.
_MAIL: Final = re.compile(
    r"(?<![\w.+/@-])(?!git@)(?P<value>[A-Za-z0-9][\w.+-]{1,63})@"
    r"(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,10}(?![\w(@-])"
)
_BEARER: Final = re.compile(
    r"(?P<name>\bbearer\s{1,3})(?P<value>[A-Za-z0-9._~+/=-]{12,4096})", re.IGNORECASE
)
_PRIVATE_HEADER: Final = re.compile(
    r"(?P<name>\b(?:private|job|deploy|x-[a-z-]{1,30})-token[\"']?\s{0,3}[:=]\s{0,3}[\"']?)"
    r"(?P<value>[^\s\"',;]{4,4096})",
    re.IGNORECASE,
)
# https://user:password@host and https://token@host
_URL: Final = re.compile(
    r"(?P<scheme>\b[a-z][a-z0-9+.-]{1,20}://)(?P<who>[^\s/@:'\"<>]{1,512})"
    r"(?::(?P<word>[^\s/@'\"<>]{0,512}))?@",
    re.IGNORECASE,
)
# Patterns of a name and a value, by a word without which (in lower case) they find nothing.
_BY_WORD: Final = (
    *(("authorization", _HEADER), ("bearer", _BEARER), ("-token", _PRIVATE_HEADER)),
    *(("-", _OPTION), ("auth", _AUTH), ("login", _NETRC), ("-u", _USER), ("login", _LOGIN)),
)
_KEY_BLOCK: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[^-]|-(?!----END)){0,20000}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
# A line of a private key that a block split by a log has left alone.
_KEY_LINE: Final = re.compile(r"^[^\S\n]*MII[A-Za-z0-9+/]{50,}={0,2}[^\S\n]*$", re.MULTILINE)

# What stands where a secret would, and is none: placeholders, references, counts, file names.
_HARMLESS: Final = re.compile(
    r"""["']?(?:
      \*{2,}|x{3,}|\[(?:MASKED|masked|FILTERED|REDACTED|secure)\]?|<[^>]*>|\$\{?.*|%\w+%|\{\{.*
    | true|false|none|null|nil|yes|no|required|missing|invalid|expired|unset|empty|not|is|was|has
    | \d{1,3}
    )["']?$""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
# Names that end like a secret and carry none: `token_type`, `max_tokens`, `cache key`, `sig` words.
_WORDY: Final = re.compile(r"^(?:signature|sig|token|key|cookie|credentials?)$", re.IGNORECASE)
_RANDOM: Final = re.compile(r"^[\"']?(?=[^\s]*\d)[A-Za-z0-9+/_.=~%-]{12,}[\"']?$")


def mask_secrets(text: str) -> str:
    """The text with every credential replaced by `[MASKED]`; idempotent, in linear time."""
    if "-----BEGIN" in text:
        text = _KEY_BLOCK.sub(_masked_block, text)
    if "MII" in text:
        text = _KEY_LINE.sub(MASK, text)
    if "://" in text and "@" in text:
        text = _URL.sub(_masked_url, text)
    if "https://" in text:
        text = _HOOK.sub(_masked_value, text)
    if "@" in text:
        text = _MAIL.sub(MASK, text)
    text = _mask_named(text)
    if any(start in text for start in _TOKEN_STARTS):
        text = _TOKENS.sub(MASK, text)
    return text


def _mask_named(text: str) -> str:
    lower = text.lower()
    for word, pattern in _BY_WORD:
        if word in lower:
            text = pattern.sub(_masked_value, text)
    return _NAMED.sub(_masked_named, text) if _NAME_HINT.search(lower) else text


def _masked_block(match: re.Match[str]) -> str:
    return MASK + "\n" * match[0].count("\n")  # line numbers of an excerpt stay right


def _masked_value(match: re.Match[str]) -> str:
    if _HARMLESS.match(match["value"]):
        return match[0]
    return match["name"] + MASK


def _masked_named(match: re.Match[str]) -> str:
    value = match["value"]
    if _HARMLESS.match(value) or value.startswith(MASK):
        return match[0]
    if _WORDY.match(match["name"]) and not _RANDOM.match(value):
        return match[0]  # "Unexpected token: }", "signature: f(x)", "key: value"
    if match["name"].lower().endswith("pwd") and value.startswith("/"):
        return match[0]  # the shell's working directory
    quote = value[0] if value[0] in "\"'" else ""
    return f"{match['name']}{match['between']}{quote}{MASK}{quote}"


def _masked_url(match: re.Match[str]) -> str:
    if match["word"] is None and not _RANDOM.match(match["who"]):
        return match[0]  # ssh://git@host names a user, not a secret
    return f"{match['scheme']}{MASK}@"
