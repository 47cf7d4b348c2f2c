"""Handwritten digits: MNIST, in the IDX files it was published in.

Checksums are those of the unpacked files, since mirrors pack them differently.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reproduction.data import files

__all__ = ["Images", "load_mnist"]

_ADDRESS = "https://ossci-datasets.s3.amazonaws.com/mnist/"
_FILES = {"test": "t10k", "train": "train"}
_MD5 = {
    "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
    "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
    "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
    "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
}


@dataclass(frozen=True)
class Images:
    """Images of handwritten digits.

    Attributes
    ----------
    images : array of shape (n, 784) of float64
        In [0, 1], the rows of a 28 × 28 image one after the other; 1 is ink.
    digits : array of shape (n,) of int
        0 to 9.
    source : str
        One line saying which files these are.
    """

    images: NDArray[np.float64]
    digits: NDArray[np.int64]
    source: str


def load_mnist(data_dir: str | Path | None = None, *, part: str = "test") -> Images:
    """MNIST's test set (10,000 images) or training set (60,000).

    Parameters
    ----------
    data_dir : str or Path, optional
        Folder with ``t10k-images-idx3-ubyte.gz`` and ``t10k-labels-idx1-ubyte.gz`` (``train-…`` for the
        training set), or the same without ``.gz``. Not given or not there: the folder named by the
        environment variable SUPERFACTOR_DATA_DIR, the user's cache, a download.
    part : {"test", "train"}, default="test"
        Which of the two.

    Returns
    -------
    data : Images
        Images and the digits they show.
    """
    if part not in _FILES:
        raise ValueError(f"part={part!r}: allowed are 'test' and 'train'")
    images, source = _read(f"{_FILES[part]}-images-idx3-ubyte", data_dir, 3)
    digits, source_of_digits = _read(f"{_FILES[part]}-labels-idx1-ubyte", data_dir, 1)
    if images.shape != (len(digits), 28, 28):
        raise ValueError(
            f"MNIST: {len(digits)} labels, but images of shape {images.shape}; download both again"
        )
    return Images(
        images=images.reshape(len(images), 784) / 255.0,
        digits=digits.astype(np.int64),
        source=f"{source}; {source_of_digits}",
    )


def _read(name: str, data_dir: str | Path | None, n_dimensions: int) -> tuple[NDArray[np.uint8], str]:
    path = files.find([f"{name}.gz", name], data_dir)
    if path is None:
        path = files.download(f"{_ADDRESS}{name}.gz", lambda data: _wrong(data, name), "any copy of MNIST")
    data = files.contents(path)
    wrong = _wrong(data, name)
    return _array(path, data, n_dimensions), path.name + ("" if wrong is None else f" ({wrong})")


def _wrong(data: bytes, name: str) -> str | None:
    md5 = files.checksum(data, "md5")
    return None if md5 == _MD5[name] else f"not the original: md5 {md5}"


def _array(path: Path, data: bytes, n_dimensions: int) -> NDArray[np.uint8]:
    """Bytes in IDX format: two zeros, type 8, number of dimensions, each size, then the values."""
    size = 4 + 4 * n_dimensions
    if data[:4] != bytes([0, 0, 8, n_dimensions]) or len(data) < size:
        raise ValueError(f"{path}: not an IDX file of bytes in {n_dimensions} dimensions; download it again")
    shape = struct.unpack(f">{n_dimensions}I", data[4:size])
    values = np.frombuffer(data, np.uint8, offset=size)
    if values.size != np.prod(shape):
        raise ValueError(f"{path}: {values.size} values, but its header says {shape}; download it again")
    return values.reshape(shape)
