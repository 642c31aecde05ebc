"""Files that crash, block or bloat the C library that reads them end a child process, and never this one."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradcon import InputError, open_frames, open_scene
from gradcon.isolated import Limits, call
from gradcon.isolated.process import Child

h5py = pytest.importorskip("h5py")
zarr = pytest.importorskip("zarr")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits need POSIX")


def some_views(shape: tuple[int, ...] = (3, 3, 16, 16)) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).integers(1, 256, shape, dtype=np.uint8)


def refused(path: Path, match: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match=match) as caught:
        open_scene(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


def hdf5(path: Path, **attributes: Any) -> Path:
    with h5py.File(path, "w") as root:
        root["LF"] = some_views()
        root.attrs.update(attributes)
    return path


def test_a_chunk_that_crashes_its_codec(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path, codec = tmp_path / "lf.zarr", zarr.codecs.BloscCodec()
    array = zarr.create_array(path, shape=(3, 3, 16, 16), dtype="uint8", chunks=(1, 1, 16, 16), compressors=codec)
    array[...] = some_views()
    head = bytes([2, 1, 0x94, 1]) + struct.pack("<4I", 256, 256, 0x7F000000, 0x70000000)
    (path / "c/1/0/0/0").write_bytes(head + bytes(100))
    refused(path, r"crashes the library that reads it|view \(1, 0\) cannot be read", capfd)
    (path / "c/1/0/0/0").write_bytes((path / "c/1/1/0/0").read_bytes())
    assert len(open_scene(path).targets) == 8  # a new child reads it


def test_an_attribute_that_never_ends(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = hdf5(tmp_path / "lf.h5", unit="millimetres", dH=1.0)
    content = bytearray(path.read_bytes())
    heap = content.index(b"GCOL") + 16
    content[heap : heap + 16] = bytes(16)  # the first object becomes free space, whose size is 0
    path.write_bytes(content)
    refused(path, "takes more than 4 seconds to read", capfd)


def test_codecs_that_nobody_knows_are_named_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "lf.zarr"
    group = zarr.create_group(path)
    for name in ("views", "ground_truth", "baselines"):
        group.create_array(name, data=some_views())
        file = path / name / "zarr.json"
        file.write_text(file.read_text().replace('"zstd"', '"nobody-knows"'))
    program = f"import gradcon; gradcon.open_scene({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "InputError: " in done.stderr
    assert "never retrieved" not in done.stderr


def test_small_files_that_would_fill_the_memory(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lf.zarr"
    array = zarr.create_array(path, shape=(2, 30000, 30000), dtype="uint8", chunks=(1, 30000, 30000))
    chunk = zarr.codecs.ZstdCodec()._zstd_codec.encode(np.full(30000**2 // 2, 7, np.uint8).tobytes() * 2)
    for k in range(2):
        (path / f"c/{k}/0").mkdir(parents=True)
        (path / f"c/{k}/0/0").write_bytes(chunk)
    assert array.nbytes == 1_800_000_000
    refused(path, "views: unpacks .* to 1.7 GB, as if it were made to fill the memory", capfd)
    path = tmp_path / "lf.h5"
    with h5py.File(path, "w") as root:
        more: dict[str, Any] = {"maxshape": (None,) * 4, "scaleoffset": 0}
        data = root.create_dataset("LF", (3, 3, 16, 16), "uint8", chunks=(8, 8, 4096, 4096), **more)
        data.id.write_direct_chunk((0, 0, 0, 0), bytes(21000))
    refused(path, "dataset LF: unpacks .* to 1.0 GB, as if it were made to fill the memory", capfd)


def test_a_list_of_videos_is_not_followed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("av")
    from test_video_files import encode, noise

    encode(tmp_path / "secret.mkv", noise(3))
    folder = tmp_path / "scene"
    folder.mkdir()
    encode(folder / "cam_0_1.mp4", noise(3), "libx264", "yuv420p")
    lists = {
        "concat": "ffconcat version 1.0\nfile ../secret.mkv\n",
        "beside": "ffconcat version 1.0\nfile cam_0_1.mp4\n",
        "hls": "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\ncam_0_1.mp4\n#EXT-X-ENDLIST\n",
    }
    for text in lists.values():
        (folder / "cam_0_0.mp4").write_text(text)
        with pytest.raises(InputError, match=r"cam_0_0\.mp4: .* not a video of a supported kind"):
            open_frames(folder)
    assert capfd.readouterr().err == ""


def test_memory_and_replies_are_limited(tmp_path: Path) -> None:
    views = some_views((3, 3, 2048, 2048))
    with h5py.File(tmp_path / "lf.h5", "w") as root:
        root.create_dataset("LF", data=views, chunks=(3, 3, 2048, 2048), compression="gzip", compression_opts=1)
    asked: dict[str, Any] = {"dataset": "LF", "index": [1, 2], "window": []}
    with pytest.raises((InputError, RuntimeError)):
        call("hdf5_file.read", tmp_path / "lf.h5", Limits(60, 2**24), 2**22, **asked)
    with pytest.raises(InputError, match="confuses"):
        call("hdf5_file.read", tmp_path / "lf.h5", Limits(60, 2**28), 2**22 - 1, **asked)
    read = call("hdf5_file.read", tmp_path / "lf.h5", Limits(60, 2**28), 2**22, **asked)
    np.testing.assert_array_equal(read.values, views[1, 2])


def test_a_child_that_was_ended_in_between_is_started_again(tmp_path: Path) -> None:
    path, child = hdf5(tmp_path / "lf.h5", dH=2.5), Child()

    def ask() -> Any:
        found = child.call("hdf5_file.describe", path, {"datasets": ["LF"], "attributes": ["dH"]}, Limits(), 0)
        return found.facts["attributes"]

    assert ask() == {"dH": 2.5}
    assert child._process is not None
    first = child._process.pid
    os.kill(first, signal.SIGINT)  # which is the parent's to handle
    assert ask() == {"dH": 2.5}
    assert child._process.pid == first
    os.kill(first, signal.SIGKILL)
    assert ask() == {"dH": 2.5}
    assert child._process.pid != first
    child.end()


def test_a_process_that_only_waits_is_ended_by_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(path := tmp_path / "lf.h5")
    monkeypatch.setattr(Limits, "patience", 1.0)
    with pytest.raises(InputError, match=r"lf\.h5: takes more than 4 seconds"):
        call("hdf5_file.describe", path, datasets=["LF"], attributes=[])


def test_threads_share_a_child(tmp_path: Path) -> None:
    paths = [hdf5(tmp_path / f"{k}.h5", dH=float(k)) for k in range(4)]
    wrong: list[Any] = []

    def ask(k: int) -> None:
        for _ in range(20):
            facts = call("hdf5_file.describe", paths[k], datasets=["LF"], attributes=["dH"]).facts
            wrong.extend([facts] if facts["attributes"] != {"dH": float(k)} else [])

    threads = [threading.Thread(target=ask, args=[k]) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_nothing_is_imported_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = hdf5(tmp_path / "lf.h5")
    (tmp_path / "h5py.py").write_text("raise SystemExit('imported')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    child = Child()
    found = child.call("hdf5_file.describe", Path(path.name), {"datasets": ["LF"], "attributes": []}, Limits(), 0)
    assert found.facts["datasets"]["LF"]["shape"] == [3, 3, 16, 16]
    child.end()
