"""Everything that ever broke something, made again by code: each is to be refused, or read as if it were whole.

The cases of this format whose numbers are below that of the samples are these files as they are.  All other cases
mutate them.
"""

from __future__ import annotations

import io
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import tifffile

from fuzz import repairs
from fuzz.sample import Sample, in_memory, written
from fuzz.samples import results, rigs, videos
from fuzz.samples.images import GREY, pixels
from gradcon.io import pfm
from gradcon.io.images.png import SIGNATURE

DEEP = 5000
SIDE = 16_000  # pixels of a bomb; the formats' own limits allow it


def corpus() -> list[Sample]:
    """Return small files, one for each defect."""
    return [
        _zarr({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}, _false_blosc_chunk()),
        _zarr({"id": "nothing"}, b"\0"),
        Sample({"lf.h5": _endless_heap()}, "scene", "lf.h5"),
        Sample({"lf.h5": _light_field(focal=2e-314)}, "scene", "lf.h5"),
        _zarr({"id": "zlib", "level": 1}, b"\0", width=10**400),
        _replaced(rigs.rig()[1], "rig.toml", b"[0, 10.5, 3.5]", b"[0, 1e308, 3.5]"),
        _replaced(rigs.rig()[1], "rig.toml", b"[0, 10.5, 3.5]", b"[1e308, 10.5, 3.5]"),
        _replaced(rigs.rig()[2], "rig.toml", b"[0.02, -0.01, 0, 0]", b"[0.02, -0.01, 0, 1e308]"),
        Sample({**rigs.hci()[0].files, "gt_disp_lowres.pfm": _signalling_truth()}, "scene"),
        *_changed(results.result()[0], {"name": "NaN"}),
        _pair(_two_widths(), "tif"),
        _pair(in_memory(lambda file: tifffile.imwrite(file, np.full(GREY, 3e38, np.float32))), "tif"),
        Sample({"lf.npz": _beyond_unicode()}, "scene", "lf.npz"),
        Sample({"lf.npy": _python_2()}, "scene", "lf.npy"),
        Sample({"lf.npy": _python_2().replace(b"}  ", b"}\n^")}, "scene", "lf.npy"),
        Sample({"lf.npy": _python_2().replace(b"<u", b"\\d")}, "scene", "lf.npy"),
        Sample({"cam_0_0.mp4": b"ffconcat version 1.0\nfile cam_0_1.mkv\n", **_two_videos()}, "refused"),
        *_changed(results.batch_list()[0], {"scenes": {"../escaped": "/tmp/one"}}),
        *_changed(results.batch_list()[0], {"scenes": {"one": ["/tmp/one"]}}),
        *_changed(results.batch_list()[0], {"scenes": {"one": "x" * 300}}),
        *_changed(results.batch_list()[0], {"parameters": {"\x1b[31m": 1}}),
        *_changed(results.video_list()[0], {"frames": [{"frame": 0, "folder": "frame_0000", "content": []}]}),
        *_changed(results.result()[0], {"source": {"name": "\x1b[31m", "width": 1e400, "height": "x"}}),
        *_changed(results.judged()[0], {"source": _source(results.judged()[0]) | {"targets": []}}),
        *_places("M", [[1, 0, 0], [0, 0, 0], [0, 0, 1]]),
        *_places("M", [[1, 0, 0], [1e300, 1, 0], [0, 0, 1]]),
        *_places("m", [10**400, 0, 0]),
        _replaced(rigs.rig()[1], "rig.toml", b"t = [-0.1, 0, 0]", b"t = [1e30, 0, 0]"),
        _replaced(rigs.rig()[1], "rig.toml", b"K = [[10.5,", b"K = [[1e-15,"),
        *(_nested(make()[0]) for make in (results.batch_list, results.video_list, results.result)),
        _replaced(rigs.colmap()[0], "sparse/cameras.txt", b"PINHOLE", b"PIN\x1b[31mHOLE"),
        _replaced(rigs.colmap()[0], "sparse/points3D.txt", b"0.5 0 5", b"0.5 0 1e-320"),
        _replaced(rigs.rig()[1], "rig.toml", b"t = [-0.1, 0, 0]", b"t = [1e308, 0, 0]"),
        _replaced(rigs.rig()[1], "rig.toml", b"a.png", b"9" * 5000),
        _replaced(rigs.rig()[1], "rig.toml", b"R = [[1", b"R = [[1e200"),
        _replaced(rigs.rig()[1], "rig.toml", b"K = [[", b"K = [[1e308"),
        _replaced(rigs.hci()[0], "parameters.cfg", b"baseline_mm = ", b"baseline_mm = " + b"9" * 5000),
        *_places("M", [[1, 0, 0], [0, 1, 0], [1, 0, 1]], view=0),
        *_places("M", [[1, 0, 0], [0, 1, 0], [0, 1, 1]], view=2),
        *_changed(results.batch_list()[0], {"scenes": {"x" * 300: "/tmp/one"}}),
    ]


def bombs() -> list[Sample]:
    """Return small files that claim gigabytes."""
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", _packed_zeros(SIDE * (SIDE + 1))), (b"IEND", b"")
    parts = [struct.pack(">I", len(data)) + name + data + bytes(4) for name, data in chunks]
    view = _packed_zeros(SIDE * SIDE)
    array = {"zarr_format": 2, "shape": [3, SIDE, SIDE], "chunks": [1, SIDE, SIDE], "dtype": "|u1", "order": "C"}
    array |= {"compressor": {"id": "zlib", "level": 9}, "filters": None, "fill_value": 0}
    store = {".zarray": json.dumps(array).encode(), **{f"{k}.0.0": view for k in range(3)}}
    return [
        _pair(repairs.png(SIGNATURE + b"".join(parts)), "png"),
        Sample({f"lf.zarr/{name}": content for name, content in store.items()}, "scene", "lf.zarr"),
        Sample({"lf.h5": _packed_hdf5(view)}, "scene", "lf.h5"),
    ]


