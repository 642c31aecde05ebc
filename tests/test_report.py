"""The page without a browser: what is read, what is refused, and that nothing in a file can become markup."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from gradcon import cli
from gradcon.errors import InputError
from gradcon.io.pfm import read_pfm, write_pfm
from gradcon.report import write_report
from gradcon.report.packing import pack_map, pack_mask
from gradcon.report.page import HERE, SCRIPT, joined_script
from report_folders import SIZE, copy_to_change, edit, read_weights, save_weights

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def result(folders: list[Path], tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return copy_to_change(folders[0], tmp_path / "result")


class Elements(HTMLParser):
    """What a browser sees in a page: its elements, and the text of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str, str] = {}
        self._in: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in = dict(attrs).get("id") or "" if tag == "script" else None

    def handle_data(self, data: str) -> None:
        if self._in is not None:
            self.scripts[self._in] = self.scripts.get(self._in, "") + data

    def handle_endtag(self, tag: str) -> None:
        self._in = None


def contents(page: Path) -> tuple[Elements, dict[str, Any]]:
    elements = Elements(page.read_text(encoding="utf-8"))
    return elements, json.loads(elements.scripts["data"])


def unpacked(about: dict[str, Any], text: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Unpack a map as the page's script does."""
    data = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8).astype(np.uint16).reshape(2, *shape)
    codes = np.cumsum(data[0] + 256 * data[1], axis=1, dtype=np.uint16)
    values = about["low"] + (codes.astype(float) - 1) * (about["high"] - about["low"]) / 65534
    return np.where(codes == 0, np.nan, np.exp(values) if about["log"] else values)


@given(
    arrays(
        np.float32,
        array_shapes(min_dims=2, max_dims=2, max_side=9),
        elements=st.floats(-1e6, 1e6, width=32) | st.sampled_from([np.nan, np.inf, -np.inf]),
    ),
    st.booleans(),
)
def test_maps_keep_their_values(values: np.ndarray[Any, Any], decades: bool) -> None:
    about, text = pack_map(values, decades=decades)
    back = unpacked(about, text, values.shape)
    known = np.isfinite(values)
    assert np.array_equal(np.isfinite(back), known)
    if known.any() and not about["log"]:
        assert np.abs(back - values)[known].max() <= (about["high"] - about["low"]) / 65534 * 0.51 + 1e-9
    elif known.any():
        assert np.allclose(back[known], values[known], rtol=1e-3)


def test_a_mask_has_one_bit_per_pixel() -> None:
    mask = np.random.default_rng(0).random((7, 5)) > 0.5
    packed = zlib.decompress(base64.b64decode(pack_mask(mask)))
    assert [bool(packed[i >> 3] >> (i & 7) & 1) for i in range(mask.size)] == mask.ravel().tolist()


def test_page_holds_the_result(folders: list[Path], tmp_path: Path) -> None:
    report = write_report(folders, tmp_path / "page.html")
    assert report.size == report.path.stat().st_size
    assert report.left_out == []
    assert report.shown == folders
    elements, data = contents(report.path)
    for k, folder in enumerate(folders):
        shown = data["results"][k]
        for name in ("disparity", "uncertainty", "truth"):
            there = unpacked(shown["maps"][name], elements.scripts[f"r{k}-{name}"], (SIZE, SIZE))
            assert np.allclose(there, read_pfm(folder / f"{name}.pfm"), atol=1e-4)
        assert base64.b64decode(elements.scripts[f"r{k}-views"]) == (folder / "views.jpg").read_bytes()
    codes = read_weights(folders[0] / "weights.npz")["codes"]
    changes = np.frombuffer(zlib.decompress(base64.b64decode(elements.scripts["r0-codes"])), np.uint8)
    assert np.array_equal(np.cumsum(changes.reshape(codes.shape), axis=0, dtype=np.uint8), codes)
    assert data["results"][1]["weights"] is None
    assert [shown["letter"] for shown in data["results"]] == ["A", "B"]


def test_a_single_folder_needs_no_list(folders: list[Path], tmp_path: Path) -> None:
    pages = [write_report(given, tmp_path / "page.html") for given in (folders[0], str(folders[0]), folders[:1])]
    assert [page.shown for page in pages] == [folders[:1]] * 3
    with pytest.raises(InputError, match=r"^folders: a int is neither a path nor a list of paths"):
        write_report(5, tmp_path / "page.html")


