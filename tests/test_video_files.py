"""Video files read with PyAV: the number of frames, their pixels, and the errors for damaged files."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from gradcon import InputError, open_frames
from gradcon.io.formats.video import VideoFile
from gradcon.isolated.video_file import Decoder, count

Images = list[np.ndarray[Any, Any]]


def encode(path: Path, frames: Images, codec: str = "ffv1", pixels: str = "bgr0", **options: str) -> Path:
    kinds = {(2, 1): "gray", (3, 1): "rgb24", (2, 2): "gray16le", (3, 2): "rgb48le"}
    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:  # an MP4's list before its frames
        stream = container.add_stream(codec, rate=25, options=options)
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = pixels
        for frame in frames:
            made = av.VideoFrame.from_ndarray(frame, format=kinds[frame.ndim, frame.itemsize])
            container.mux(stream.encode(made))
        container.mux(stream.encode(None))
    return path


def noise(count: int, shape: tuple[int, ...] = (32, 48, 3), dtype: Any = np.uint8) -> Images:
    """Frames that differ, coarse enough for any codec."""
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, np.iinfo(dtype).max, (count, shape[0] // 8, shape[1] // 8, *shape[2:]), dtype=dtype)
    return list(np.repeat(np.repeat(coarse, 8, 1), 8, 2))


@pytest.mark.parametrize(
    ("name", "codec", "pixels", "options"),
    [
        ("b.mp4", "libx264", "yuv420p", {"bf": "3", "g": "12"}),
        ("b.mkv", "libx264", "yuv420p", {"bf": "3"}),
        ("b.ts", "libx264", "yuv420p", {"bf": "3"}),
        ("b.avi", "mpeg4", "yuv420p", {"bf": "2"}),
        ("b.mov", "mpeg4", "yuv420p", {}),
        ("b.webm", "libvpx", "yuv420p", {"auto-alt-ref": "1", "lag-in-frames": "16"}),
        ("b.y4m", "wrapped_avframe", "yuv420p", {}),
    ],
)
def test_frames_are_counted_and_read_in_order(tmp_path, name, codec, pixels, options):
    path = encode(tmp_path / name, noise(29), codec, pixels, **options)
    with av.open(str(path)) as container:
        expected = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    video = VideoFile(path)
    assert video.frames == len(expected) == 29
    for frame in (0, 1, 2, 20, 28, 5, 5, 0):
        np.testing.assert_array_equal(video.read(frame), expected[frame])


def test_a_lossless_video_with_b_frames_is_what_was_encoded(tmp_path):
    frames = noise(9)
    video = VideoFile(encode(tmp_path / "a.mp4", frames, "libx264rgb", "bgr24", crf="0", bf="2"))
    for k, frame in enumerate(frames):
        np.testing.assert_array_equal(video.read(k), frame)


def test_frames_outside_the_edit_list_are_not_counted(tmp_path):
    """A clip cut out of a longer one without encoding it again begins with frames that are not shown."""
    source = encode(tmp_path / "long.mp4", noise(20), "libx264", "yuv420p", bf="2", g="20")
    with av.open(str(source)) as whole, av.open(str(tmp_path / "cut.mp4"), "w") as cut:
        stream = cut.add_stream_from_template(whole.streams.video[0])
        for packet in whole.demux(video=0):
            if packet.dts is not None:
                packet.pts -= 5 * packet.duration
                packet.dts -= 5 * packet.duration
                packet.stream = stream
                cut.mux(packet)
    with av.open(str(tmp_path / "cut.mp4")) as container:
        decoded = sum(1 for _ in container.decode(video=0))
    assert VideoFile(tmp_path / "cut.mp4").frames == decoded


@pytest.mark.parametrize(
    ("pixels", "shape", "dtype", "tolerance"),
    [
        ("gray", (32, 48), np.uint8, 0),
        ("gray16le", (32, 48), np.uint16, 0),
        ("gray10le", (32, 48), np.uint16, 64),  # of 65535: one step of ten bits
        ("gbrp16le", (32, 48, 3), np.uint16, 0),
        ("gbrp12le", (32, 48, 3), np.uint16, 16),
    ],
)
def test_the_bit_depth_is_kept(tmp_path, pixels, shape, dtype, tolerance):
    frames = noise(2, shape, dtype)
    read = VideoFile(encode(tmp_path / "a.mkv", frames, pixels=pixels)).read(1)
    assert read.shape == shape
    if dtype == np.uint16:  # white is known, so it is 1
        assert read.dtype == np.float32
        read = np.rint(65535 * read)
    assert np.abs(read.astype(int) - frames[1]).max() <= tolerance


def test_the_next_frame_decodes_one_frame_and_no_file_stays_open(tmp_path, monkeypatch):
    path = encode(tmp_path / "a.mkv", noise(6))
    opened, real = [], av.open
    monkeypatch.setattr(av, "open", lambda *a, **k: opened.append(a) or real(*a, **k))

    def is_open() -> bool:
        gc.collect()
        found = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
        return str(path) in [os.readlink(link) for link in found if os.path.islink(link)]

    count(path)
    video = Decoder(path, 6, 32 * 48)  # what a VideoFile uses in its child process
    for frame in range(3):
        video.read(frame)
    assert len(opened) == 2  # once to count, once to read
    if sys.platform == "linux":
        assert is_open()
        video.read(5)
        assert not is_open()
        video.read(1)
        del video
        assert not is_open()


def _no_frames(path: Path) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=44100)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        frame.rate = 44100
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def _damaged(path: Path) -> None:
    content = bytearray(encode(path, noise(8), "libx264", "yuv420p").read_bytes())
    begin = content.index(b"mdat") + 900
    content[begin : begin + 900] = bytes(900)
    path.write_bytes(content)


def _cut(path: Path) -> None:
    content = encode(path, noise(8), "libx264", "yuv420p").read_bytes()
    path.write_bytes(content[: (content.index(b"mdat") + len(content)) // 2])


def _cut_early(path: Path) -> None:
    content = encode(path, noise(8), "libx264", "yuv420p").read_bytes()
    path.write_bytes(content[: content.index(b"moov") + 100])


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.write_bytes(b"no video at all" * 50), "truncated, corrupt or not a video"),
        (_cut_early, "truncated"),
        (_cut, "truncated"),
        (_damaged, "damaged|corrupt"),
        (_no_frames, "no video track"),
    ],
)
def test_a_bad_video_is_named(tmp_path, spoil, said, capfd):
    spoil(path := tmp_path / "a_0_0.mp4")
    encode(tmp_path / "a_0_1.mp4", noise(8), "libx264", "yuv420p")
    with pytest.raises(InputError, match=rf"^{path}(, frame \d)?: .*({said})") as caught:
        list(open_frames(tmp_path))
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""  # nothing of FFmpeg's own
