"""Packed files that would grow beyond all measure are refused before they are unpacked."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from gradcon.errors import InputError
from gradcon.io.maps import read_map
from gradcon.report.weights import read_weights


def packed(path: Path, name: str, how: int) -> Path:
    """Four megabytes of zeros, which LZMA packs to less than one, and deflate to more than four, thousand bytes."""
    np.save(zeros := io.BytesIO(), np.zeros((1024, 1024), np.float32))
    with zipfile.ZipFile(path, "w", how) as file:
        file.writestr(f"{name}.npy", zeros.getvalue())
    return path


def test_maps(tmp_path: Path) -> None:
    assert read_map(packed(tmp_path / "a.npz", "disparity", zipfile.ZIP_DEFLATED), "disparity").values.any() == 0
    path = packed(tmp_path / "b.npz", "disparity", zipfile.ZIP_LZMA)
    with pytest.raises(InputError, match=rf"^{path}: its disparity says it is 4,194,\d+ bytes, more than can be meant"):
        read_map(path, "disparity")


@pytest.mark.parametrize(("how", "says"), [(zipfile.ZIP_DEFLATED, "holds no codes"), (zipfile.ZIP_LZMA, "solves says")])
def test_weights(tmp_path: Path, how: int, says: str) -> None:
    path = packed(tmp_path / "weights.npz", "solves", how)
    with pytest.raises(InputError, match=rf"^{path}: .*{says}"):
        read_weights(path, targets=2, size=(8, 8), last=3)