def test_page_names_no_address(folders: list[Path], tmp_path: Path) -> None:
    elements, _ = contents(write_report(folders, tmp_path / "page.html").path)
    addresses = [
        value for _, attributes in elements.tags for key, value in attributes.items() if key in ("src", "href")
    ]
    assert addresses == ["data:,"]
    policy = next(a["content"] for _, a in elements.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


def test_the_script_is_all_of_its_files() -> None:
    files = {path.stem: path.read_text(encoding="utf-8") for path in HERE.joinpath("script").iterdir()}
    assert set(files) == set(SCRIPT)
    assert all(text in joined_script() for text in files.values())
    for name, text in files.items():
        assert text.startswith("// "), f"{name} does not say what it is for"
        assert text.count("\n") < 200, name


def test_large_maps_are_sampled(result: Path, tmp_path: Path) -> None:
    values = np.arange(4 * 2000, dtype=np.float32).reshape(4, 2000)
    for name in ("disparity", "uncertainty", "truth", "depth"):
        write_pfm(result / f"{name}.pfm", values + 1)
    edit(result, source__width=2000, source__height=4, views=None)
    (result / "weights.npz").unlink()
    elements, data = contents(write_report([result], tmp_path / "page.html").path)
    shown = data["results"][0]
    assert (shown["step"], shown["columns"], shown["rows"]) == (3, 667, 2)
    there = unpacked(shown["maps"]["disparity"], elements.scripts["r0-disparity"], (2, 667))
    assert np.allclose(there, values[::3, ::3] + 1, atol=0.07)


def test_a_result_of_an_older_run_is_shown(result: Path, tmp_path: Path) -> None:
    """An older run left fewer files and fields, and has no calibration here."""
    for name in ("truth.pfm", "views.jpg", "weights.npz"):
        (result / name).unlink()
    summary = json.loads((result / "result.json").read_text())
    for name in ("views", "metrics", "calibration", "history", "warnings"):
        summary.pop(name)
    (result / "result.json").write_text(json.dumps(summary))
    report = write_report([result], tmp_path / "page.html")
    assert report.left_out == []
    _, data = contents(report.path)
    shown = data["results"][0]
    assert shown["calibration"] is None
    assert shown["cloud"]["unit"] == ""  # made up
    assert 'value="error"' not in report.path.read_text()


def test_the_uncertainty_of_version_0_1_is_shown(result: Path, tmp_path: Path) -> None:
    """Version 0.1 called it confidence."""
    (result / "uncertainty.pfm").rename(result / "confidence.pfm")
    summary = json.loads((result / "result.json").read_text())
    summary["confidence"] = summary.pop("uncertainty")
    (result / "result.json").write_text(json.dumps(summary))
    elements, data = contents(write_report([result], tmp_path / "page.html").path)
    about, text = data["results"][0]["maps"]["uncertainty"], elements.scripts["r0-uncertainty"]
    assert np.allclose(unpacked(about, text, (SIZE, SIZE)), read_pfm(result / "confidence.pfm"), rtol=1e-3)


HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "<!--",
    "\"'&",
    "\u202eabc",
    "a\u2028b",
    "\udcff",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_names_do_not_become_markup(result: Path, folders: list[Path], tmp_path: Path, text: str) -> None:
    plain, _ = contents(write_report(folders[:1], tmp_path / "plain.html").path)
    targets = json.loads((result / "result.json").read_text())["source"]["targets"]
    edit(
        result,
        source__name=text,
        source__reference=text,
        source__targets=[text] * len(targets),
        stopped=text,
        parameters__method=text,
    )
    elements, data = contents(write_report([result], tmp_path / "page.html").path)
    assert [tag for tag, _ in elements.tags] == [tag for tag, _ in plain.tags]
    assert data["results"][0]["name"] == text.encode("utf-8", "backslashreplace").decode()


def refusal(result: Path, tmp_path: Path) -> str:
    with pytest.raises(InputError) as caught:
        write_report([result], tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(result))
    return str(caught.value)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"format": "gradcon-result-9"}, "gradcon-result-9"),
        ({"history": {"a": 1}}, "'history'"),
        ({"history": [{"solve": 2}, {"solve": 1}]}, "'history'"),
        ({"history": [None]}, "'history'"),
        ({"source__name": 5}, "'source.name'"),
        ({"source__targets": [1, 2]}, "'source.targets'"),
        ({"source__baselines": [[0, "x"]]}, "'source.baselines'"),
        ({"source__width": 17}, "disparity.pfm"),
        ({"calibration__product": -1}, "'calibration'"),
        ({"calibration__K": "no matrix"}, "'calibration'"),
        ({"parameters": []}, "'parameters'"),
        ({"warnings": "none"}, "'warnings'"),
    ],
)
def test_damage_is_named(result: Path, tmp_path: Path, fields: dict[str, Any], named: str) -> None:
    edit(result, **fields)
    assert named in refusal(result, tmp_path)


