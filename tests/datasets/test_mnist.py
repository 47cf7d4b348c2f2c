"""MNIST in IDX files, compared with a reading of their bytes at fixed places."""

import gzip
import hashlib
import shutil

import numpy as np
import pytest

from superfactor.datasets import DataNotFound, load_mnist, mnist

IMAGES, LABELS = "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"
MIRROR = "https://ossci-datasets.s3.amazonaws.com/mnist/"


@pytest.fixture
def copy(small, tmp_path):
    for name in (IMAGES, LABELS):
        shutil.copy(small / name, tmp_path)
    return tmp_path


def unpacked(path):
    return gzip.decompress(path.read_bytes())


def test_pixels_and_digits(small):
    data = load_mnist(small)
    pixels = np.frombuffer(unpacked(small / IMAGES), np.uint8, offset=16).reshape(-1, 784)
    np.testing.assert_array_equal(np.round(255 * data.images), pixels)
    np.testing.assert_array_equal(data.digits, np.frombuffer(unpacked(small / LABELS), np.uint8, offset=8))
    assert data.images.dtype == np.float64
    assert 0 <= data.images.min() < data.images.max() <= 1
    assert np.all(np.bincount(data.digits) >= 60)


def test_files_without_gz(small, tmp_path):
    for name in (IMAGES, LABELS):
        (tmp_path / name.removesuffix(".gz")).write_bytes(unpacked(small / name))
    plain = load_mnist(tmp_path)
    np.testing.assert_array_equal(plain.images, load_mnist(small).images)
    assert plain.source.startswith("t10k-images-idx3-ubyte (")


def test_a_file_of_the_users_own_is_used_and_told_from_the_original(small):
    md5 = hashlib.md5(unpacked(small / IMAGES)).hexdigest()
    assert f"{IMAGES} (not the original: md5 {md5})" in load_mnist(small).source


def test_a_download_has_to_be_the_original(small, web, cache, monkeypatch):
    for name in (IMAGES, LABELS):
        web[MIRROR + name] = (small / name).read_bytes()
    with pytest.raises(DataNotFound, match="not the original"):
        load_mnist()
    assert list(cache.iterdir()) == []
    for name in (IMAGES, LABELS):
        md5 = hashlib.md5(unpacked(small / name)).hexdigest()
        monkeypatch.setitem(mnist._MD5, name.removesuffix(".gz"), md5)
    downloaded = load_mnist()
    assert downloaded.source == f"{IMAGES}; {LABELS}"
    web.clear()  # from now on the cache has to do
    np.testing.assert_array_equal(load_mnist().images, downloaded.images)


def test_offline(small):
    with pytest.raises(DataNotFound, match=r"train-images-idx3-ubyte.gz .* \(no connection\)"):
        load_mnist(small, part="train")


def test_parts(small):
    with pytest.raises(ValueError, match="part='all': allowed are 'test' and 'train'"):
        load_mnist(small, part="all")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"PNG" + data[3:], "not an IDX file of bytes in 3 dimensions"),
        (lambda data: data[:9], "not an IDX file of bytes in 3 dimensions"),
        (lambda data: data[:-1], "but its header says"),
        (lambda data: data[:4] + b"\0\0\0\1" + data[8:16] + data[16 : 16 + 784], "600 labels"),
    ],
    ids=["another-format", "header-cut", "cut", "one-image"],
)
def test_broken_files(change, message, copy):
    (copy / IMAGES).write_bytes(gzip.compress(change(unpacked(copy / IMAGES))))
    with pytest.raises(ValueError, match=message):
        load_mnist(copy)


def test_the_real_test_set(real):
    data = load_mnist(real)
    assert "not the original" not in data.source
    counts = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert np.bincount(data.digits).tolist() == counts
