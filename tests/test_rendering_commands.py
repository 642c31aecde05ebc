"""The commands `synthesise` and `refocus`, and `evaluate --leave-out`."""

from __future__ import annotations

import builtins
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gradcon import estimate, open_scene, synth, write_pfm
from gradcon.cli import main


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scene, a result of nine of its views, and another scene."""
    folder = tmp_path_factory.mktemp("rendering")
    synth.write("planes", folder / "scene", size=(48, 50))
    synth.write("sphere", folder / "other", size=(48, 50))
    estimate(open_scene(folder / "scene", views=9)).save(folder / "out")
    return folder


@pytest.fixture(autouse=True)
def inside(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(there)


def run(line: str) -> int:
    return main(line.split())


def test_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("synthesise scene out --at 1.5,-1 --out view.png") == 0
    assert run("refocus scene out --at 10,20 --aperture 6 --out sharp.jpg") == 0
    assert Image.open("view.png").size == Image.open("sharp.jpg").size == (50, 48)
    assert run("synthesise scene out --at 5,0 --out beyond.png") == 0
    assert "outside the cameras, so parts are guessed" in capsys.readouterr().err


def test_films() -> None:
    pytest.importorskip("av", reason="films in MP4 need the extra `video`")
    import av

    assert run("synthesise scene out --path circle --at 1,1 --frames 3 --out film.mp4") == 0
    assert run("refocus scene out --at 1,1 --to 25,25 --aperture 4 --frames 3 --out pull.gif") == 0
    with av.open("film.mp4") as film:
        frames = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
    assert len(frames) == 3
    assert frames[0].shape == (48, 50, 3)
    assert Image.open("pull.gif").n_frames == 3


def test_a_film_of_a_reference_at_the_edge_stays_among_the_cameras(capsys: pytest.CaptureFixture[str]) -> None:
    write_pfm("left.pfm", np.zeros((48, 50)))  # of the leftmost camera
    line = "synthesise scene left.pfm --reference input_Cam036.png --path line --frames 4"
    assert run(f"{line} --out line.gif") == 0
    assert Image.open("line.gif").n_frames == 4
    assert "outside" not in capsys.readouterr().err
    assert run(f"{line} --at 3,0 --out line.gif") == 0
    assert "WARNING: (-3, 0) is outside the cameras" in capsys.readouterr().err
    assert run(f"{line} --at 8,0 --out far.gif") == 2
    assert "(-8, 0) is far outside the cameras, which stand from 0 to 8" in capsys.readouterr().err
    assert not Path("far.gif").exists()


def test_films_of_odd_size(tmp_path: Path) -> None:
    av = pytest.importorskip("av", reason="films in MP4 need the extra `video`")
    from gradcon.rendering.films import encode_film

    target = tmp_path / "odd.mp4"
    target.write_bytes(encode_film([np.zeros((5, 7), np.float32)] * 2, ".mp4"))
    with av.open(str(target)) as film:
        assert next(film.decode(video=0)).width == 8


def test_the_judge(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("evaluate out scene --leave-out") == 0
    assert "suspected RMSE" in capsys.readouterr().out
    assert Image.open("out/left-out.png").format == "PNG"
    assert run("evaluate out scene --leave-out --json --picture where.png") == 0
    told = json.loads(capsys.readouterr().out)["leave_out"]
    assert told["independent"]
    assert len(told["views"]) == 8
    write_pfm("map.pfm", open_scene("scene", views=2).ground_truth)
    assert run("evaluate map.pfm scene --leave-out --picture where.png") == 0
    assert "judged too well" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("synthesise scene out --out v.png", "at: is missing"),
        ("synthesise scene out --at 1 --out v.png", "at: '1' is not U,V; give two numbers"),
        ("synthesise scene out --at nan,1 --out v.png", "at: 'nan,1' is not U,V; give two numbers"),
        ("synthesise scene out --at 30,0 --out v.png", "at: .*far outside the cameras"),
        ("synthesise scene out --at 1,1 --out v.txt", "does not end in .png or"),
        ("synthesise scene out --path circle --out v.png", "does not end in .mp4 or .gif"),
        ("synthesise scene out --path star --out v.gif", "path: 'star' is not one of circle, line"),
        ("synthesise scene out --path line --frames 1 --out v.gif", "frames: 1 is not a number of frames"),
        ("synthesise scene out --at 1,1 --frames 9 --out v.png", "frames: belong to a film"),
        ("synthesise scene out --at 1,1 --out out/disparity.png", "is the name of a file of the result"),
        ("synthesise other out --at 1,1 --out v.png", "estimated from other pixels than those of"),
        ("synthesise scene none --at 1,1 --out v.png", "none: "),
        ("refocus scene out --at 50,1 --aperture 2 --out v.png", r"at: \(50, 1\) is outside the picture"),
        ("refocus scene out --at 1,1 --to 1,99 --aperture 2 --out v.gif", r"to: \(1, 99\) is outside the picture"),
        ("refocus scene out --at 1,1 --aperture -2 --out v.png", "aperture: -2.0 is not a diameter"),
        ("refocus scene out --at 1,1 --aperture 1e6 --out v.png", "leaves nothing to see"),
        ("refocus scene out --at 1,1 --aperture 2 --frames 3 --out v.png", "frames: belong to a film"),
        ("evaluate out other --leave-out", "estimated from other pixels than those of"),
        ("evaluate out scene --leave-out --jumps", "jumps: needs ground truth"),
        ("evaluate out scene --picture v.png", "not evaluated; add --uncertainty or --leave-out"),
    ],
)
def test_one_sentence_refuses_wrong_input(command: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command) == 2
    said = capsys.readouterr().err
    assert re.search(sentence, said), said
    assert said.count("\n") == 1
    assert not Path("v.png").exists()


def test_a_film_without_its_library(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    usual = builtins.__import__

    def without_av(name, *more):
        if name == "av":
            raise ImportError
        return usual(name, *more)

    monkeypatch.setattr(builtins, "__import__", without_av)
    assert run("synthesise scene out --path line --out v.mp4") == 2
    assert "needs PyAV, which is not installed; run `pip install" in capsys.readouterr().err