def _false_blosc_chunk() -> bytes:
    return bytes([2, 1, 0x94, 1]) + struct.pack("<4I", 256, 256, 0x7F000000, 0x70000000) + bytes(100)


def _zarr(compressor: dict[str, Any], chunk: bytes, width: int = 16) -> Sample:
    array = {"zarr_format": 2, "shape": [3, 3, 16, width], "chunks": [1, 1, 16, 16], "dtype": "|u1", "order": "C"}
    array |= {"compressor": compressor, "filters": None, "fill_value": 0}
    chunks = {f"lf.zarr/{row}.{column}.0.0": chunk for row in range(3) for column in range(3)}
    return Sample({"lf.zarr/.zarray": json.dumps(array).encode(), **chunks}, "scene", "lf.zarr")


def _light_field(focal: float = 40.0) -> bytes:
    """Return an HDF5 light field with the attributes of a calibration."""
    import h5py

    def write(folder: Path) -> None:
        with h5py.File(folder / "lf.h5", "w") as root:
            root["LF"] = pixels((3, 3, 8, 8, 3))
            root["GT_DEPTH"] = np.ones((3, 3, 8, 8), np.float32)
            root.attrs.update({"dH": 0.3, "focalLength": focal, "shift": 0.25, "unit": "mm"})

    return written(write)["lf.h5"]


def _signalling_truth() -> bytes:
    """Return a ground truth with a NaN that signals, which NumPy warns of when it is converted."""
    return pfm.encode(np.ones(GREY, np.float32))[:-4] + b"\x00\x00\xa0\x7f"


def _endless_heap() -> bytes:
    """Return an HDF5 file whose global heap holds an object of size 0, so that libhdf5 never gets past it."""
    data = bytearray(_light_field())
    size = data.index(b"GCOL") + 16 + 8  # behind the heap's header, and the object's number and count
    data[size : size + 8] = bytes(8)
    return bytes(data)


def _two_widths() -> bytes:
    data = bytearray(in_memory(lambda file: tifffile.imwrite(file, pixels(GREY), metadata=None)))
    width = data.index(struct.pack("<HHI", 256, 4, 1))  # the tag ImageWidth, one integer of 32 bits
    data[width : width + 12] = struct.pack("<HHIHH", 256, 3, 2, 8, 8)  # two integers of 16 bits
    return bytes(data)


def _beyond_unicode() -> bytes:
    name = np.array("ab")
    content = in_memory(lambda file: np.savez(file, views=pixels((3, 3, 8, 8)), name=name))
    return repairs.zip_(content.replace(name.tobytes(), struct.pack("<2I", 0x110000, 0x7FFFFFFF)))


def _python_2() -> bytes:
    content = in_memory(lambda file: np.save(file, pixels((3, 3, 8, 8))))
    return content.replace(b"(3, 3, 8, 8), }  ", b"(3L, 3, 8, 8), } ")


def _two_videos() -> dict[str, bytes]:
    content = next(iter(videos.video()[2].files.values()))
    return {"cam_0_1.mkv": content}


def _changed(sample: Sample, fields: dict[str, Any]) -> list[Sample]:
    """Return the sample with some fields of its JSON replaced."""
    (name,) = sample.mutated
    content = json.dumps(json.loads(sample.files[name]) | fields).encode()
    return [Sample({**sample.files, name: content}, sample.reader, sample.opened, sample.mutated)]


def _source(sample: Sample) -> Any:
    return json.loads(sample.files[sample.mutated[0]])["source"]


def _places(field: str, value: Any, view: int = 1) -> list[Sample]:
    """Return the maps of every view, one of which stands at an impossible place."""
    sample = results.every_view()[0]
    rows = json.loads(sample.files["views/views.json"])["views"]
    rows[view][field] = value
    return _changed(sample, {"views": rows})


def _nested(sample: Sample) -> Sample:
    (name,) = sample.mutated
    files = {**sample.files, name: b"[" * DEEP + b"]" * DEEP}
    return Sample(files, sample.reader, sample.opened, sample.mutated)


def _replaced(sample: Sample, name: str, old: bytes, new: bytes) -> Sample:
    """Return the sample with a part of one of its texts replaced."""
    assert old in sample.files[name]
    files = {**sample.files, name: sample.files[name].replace(old, new, 1)}
    return Sample(files, sample.reader, sample.opened, (name,))


def _pair(image: bytes, suffix: str) -> Sample:
    names = [f"v_0_{k}.{suffix}" for k in (0, 1)]
    return Sample(dict.fromkeys(names, image), "scene", mutated=(names[0],))


def _packed_zeros(count: int) -> bytes:
    """Return the zlib stream of so many zeros, without compressing all of them."""
    million = 2**20
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(million)) + packer.flush(zlib.Z_FULL_FLUSH)
    rest = packer.compress(bytes(count % million)) + packer.flush()
    checksum = struct.pack(">HH", count % 65521, 1)
    return b"\x78\xda" + block * (count // million) + rest + checksum


def _packed_hdf5(view: bytes) -> bytes:
    import h5py

    buffer, one = io.BytesIO(), (1, 1, SIDE, SIDE)
    with h5py.File(buffer, "w") as root:
        views = root.create_dataset("LF", (1, 3, SIDE, SIDE), np.uint8, chunks=one, compression="gzip")
        for k in range(3):
            views.id.write_direct_chunk((0, k, 0, 0), view)
    return buffer.getvalue()
