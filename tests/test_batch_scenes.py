"""The scenes that a batch finds, the names of their folders, and what their hashes depend on."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from gradcon import synth
from gradcon.batch.inputs import scene_files, scene_sha256
from gradcon.batch.scenes import LONGEST_NAME, find_scenes, name_folders
from gradcon.errors import InputError
from gradcon.io.formats.format import Hints
from gradcon.io.formats.rig import write_rig

RESERVED = ("jobs", "summary.csv", "index.html", "batch.json")
names = st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=12).filter(lambda n: n not in (".", ".."))


@given(st.lists(st.lists(names, min_size=1, max_size=3), max_size=8), st.integers(0, 4))
def test_folders_are_safe_and_told_apart(parts: list[list[str]], known: int) -> None:
    paths = list(dict.fromkeys(Path("/", *some) for some in parts))
    earlier = name_folders(paths[:known], {}, RESERVED)
    entries = name_folders(paths, {entry.folder: str(entry.path) for entry in earlier}, RESERVED)
    assert [entry.path for entry in entries] == paths
    assert entries[: len(earlier)] == earlier  # a scene that has a folder keeps it
    folders = [entry.folder.casefold() for entry in entries]
    assert len(set(folders)) == len(folders)
    assert not set(folders) & set(RESERVED)
    assert all(re.fullmatch(r"[\w+-][\w.+-]*", entry.folder) for entry in entries)


def test_names_tell_scenes_apart(tmp_path: Path) -> None:
    found = name_folders([Path("/a/x/lf"), Path("/b/x/lf"), Path("/b/y/Other"), Path("/r/rig.toml")], {}, RESERVED)
    assert [entry.folder for entry in found] == ["x-lf", "b-x-lf", "Other", "r"]
    gone = {"lf": str(tmp_path / "moved" / "lf")}
    for holds, folder in ((True, "lf"), (False, f"{tmp_path.name}-lf")):  # the scene was moved, or another has its name
        assert name_folders([tmp_path / "lf"], gone, RESERVED, lambda *_, holds=holds: holds)[0].folder == folder


def test_long_names_fit_a_file_system(tmp_path: Path) -> None:
    paths = [Path("/", top, "\u5149" * 80, "x") for top in ("\u5834" * 80, "\u706b" * 80)]
    entries = name_folders([*paths, Path("/", "a" * 9 + "." + "b" * (LONGEST_NAME - 1))], {}, ("x", *RESERVED))
    assert len({entry.folder for entry in entries}) == 3
    for entry in entries:
        (tmp_path / entry.folder).mkdir()
        assert not entry.folder.startswith(".")


def test_a_folder_of_scenes_stands_for_them(tmp_path: Path) -> None:
    for name in ("b", "a"):
        synth.write("planes", tmp_path / "set" / name, (24, 24), views=3)
    np.save(tmp_path / "set" / "c.npy", np.zeros((3, 3, 8, 8), np.float32))
    (tmp_path / "set" / "readme.txt").write_text("about them")
    (tmp_path / "set" / "out").mkdir()
    output = tmp_path / "set" / "out"
    found = find_scenes([tmp_path / "set", tmp_path / "set" / "a", tmp_path / "set" / "readme.txt"], Hints(), output)
    assert [path.name for path in found] == ["a", "b", "c.npy", "readme.txt"]
    with pytest.raises(InputError, match="there is no such"):
        find_scenes([tmp_path / "typo"], Hints(), output)


def test_hints_apply_to_a_folder_of_scenes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for k in (1, 2):
            Image.fromarray(np.zeros((8, 8), np.uint8)).save(tmp_path / name / f"shot{k}.png")
    hints = Hints(pattern="shot{col}.png")
    assert [path.name for path in find_scenes([tmp_path], hints, tmp_path / "out")] == ["one", "two"]
    found = find_scenes([tmp_path / "one"], Hints(grid=(2, 2)), tmp_path / "out")
    assert [path.name for path in found] == ["shot1.png", "shot2.png"]


def sha256(path: Path, output: Path = Path("/nowhere")) -> str:
    return scene_sha256(path, scene_files(path, Hints(), output))


def test_the_hash_covers_all_files_and_nothing_else(tmp_path: Path) -> None:
    scene = tmp_path / "scene"
    synth.write("planes", scene, (24, 24), views=3)
    before = sha256(scene)
    shutil.copytree(scene, tmp_path / "elsewhere" / "scene")
    assert sha256(tmp_path / "elsewhere" / "scene") == before
    (scene / ".notes").write_text("hidden")
    (scene / "out").mkdir()
    (scene / "out" / "result.json").write_text("{}")
    (scene / "again").symlink_to(scene)  # an endless loop
    assert sha256(scene, scene / "out") == before
    assert sha256(scene) != before
    view = scene / "input_Cam040.png"
    view.write_bytes(view.read_bytes() + b"\0")
    assert sha256(scene, scene / "out") != before
    view.rename(scene / "input_Cam000.png")
    assert len({sha256(scene, scene / "out"), before, sha256(scene)}) == 3


def test_the_hash_depends_on_where_a_link_leads(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.png").write_text(name)
    hashes = set()
    for link in ("0.png", "z.png"):  # sorted before and after the files
        for name in "ab":
            (tmp_path / link).symlink_to(f"{name}.png")
            hashes.add(sha256(tmp_path))
            (tmp_path / link).unlink()
    assert len(hashes) == 4


def test_the_hash_of_a_rig_covers_its_images_and_the_list(tmp_path: Path) -> None:
    images = {f"{name}.png": np.full((8, 8), k, np.uint8) for k, name in enumerate("ab")}
    write_rig(tmp_path, images, [(0.0, 0.0), (-1.0, 0.0)], reference="a.png")
    rig = tmp_path / "rig.toml"
    before = sha256(rig)
    Image.fromarray(np.full((8, 8), 9, np.uint8)).save(tmp_path / "b.png")
    assert sha256(rig) != before
    shutil.copy(rig, tmp_path / "other.toml")
    assert sha256(rig) != sha256(tmp_path / "other.toml")


def test_the_hash_of_a_model_covers_the_images_beside_it(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    model = tmp_path / "sparse" / "0"
    model.mkdir(parents=True)
    (model / "cameras.txt").write_text("1 PINHOLE 8 8 8 8 4 4\n")
    (model / "images.txt").write_text("1 1 0 0 0 0 0 0 1 a.png\n\n2 1 0 0 0 -1 0 0 1 b.png\n\n")
    (model / "points3D.txt").write_text("")
    for name in "ab":
        Image.fromarray(np.zeros((8, 8), np.uint8)).save(tmp_path / "images" / f"{name}.png")
    before = sha256(model)
    Image.fromarray(np.ones((8, 8), np.uint8)).save(tmp_path / "images" / "b.png")
    assert sha256(model) != before


def test_an_unreadable_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synth.write("planes", tmp_path / "scene", (24, 24), views=3)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("gradcon.files.reading.hashlib.file_digest", refuse)
    with pytest.raises(InputError, match=r"\.(png|pfm|cfg): cannot be read \(permission denied\)"):
        sha256(tmp_path / "scene")