def test_missing_and_truncated_maps_are_named(result: Path, tmp_path: Path) -> None:
    path = result / "disparity.pfm"
    path.write_bytes(path.read_bytes()[:-10])
    assert "truncated" in refusal(result, tmp_path)
    path.unlink()
    assert "disparity.pfm" in refusal(result, tmp_path)
    assert "no such file" in refusal(tmp_path / "nothing", tmp_path)


def test_a_number_that_python_does_not_read_is_named(result: Path, tmp_path: Path) -> None:
    path = result / "result.json"
    path.write_text(path.read_text().replace('"history"', f'"number": {"9" * 5000}, "history"', 1))
    assert "is not valid JSON" in refusal(result, tmp_path)


def damaged_views(result: Path) -> None:
    path = result / "views.jpg"
    path.write_bytes(path.read_bytes()[:3000])


def other_sheet(result: Path) -> None:
    edit(result, views__width=3)


def outside_sheet(result: Path) -> None:
    edit(result, views__file="../views.jpg")


def cut_weights(result: Path) -> None:
    path = result / "weights.npz"
    path.write_bytes(path.read_bytes()[:-100])


def pickled_weights(result: Path) -> None:
    fields = read_weights(result / "weights.npz")
    save_weights(result / "weights.npz", **(fields | {"codes": np.array([{}, []], object)}))


def foreign_weights(result: Path) -> None:
    fields = read_weights(result / "weights.npz")
    save_weights(result / "weights.npz", **(fields | {"codes": fields["codes"][..., :-1]}))


def late_weights(result: Path) -> None:
    fields = read_weights(result / "weights.npz")
    save_weights(result / "weights.npz", **(fields | {"solves": fields["solves"] + 1000}))


def endless_weights(result: Path) -> None:
    """Record so many solves and views that one pixel of them fills a page."""
    solves, targets = 3000, 6000
    summary = json.loads((result / "result.json").read_text())
    history = [{"solve": k + 1} for k in range(solves)]
    edit(result, history=history, source__targets=["t"] * targets, source__baselines=[[1, 0]] * targets)
    height, width = summary["source"]["height"], summary["source"]["width"]
    save_weights(
        result / "weights.npz",
        solves=np.arange(1, solves + 1),
        codes=np.zeros((solves, 1, 1, 1, targets), np.uint8),
        step=np.int32(min(height, width)),
        scales=np.array([0]),
        disparities=np.zeros((solves, 1, 1), np.uint8),
        disparity_step=np.int32(max(height, width)),
        disparity_range=np.array([0.0, 1.0]),
    )


def small_truth(result: Path) -> None:
    write_pfm(result / "truth.pfm", np.zeros((3, 3), np.float32))


@pytest.mark.parametrize(
    ("damage", "file", "part"),
    [
        (damaged_views, "views.jpg", "views"),
        (other_sheet, "views.jpg", "views"),
        (outside_sheet, "result.json", "views"),
        (cut_weights, "weights.npz", "codes"),
        (pickled_weights, "weights.npz", "codes"),
        (foreign_weights, "weights.npz", "codes"),
        (late_weights, "weights.npz", "codes"),
        (endless_weights, "weights.npz", "codes"),
        (small_truth, "truth.pfm", "truth"),
    ],
)
def test_a_broken_part_is_left_out(
    result: Path, tmp_path: Path, capsys: Capture, damage: Any, file: str, part: str
) -> None:
    damage(result)
    assert cli.main(["report", str(result), "--out", str(tmp_path / "page.html")]) == 1
    complaint = capsys.readouterr().err
    assert complaint.startswith((f"gradcon: {result / file}: ", f"gradcon: {result / file}, {part}: "))
    assert complaint.count("\n") == 1
    elements, _ = contents(tmp_path / "page.html")
    assert f"r0-{part}" not in elements.scripts
    assert "r0-disparity" in elements.scripts


def test_command(folders: list[Path], tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken").mkdir()
    assert cli.main(["report", *map(str, folders)]) == 0
    said = capsys.readouterr()
    uri = (tmp_path / "report.html").as_uri()
    assert re.fullmatch(rf"written report.html \(\d\.\d MB\); open it in a browser: {uri}\n", said.out)
    assert cli.main(["report", "broken", str(folders[0]), "--out", "some.html"]) == 1
    assert "broken: holds no result.json" in capsys.readouterr().err
    assert (tmp_path / "some.html").exists()
    assert cli.main(["report", "broken", "nowhere", "--out", "none.html"]) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("gradcon: none.html: was not written, because none of the results can be shown: ")
    assert "broken: holds no result.json" in complaint
    assert "nowhere" in complaint
    assert not (tmp_path / "none.html").exists()
    assert cli.main(["report", str(folders[0]), "--out", str(tmp_path)]) == 2
    assert ".html" in capsys.readouterr().err
