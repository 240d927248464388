"""The output folder of a checkout that a stranger prepared: nothing is written outside of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from ciops.errors import PartialError, RefusedError, UsageError
from ciops.plumbing.output_folder import OutputFolder, append, make_folder, open_new, write_whole
from fakes.full_disk import room_for
from plumbing.conftest import GITHUB, GITLAB, Seen

WRITERS: dict[str, Callable[[Path], None]] = {
    "new": lambda path: open_new(path).close(),
    "append": lambda path: append(path, b"more"),
    "whole": lambda path: write_whole(path, b"all"),
    "folder": lambda path: Path(
        OutputFolder(path.parent, "--output").write(path.name, "x")
    ).touch(),
}


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    path = tmp_path / "precious"
    path.write_text("do not touch", encoding="utf-8")
    return path


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("target", ["precious", "not there yet", "a folder"])
def test_a_planted_link_is_replaced_and_not_followed(
    write: Callable[[Path], None], target: str, precious: Path, tmp_path: Path
) -> None:
    (tmp_path / "a folder").mkdir()
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "file").symlink_to(tmp_path / target)
    write(folder / "file")
    assert not (folder / "file").is_symlink()
    assert precious.read_text(encoding="utf-8") == "do not touch"
    assert not (tmp_path / "not there yet").exists()
    assert list((tmp_path / "a folder").iterdir()) == []


@pytest.mark.parametrize("env", [{}, GITLAB, GITHUB], ids=["terminal", "gitlab", "github"])
def test_summary_and_outputs_follow_no_planted_link(
    on: Callable[..., Seen], env: dict[str, str], precious: Path
) -> None:
    seen = on(env)
    seen.folder.mkdir()
    for name in ("summary.md", "outputs.env"):
        (seen.folder / name).symlink_to(precious)
    seen.host.summary("# One")
    seen.host.summary("Two")
    seen.host.output("labels", "x")
    assert (seen.folder / "summary.md").read_text(encoding="utf-8") == "# One\n\nTwo\n\n"
    assert precious.read_text(encoding="utf-8") == "do not touch"


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path, on: Callable[..., Seen]) -> None:
    (tmp_path / "elsewhere").mkdir()
    seen = on({})
    seen.folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedError, match=r"--output: .*out is a symbolic link"):
        seen.host.summary("# One")
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("given", ["parts/out", "./parts/out", "parts", "{cwd}/parts/out"])
def test_a_folder_below_a_link_of_the_checkout_is_refused(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "checkout").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "checkout" / "parts").symlink_to(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path / "checkout")
    with pytest.raises(RefusedError, match="parts is a symbolic link"):
        make_folder(Path(given.format(cwd=Path.cwd())))


def test_a_link_above_the_checkout_is_the_machines_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As /tmp is on macOS."""
    (tmp_path / "real" / "checkout").mkdir(parents=True)
    (tmp_path / "tmp").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path / "real" / "checkout")
    make_folder(tmp_path / "tmp" / "out")
    make_folder(Path("out"))
    assert (tmp_path / "real" / "out").is_dir()


NAMES = ["", ".", "..", "../x", "a/b", "/etc/passwd", ".hidden", "x/"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_leads_nowhere_else(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no plain file name"):
        OutputFolder(tmp_path / "out", "--output").write(name, "x")
    assert list(tmp_path.iterdir()) == []


def test_a_link_that_comes_back_in_between_is_an_error(
    precious: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look and the write somebody puts it there again: the write does not follow."""
    (tmp_path / "file").symlink_to(precious)
    monkeypatch.setattr(Path, "is_symlink", lambda path: False)
    with pytest.raises(UsageError, match="cannot be written"):
        append(tmp_path / "file", b"x")
    assert precious.read_text(encoding="utf-8") == "do not touch"


def test_what_is_cut_off_is_not_there(tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path / "out", "--output")
    folder.write("report.json", "whole")

    def cut_off() -> None:
        with folder.stream("report.json") as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cut_off()
    assert (tmp_path / "out" / "report.json").read_text(encoding="utf-8") == "whole"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["report.json"]


# --- a disk that fills up ---------------------------------------------------------------------


def _written_new(path: Path) -> None:
    with open_new(path) as file:
        file.write(b"x" * 100)


FILLING: dict[str, Callable[[Path], object]] = {
    "new": _written_new,
    "append": lambda path: append(path, b"x" * 100),
    "whole": lambda path: write_whole(path, b"x" * 100),
}


@pytest.mark.parametrize("write", FILLING.values(), ids=FILLING)
@pytest.mark.parametrize("size", [0, 1, 99])
def test_a_write_that_finds_no_room_raises(
    write: Callable[[Path], object], size: int, tmp_path: Path
) -> None:
    """A write without a buffer takes what there is room for, and that alone is no error."""
    with room_for(size), pytest.raises(PartialError, match=r"file cannot be written: .*Make room"):
        write(tmp_path / "file")


@pytest.mark.parametrize("write", FILLING.values(), ids=FILLING)
def test_a_write_that_just_fits(write: Callable[[Path], object], tmp_path: Path) -> None:
    with room_for(100):
        write(tmp_path / "file")
    assert (tmp_path / "file").stat().st_size == 100


@pytest.mark.parametrize("variable", ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"])
def test_a_file_of_the_runner_that_cannot_be_written(
    variable: str, tmp_path: Path, on: Callable[..., Seen]
) -> None:
    host = on({**GITHUB, variable: str(tmp_path / "not there" / "file")}).host
    with pytest.raises(UsageError, match="file cannot be written: No such file or directory"):
        (host.summary if variable.endswith("SUMMARY") else partial(host.output, "labels"))("x")


@pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="no files by an open folder here")
def test_a_folder_held_open_is_written_to_whatever_has_its_name(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    place = os.open(folder, os.O_RDONLY)
    folder.rename(tmp_path / "moved")
    folder.symlink_to(elsewhere)
    write_whole(folder / "report.md", b"all", place)
    os.close(place)
    assert list(elsewhere.iterdir()) == []
    assert (tmp_path / "moved" / "report.md").read_bytes() == b"all"
