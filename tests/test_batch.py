"""`gradcon batch` on this machine: what it writes, lists and refuses."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from PIL import Image

from batch_scenes import QUICK, batch, everything, job_files, leftovers, results, rows, start_batch, write_scenes
from gradcon import InputError, Options, estimate, open_scene, run_batch, synth
from gradcon.cli import main
from waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """The links, pictures and text of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.pictures: list[dict[str, str | None]] = []
        self.policy = ""
        self.text = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if tag == "a":
            self.links.append(told["href"] or "")
        elif tag == "img":
            self.pictures.append(told)
        elif tag == "meta" and told.get("http-equiv") == "Content-Security-Policy":
            self.policy = told["content"] or ""

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three scenes that can be done, one with an <odd> name and two with the same name, and three that cannot."""
    root = tmp_path_factory.mktemp("scenes")
    first, broken, third = write_scenes(root / "set", 3)
    third.rename(third.with_name("a <b> & c"))
    view = broken / "input_Cam031.png"
    view.write_bytes(view.read_bytes()[:200])
    for camera in ("cam_0_0", "cam_0_1"):
        (root / "set" / "video" / camera).mkdir(parents=True)
        for frame in range(2):
            Image.fromarray(np.zeros((32, 32), np.uint8)).save(root / "set/video" / camera / f"{frame}.png")
    (root / "set" / "notes").mkdir()
    (root / "set" / ".hidden").mkdir()
    shutil.copytree(first, root / "other" / first.name)  # the same input, but a result of its own
    return root


@pytest.fixture(scope="module")
def run(scenes: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, str]:
    out = tmp_path_factory.mktemp("out") / "deep" / "batch"
    process = start_batch(scenes / "set", out, str(scenes / "other" / "scene00"), str(scenes / "set" / "notes"))
    _, errors = process.communicate(timeout=PATIENCE)
    return out, process.returncode, errors


def test_good_scenes_are_done_and_bad_ones_are_listed(run: tuple[Path, int, str], scenes: Path) -> None:
    out, code, errors = run
    assert code == 1
    found = rows(out)
    done = {name for name, row in found.items() if row["status"] == "done"}
    assert done == {"set-scene00", "other-scene00", "a_b_c"}
    assert {name: row["error"] for name, row in found.items() if name not in done} == {
        "scene01": f"{scenes}/set/scene01/input_Cam031.png: is truncated; copy or export the image again.",
        "video": f"{scenes}/set/video: is a video; use gradcon estimate, which starts each frame from the last.",
        "notes": f"{scenes}/set/notes: is an empty folder; give the one that holds the views.",
    }
    for name in ("scene01", "video", "notes"):
        assert f"failed: {found[name]['error']}" in errors
    assert "6 of 6 scenes, 3 failed" in errors
    assert "scenes per minute" in errors
    assert not leftovers(out)


def test_results_equal_those_of_estimate(run: tuple[Path, int, str], scenes: Path, tmp_path: Path) -> None:
    out, _, _ = run
    scene = open_scene(scenes / "set" / "scene00")
    alone = estimate(scene, Options("gcm", solves=2), engine="reference").save(tmp_path / "alone")
    ours = {name.split("/")[1]: content for name, content in results(out).items() if name.startswith("set-scene00")}
    assert ours.pop("thumbnail.jpg")[:2] == b"\xff\xd8"
    assert ours == {path.name: path.read_bytes() for path in alone.iterdir() if path.name != "result.json"}
    told, kept = (json.loads((folder / "result.json").read_text()) for folder in (alone, out / "set-scene00"))
    assert kept["parameters"] == told["parameters"]
    assert float(rows(out)["set-scene00"]["rmse"]) == told["metrics"]["rmse"]


def test_the_index_shows_all_scenes_and_its_links_work(run: tuple[Path, int, str], scenes: Path) -> None:
    out, _, _ = run
    page = Page(out / "index.html")
    assert page.policy.startswith("default-src 'none'")
    for link in [*page.links, *(picture["src"] or "" for picture in page.pictures)]:
        assert link == "#failed" or (out / unquote(link)).is_file(), link
    assert len(page.pictures) == 3
    assert all(picture["alt"] and picture["loading"] == "lazy" for picture in page.pictures)
    for text in ("3 scenes done", "3 failed", f"{scenes}/set/notes: is an empty folder"):
        assert text in page.text
    with Image.open(out / "a_b_c" / "thumbnail.jpg") as picture:
        assert picture.size == (320, 160)


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    capsys.readouterr()
    assert batch(*arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err.removeprefix("gradcon: ").rstrip()


def test_an_output_folder_of_another_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (scene,), out = write_scenes(tmp_path / "in", 1), tmp_path / "out"
    for name in ("result.json", "video.json", "manifest.json", "summary.csv", "index.html", "jobs/abc.json"):
        (out / name).parent.mkdir(parents=True)
        (out / name).write_text("{}")
        before = everything(out)
        assert refusal(capsys, scene, "--out", out).startswith(f"{out}: holds {name.split('/')[0]} of another run")
        assert everything(out) == before
        shutil.rmtree(out)
    (out / "scene00").mkdir(parents=True)
    (out / "scene00" / "thesis.tex").write_text("mine")
    before = everything(out)
    assert refusal(capsys, scene, "--out", out).startswith(f"{out}/scene00: exists and does not belong to this batch")
    assert everything(out) == before
    shutil.rmtree(out / "scene00")
    (out / "thesis.tex").write_text("mine")
    assert "files that are not results of gradcon, such as thesis.tex" in refusal(capsys, scene, "--out", out)
    (out / "batch.json").write_text("[]")
    assert "is not the list that `gradcon batch` writes" in refusal(capsys, scene, "--out", out)
    for given in (scene, scene.parent):  # also if it is one of the scenes in a folder
        assert "is one of the scenes' folders" in refusal(capsys, given, "--out", scene)
    assert "there is no such folder or file" in refusal(capsys, scene, tmp_path / "typo", "--out", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_single_path_needs_no_list(tmp_path: Path) -> None:
    for given in (tmp_path / "typo", str(tmp_path / "typo")):
        with pytest.raises(InputError, match=r"typo: there is no such folder or file"):
            run_batch(given, tmp_path / "out")
    with pytest.raises(InputError, match=r"^scenes: a int is neither a path nor a list of paths"):
        run_batch(5, tmp_path / "out")


def test_other_parameters_are_refused_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (scene,), out = write_scenes(tmp_path / "in", 1), tmp_path / "out"
    assert batch(scene, "--out", out) == 0
    before = everything(out)
    for option, value, said in (
        ("--alpha", "0.3", "alpha 0.5, not 0.3"),
        ("--views", "3", 'views "all", not "3"'),
        ("--choice", "unseen=coupled", 'unseen "uncoupled", not "coupled"'),
        ("--reference", "input_Cam039.png", 'reference none, not "input_Cam039.png"'),
    ):
        assert f"holds a batch with other parameters ({said})" in refusal(capsys, scene, "--out", out, option, value)
    assert everything(out) == before


def test_a_full_disk_gives_one_sentence_and_loses_nothing(tmp_path: Path) -> None:
    """A limit on the length of a file stands for the full disk."""
    paths, out = write_scenes(tmp_path / "in", 2), tmp_path / "out"
    assert batch(paths[0], "--out", out) == 0
    before = everything(out)
    command = [sys.executable, "-m", "gradcon", "batch", *map(str, paths), "--out", str(out), *QUICK]
    full = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)),
    )
    assert full.returncode == 2, full.stderr
    last = full.stderr.splitlines()[-1]
    assert last.startswith(f"gradcon: {out}/scene01/")
    assert "cannot be written (file too large)" in last
    assert "Traceback" not in full.stderr
    assert not leftovers(out)
    assert {name: content for name, content in everything(out).items() if name in before} | {
        "batch.json": before["batch.json"]
    } == before
    assert batch(*paths, "--out", out) == 0


def test_the_exit_code_is_2_if_no_scene_could_be_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes").mkdir()
    assert batch(tmp_path / "notes", "--out", tmp_path / "out", "--json") == 2
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert told["failed"] == 1
    assert told["scenes"][0]["error"].endswith("is an empty folder; give the one that holds the views.")


def test_output_inside_a_scene_does_not_count_as_input(tmp_path: Path) -> None:
    synth.write("planes", tmp_path, (32, 32), views=3, seed=0)
    assert batch(tmp_path, "--out", tmp_path / "out") == 0
    before = job_files(tmp_path / "out")
    assert batch(tmp_path, "--out", tmp_path / "out") == 0
    assert job_files(tmp_path / "out") == before
    assert os.listdir(tmp_path / "out" / tmp_path.name)


def test_reports_show_the_present_results(tmp_path: Path) -> None:
    scene = synth.write("planes", tmp_path / "scene", (24, 24), views=3)
    out = tmp_path / "out"
    assert batch(scene, "--out", out, "--reports") == 0
    page = out / "scene" / "report.html"
    assert "planes" in page.read_text(encoding="utf-8")
    assert "scene/report.html" in Page(out / "index.html").links
    written = page.stat().st_mtime_ns
    assert batch(scene, "--out", out, "--reports") == 0
    assert page.stat().st_mtime_ns == written
    synth.write("planes", scene, (24, 24), views=3, seed=5)
    assert batch(scene, "--out", out) == 0
    assert not page.exists()  # it showed a result that is gone


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_batch_shows_what_is_finished(tmp_path: Path, number: int, code: int) -> None:
    write_scenes(tmp_path / "in", 4)
    out = tmp_path / "out"
    process = start_batch(tmp_path / "in", out, pause_after=2)
    wait_until(lambda: len(job_files(out)) == 2 or process.poll() is not None)
    assert process.poll() is None, process.communicate()[1]
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, errors
    assert "finished scenes are kept" in errors.splitlines()[-1]
    finished = rows(out)
    assert len(finished) == 2
    assert all(row["status"] == "done" for row in finished.values())
    assert len(Page(out / "index.html").pictures) == len(finished)
    assert not leftovers(out)


def test_flip_and_initial_work_as_in_estimate(tmp_path: Path) -> None:
    (scene,), out = write_scenes(tmp_path / "in", 1), tmp_path / "out"
    assert batch(scene, "--out", out, "--flip", "x", "--initial", "0.5") == 0
    one = ["estimate", str(scene), "--out", str(tmp_path / "one"), *QUICK, "--flip", "x", "--initial", "0.5"]
    assert main(one) == 0
    assert (out / "scene00" / "disparity.pfm").read_bytes() == (tmp_path / "one" / "disparity.pfm").read_bytes()
    for bad in (["--flip", "z"], ["--method", "gcm", "--initial", "nan"], ["--initial", "0.5"]):
        assert main(["batch", str(scene), "--out", str(tmp_path / "new"), *bad]) == 2
    assert not (tmp_path / "new").exists()
