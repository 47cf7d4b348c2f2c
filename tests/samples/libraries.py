"""Array libraries besides NumPy, and a device that is not the host, for those who compute on any of them."""

import array_api_strict
import numpy as np
import pytest
from tests.libraries import LIBRARIES as SHARED

from superfactor._arrays import to_numpy


def elsewhere(x):
    """An array that refuses to meet those of another device: a GPU, as far as anybody can tell."""
    return array_api_strict.asarray(x, device=array_api_strict.Device("device1"))


LIBRARIES = [pytest.param(elsewhere, id="another device"), *SHARED]
every_library = pytest.mark.parametrize("convert", LIBRARIES)


def plain(x):
    """Numbers and arrays of any library as NumPy."""
    return np.asarray(x) if isinstance(x, float) else to_numpy(x)
