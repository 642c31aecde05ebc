"""Writing is all or nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gradcon.errors import InputError
from gradcon.files import make_folder, write_file, write_files
from gradcon.files.leftovers import temporary_name
from gradcon.files.writing import writing


def test_writes_and_replaces(tmp_path):
    folder = tmp_path / "a" / "b"
    assert write_files(folder, [("x", b"1"), ("y", b"2")]) == folder
    write_file(folder / "x", b"3")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"x": b"3", "y": b"2"}


@pytest.mark.parametrize("error", [KeyboardInterrupt("stop"), RuntimeError("stop"), InputError("x", "stops")])
def test_an_interruption_leaves_nothing(tmp_path, error):
    def files():
        yield "x", b"new"
        raise error

    with pytest.raises(type(error)):
        write_files(tmp_path / "a" / "b", files())
    assert not list(tmp_path.iterdir())
    (tmp_path / "x").write_bytes(b"old")
    with pytest.raises(type(error)):
        write_files(tmp_path, files())
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_bytes() == b"old"


def test_a_full_disk_gives_a_sentence(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InputError, match=r"x: cannot be written .no space left"):
        write_file(tmp_path / "x", b"1")
    assert not list(tmp_path.iterdir())


def everything(folder: Path) -> dict[str, bytes | str]:
    """Return the content of each file, and where each link leads."""
    return {path.name: os.readlink(path) if path.is_symlink() else path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", range(5))
def test_what_stops_the_renaming_leaves_the_folder_as_it_was(tmp_path, monkeypatch, step, error, links):
    """The record comes last; `old` belongs to the earlier result, and `user` to the user."""
    for name in ("changed", "old", "user", "record"):
        (tmp_path / name).write_bytes(b"old")
    (tmp_path / "link").symlink_to("user")
    before, left = everything(tmp_path), step

    def stopping(rename):
        def renamed(source: Path, target: Path) -> None:
            nonlocal left
            left -= 1
            if left == -1:
                raise error
            rename(source, target)

        return renamed

    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    if not links:
        monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(os, "replace", stopping(os.replace))
    monkeypatch.setattr(os, "rename", stopping(os.rename))
    files = [("changed", b"new"), ("added", b"new"), ("link", b"new"), ("record", b"new")]
    with pytest.raises((InputError, KeyboardInterrupt)):
        write_files(tmp_path, files, obsolete=["old", "missing"])
    assert everything(tmp_path) == before
    write_files(tmp_path, files, obsolete=["old", "missing"])
    assert everything(tmp_path) == {**dict(files), "user": b"old"}


def test_ctrl_c_after_the_last_renaming_leaves_the_new_files(tmp_path, monkeypatch):
    (tmp_path / "x").write_bytes(b"old")
    replace = os.replace

    def stopped(source: Path, target: Path) -> None:
        replace(source, target)
        if target.name == "record":
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_files(tmp_path, [("x", b"new"), ("record", b"new")])
    assert everything(tmp_path) == {"x": b"new", "record": b"new"}


def test_a_folder_in_the_place_of_an_obsolete_file_stays(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "x").write_bytes(b"old")
    with pytest.raises(InputError, match=r"/old: belongs to an earlier result and cannot be removed"):
        write_files(tmp_path, [("x", b"new"), ("record", b"new")], obsolete=["old"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old", "x"]
    assert (tmp_path / "x").read_bytes() == b"old"


@pytest.mark.parametrize("is_folder", [True, False])
def test_what_is_written_under_a_temporary_name_does_not_stay(tmp_path, is_folder):
    def write_half() -> None:
        with writing(tmp_path / "x") as temporary:
            if is_folder:
                temporary.mkdir()
            else:
                temporary.write_bytes(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert not list(tmp_path.iterdir())


def test_folders_that_cannot_be_created(tmp_path):
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / ("n" * 300), tmp_path / "a\0b"):
        with pytest.raises(InputError, match="cannot create"):
            make_folder(folder)
    with pytest.raises(InputError):  # there is a folder in the place of the file
        write_file(tmp_path, b"1")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="cannot write into"):
        write_file(tmp_path / "x", b"1")


def test_a_folder_in_the_way_is_found_before_anything_is_replaced(tmp_path):
    (tmp_path / "x").write_bytes(b"old")
    (tmp_path / "y").mkdir()
    with pytest.raises(InputError, match=r"/y: cannot be written \(a folder has this name\)"):
        write_files(tmp_path, [("x", b"new"), ("y", b"new"), ("z", b"new")])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x", "y"]
    assert (tmp_path / "x").read_bytes() == b"old"


@pytest.mark.parametrize("letters", [200, 230, 255])
def test_names_as_long_as_file_systems_allow(tmp_path: Path, letters: int) -> None:
    path = tmp_path / ("n" * letters)
    left = temporary_name(path)
    left.write_bytes(b"left by a process that was killed")
    write_file(path, b"content")
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == b"content"


def test_a_name_that_is_too_long_is_refused_by_that_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"/n{256}: cannot be written \(file name too long\)"):
        write_file(tmp_path / ("n" * 256), b"content")
    assert not list(tmp_path.iterdir())
