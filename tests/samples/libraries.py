"""Array libraries besides NumPy, and a device that is not the host, for those who compute on any of them."""

import array_api_strict
import numpy as np
import pytest

from superfactor._arrays import to_numpy


def elsewhere(x):
    """An array that refuses to meet those of another device: a GPU, as far as anybody can tell."""
    return array_api_strict.asarray(x, device=array_api_strict.Device("device1"))


def _libraries():
    yield pytest.param(array_api_strict.asarray, id="array-api-strict")
    yield pytest.param(elsewhere, id="another device")
    try:
        import torch
    except ImportError:
        skip = pytest.mark.skip(reason="PyTorch is not installed")
        yield pytest.param(None, id="torch", marks=skip)
    else:
        yield pytest.param(torch.asarray, id="torch")


LIBRARIES = list(_libraries())
every_library = pytest.mark.parametrize("convert", LIBRARIES)


def plain(x):
    """Numbers and arrays of any library as NumPy."""
    return np.asarray(x) if isinstance(x, float) else to_numpy(x)
