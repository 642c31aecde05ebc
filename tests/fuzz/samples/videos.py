"""Light-field videos of two views, in each container."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fuzz.sample import Sample, written
from fuzz.samples.images import pixels

FRAMES, SIDE = 2, 16
KINDS = (
    ("mp4", "libx264", "yuv420p"),
    ("mp4", "mpeg4", "yuv420p"),
    ("mkv", "ffv1", "gray"),
    ("mkv", "libx264", "yuv420p"),
    ("avi", "mjpeg", "yuvj420p"),
    ("avi", "rawvideo", "bgr24"),
    ("y4m", "wrapped_avframe", "yuv420p"),
    ("webm", "libvpx", "yuv420p"),
)


def video() -> list[Sample]:
    samples = []
    for suffix, codec, colours in KINDS:
        (content,) = written(lambda folder, a=suffix, b=codec, c=colours: _encode(folder / f"made.{a}", b, c)).values()
        names = [f"cam_0_{k}.{suffix}" for k in (0, 1)]
        samples.append(Sample(dict.fromkeys(names, content), "frames", mutated=(names[0],)))
    return samples


def _encode(path: Path, codec: str, colours: str) -> None:
    import av

    frames = np.kron(pixels((FRAMES, SIDE // 8, SIDE // 8, 3)), np.ones((1, 8, 8, 1), np.uint8))
    with av.open(str(path), "w", options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream(codec, rate=25)
        stream.width = stream.height = SIDE
        stream.pix_fmt = colours
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode(None))
