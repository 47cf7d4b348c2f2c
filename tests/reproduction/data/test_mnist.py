"""MNIST in IDX files, compared with a reading of their bytes at fixed places."""

import gzip
import hashlib
import shutil

import numpy as np
import pytest

from reproduction.data import DataNotFound, load_mnist, mnist

IMAGES, LABELS = "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"
MIRROR = "https://ossci-datasets.s3.amazonaws.com/mnist/"


def unpacked(path):
    return gzip.decompress(path.read_bytes())


def test_pixels_and_digits(small):
    data = load_mnist(small)
    pixels = np.frombuffer(unpacked(small / IMAGES), np.uint8, offset=16).reshape(-1, 784)
    np.testing.assert_array_equal(np.round(255 * data.images), pixels)
    np.testing.assert_array_equal(data.digits, np.frombuffer(unpacked(small / LABELS), np.uint8, offset=8))
    md5 = hashlib.md5(unpacked(small / IMAGES)).hexdigest()
    assert f"{IMAGES} (not the original: md5 {md5})" in data.source


def test_a_download_has_to_be_the_original(small, web, cache, monkeypatch):
    for name in (IMAGES, LABELS):
        web[MIRROR + name] = (small / name).read_bytes()
    with pytest.raises(DataNotFound, match="not the original"):
        load_mnist()
    assert list(cache.iterdir()) == []
    for name in (IMAGES, LABELS):
        monkeypatch.setitem(
            mnist._MD5, name.removesuffix(".gz"), hashlib.md5(unpacked(small / name)).hexdigest()
        )
    assert load_mnist().source == f"{IMAGES}; {LABELS}"


def test_parts(small):
    with pytest.raises(DataNotFound, match=r"train-images-idx3-ubyte.gz .* \(no connection\)"):
        load_mnist(small, part="train")
    with pytest.raises(ValueError, match="part='all': allowed are 'test' and 'train'"):
        load_mnist(small, part="all")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:9], "not an IDX file of bytes in 3 dimensions"),
        (lambda data: data[:-1], "but its header says"),
        (lambda data: data[:4] + b"\0\0\0\1" + data[8:16] + data[16 : 16 + 784], "600 labels"),
    ],
    ids=["header-cut", "cut", "one-image"],
)
def test_broken_files(change, message, small, tmp_path):
    shutil.copy(small / LABELS, tmp_path)
    (tmp_path / IMAGES).write_bytes(gzip.compress(change(unpacked(small / IMAGES))))
    with pytest.raises(ValueError, match=message):
        load_mnist(tmp_path)
