"""Pictures and films as files: what a suffix stands for, and the bytes of the file."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.extras import install_extra

Picture = NDArray[np.float32]  # (height, width) or (height, width, 3); white is 1
PICTURES = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}
FILMS = (".mp4", ".gif")
RATE = 25  # frames per second
QUALITY = {"PNG": {}, "JPEG": {"quality": 95}}


def check_picture_file(path: Path) -> None:
    """Refuse a name that is not one of a picture."""
    if path.suffix.lower() not in PICTURES:
        raise InputError("out", f"{path} does not end in {' or '.join(PICTURES)}", "give the name of a picture")


def check_film_file(path: Path) -> None:
    """Refuse a name that is not one of a film, and a film that cannot be encoded here."""
    suffix = path.suffix.lower()
    if suffix not in FILMS:
        problem = f"{path} does not end in {' or '.join(FILMS)}"
        raise InputError("out", problem, "give the name of a film")
    if suffix == ".mp4":
        try:
            import av  # noqa: F401
        except ImportError:
            problem = f"{path} needs PyAV, which is not installed"
            raise InputError("out", problem, f"{install_extra('video')}, or write a .gif") from None


def encode_picture(picture: Picture, suffix: str) -> bytes:
    """Encode a picture with 8 bits a channel."""
    from PIL import Image

    kind = PICTURES[suffix.lower()]
    buffer = io.BytesIO()
    Image.fromarray(_bytes(picture)).save(buffer, kind, **QUALITY[kind])
    return buffer.getvalue()


def encode_film(pictures: Iterable[Picture], suffix: str) -> bytes:
    """Encode pictures of one size as a film."""
    return _gif(pictures) if suffix.lower() == ".gif" else _mp4(pictures)


def _bytes(picture: Picture) -> NDArray[np.uint8]:
    return np.rint(255 * picture).astype(np.uint8)


def _gif(pictures: Iterable[Picture]) -> bytes:
    from PIL import Image

    first, *others = (Image.fromarray(_bytes(picture)).quantize() for picture in pictures)
    buffer = io.BytesIO()
    first.save(buffer, "GIF", save_all=True, append_images=others, duration=round(1000 / RATE), loop=0)
    return buffer.getvalue()


def _mp4(pictures: Iterable[Picture]) -> bytes:
    """Encode H.264, whose frames have even sides: the last row or column is repeated if need be."""
    import av

    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=RATE, options={"crf": "18"})
        stream.pix_fmt = "yuv420p"
        for picture in pictures:
            image = _bytes(picture)
            rgb = np.repeat(image[..., None], 3, axis=2) if image.ndim == 2 else image
            rgb = np.pad(rgb, [(0, rgb.shape[0] % 2), (0, rgb.shape[1] % 2), (0, 0)], mode="edge")
            if not stream.codec_context.is_open:
                stream.height, stream.width = rgb.shape[:2]
            for packet in stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    return buffer.getvalue()
