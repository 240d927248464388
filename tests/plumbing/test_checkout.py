"""A file of a checkout that is a link: to another one of it, or out of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ciops.errors import RefusedError
from ciops.failures.trace_files import chunks
from ciops.plumbing.yaml_file import load, read_bytes, read_text

READERS: dict[str, Callable[[Path], object]] = {
    "a document": load,
    "a text": read_text,
    "bytes": read_bytes,
    "a trace": lambda path: list(chunks(path)),
}
SECRET = "hunter2: s3cret"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, beside which lies what only the machine's owner should see."""
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "own").write_text(SECRET, encoding="utf-8")
    folder = tmp_path / "checkout"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "real").write_text("a: 1", encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("form", ["{name}", "./{name}", "docs/../{name}", "{cwd}/{name}"])
@pytest.mark.parametrize("link", ["file", "folder", "chain", "relative"])
def test_a_link_out_of_the_working_folder_is_not_read(
    read: Callable[[Path], object], form: str, link: str, checkout: Path
) -> None:
    keys = checkout.parent / "keys"
    (checkout / "file").symlink_to(keys / "own")
    (checkout / "folder").symlink_to(keys)
    (checkout / "chain").symlink_to("file")
    (checkout / "relative").symlink_to("../keys/own")
    name = "folder/own" if link == "folder" else link
    with pytest.raises(RefusedError, match="is a link that leads out") as caught:
        read(Path(form.format(name=name, cwd=checkout)))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_what_else_is_read(read: Callable[[Path], object], checkout: Path) -> None:
    """A link within the checkout, and whatever is named outside of it."""
    (checkout / "inside").symlink_to("docs/real")
    (checkout / "folder").symlink_to("docs")
    (checkout.parent / "beside").symlink_to(checkout.parent / "keys" / "own")
    for path in ("docs/real", "inside", "folder/real", "../keys/own", "../beside"):
        assert read(Path(path))
        assert read(Path(checkout, path))


def test_a_working_folder_that_is_gone(checkout: Path, tmp_path: Path) -> None:
    (checkout / "docs" / "real").unlink()
    (checkout / "docs").rmdir()
    checkout.rmdir()
    assert read_text(tmp_path / "keys" / "own") == SECRET
