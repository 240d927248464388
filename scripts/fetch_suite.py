"""Fetch one version of the suite into a job that has none of its files, and print where it lies.

    python3 -I fetch_suite.py     (TRIAGE_ACTION_ARCHIVE, _VERSION, _SHA256, _CHECKOUT in the env)

A GitLab component brings its YAML along and no other file, so each template carries this text.
The archive is a .tar.gz as GitLab, GitHub or a package registry serves it; `{version}` in the
address is replaced. It is unpacked aside and renamed, below .cache of the folder it runs in, and
kept for the next job where its name says what is inside: a full version, a commit or a checksum.
What a tag or branch that moves holds is fetched every time, and lies where the cache is not.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import os
import re
import shutil
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request
import zlib
from pathlib import Path, PurePosixPath

LIMIT = 64 * 1024 * 1024  # bytes, packed as well as unpacked: the suite has less than a tenth


def main() -> str:
    if os.environ.get("TRIAGE_ACTION_CHECKOUT"):
        return checked(Path(os.environ["TRIAGE_ACTION_CHECKOUT"]))
    version = os.environ["TRIAGE_ACTION_VERSION"]
    url = os.environ["TRIAGE_ACTION_ARCHIVE"].replace("{version}", version)
    digest = os.environ.get("TRIAGE_ACTION_SHA256", "").lower().removeprefix("sha256:")
    key = hashlib.sha256(f"{url} {digest}".encode()).hexdigest()[:16]
    suite = Path(".cache", "triage-action", f"suite-{key}").resolve()
    kept = bool(digest or re.fullmatch(r"v?\d+\.\d+\.\d+|[0-9a-f]{40}", version))
    if kept and suite.is_dir():
        return checked(suite)
    data = download(url, digest)
    if not kept:
        content = hashlib.sha256(data).hexdigest()[:16]
        suite = Path(".cache", "triage-action-moving", f"suite-{content}").resolve()
    if not suite.is_dir():
        unpack(data, suite)
    return checked(suite)


def checked(suite: Path) -> str:
    if not (suite / "scripts" / "launch.py").is_file():
        problem = f"triage-action: {suite} does not hold the suite (no scripts/launch.py)."
        raise SystemExit(f"{problem} Correct `checkout`, or `archive`.")
    return str(suite.resolve())


def download(url: str, digest: str) -> bytes:
    step = "Check `archive` and `version`, or name a folder by `checkout`."
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError as fault:
        raise SystemExit(
            f"triage-action: the archive {url} is no address ({fault}). {step}"
        ) from None
    local = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
    if parts.scheme != "https" and not local:
        raise SystemExit(f"triage-action: the archive {url} is not https. Correct `archive`.")
    request = urllib.request.Request(url, headers={"User-Agent": "triage-action"})  # noqa: S310
    server = urllib.parse.urlsplit(os.environ.get("CI_SERVER_URL", ""))
    if parts[:2] == server[:2] and os.environ.get("CI_JOB_TOKEN"):
        # Not sent again when the server redirects, to its storage for one.
        request.add_unredirected_header("JOB-TOKEN", os.environ["CI_JOB_TOKEN"])
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:  # noqa: S310
            if not reply.url.startswith(f"{parts.scheme}:"):
                raise ValueError(f"redirected to {reply.url}")
            data: bytes = reply.read(LIMIT)
    except (OSError, ValueError, http.client.HTTPException) as fault:
        raise SystemExit(f"triage-action: {url} could not be read ({fault}). {step}") from None
    found = hashlib.sha256(data).hexdigest()
    if digest and found != digest:
        problem = f"triage-action: {url} has the sha256 {found}, not {digest}. Not used."
        raise SystemExit(f"{problem} Correct `sha256` if this is the archive that you trust.")
    return data


def unpack(data: bytes, suite: Path) -> None:
    suite.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix="unpacking-", dir=suite.parent))
    try:
        stream = zlib.decompressobj(wbits=31)
        plain = stream.decompress(data, LIMIT)
        if not stream.eof:
            problem = f"triage-action: the archive is cut off, or over {LIMIT} bytes."
            raise SystemExit(f"{problem} Check `archive`.")
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as archive:
            members(archive, aside)
        aside.chmod(0o755)
        aside.rename(suite)
    except (tarfile.TarError, zlib.error, OSError) as fault:
        if not suite.is_dir():  # else another job was quicker, and its folder is the same
            problem = f"triage-action: the archive cannot be unpacked ({fault})."
            raise SystemExit(f"{problem} Check `archive`.") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def members(archive: tarfile.TarFile, aside: Path) -> None:
    """Plain files only, each inside `aside`; their common first folder is left out."""
    left = LIMIT
    for member in archive:
        path = PurePosixPath(member.name)
        left -= member.size
        if left < 0 or path.is_absolute() or ".." in path.parts or "\\" in member.name:
            raise SystemExit(f"triage-action: refused an archive with {member.name!r} in it.")
        content = archive.extractfile(member) if member.isfile() else None
        if content is not None and len(path.parts) > 1:
            target = aside.joinpath(*path.parts[1:])
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.read())


if __name__ == "__main__":
    sys.stdout.write(main())
