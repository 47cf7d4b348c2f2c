"""Array libraries other than NumPy, and a device that is not the host."""

import array_api_strict
import numpy as np
import pytest
from tests.libraries import LIBRARIES as SHARED

from superfactor._arrays import to_numpy


def elsewhere(x):
    """An array that raises when combined with arrays of another device, as on a GPU."""
    return array_api_strict.asarray(x, device=array_api_strict.Device("device1"))


LIBRARIES = [pytest.param(elsewhere, id="another device"), *SHARED]
every_library = pytest.mark.parametrize("convert", LIBRARIES)


def plain(x):
    """Convert numbers and arrays of any library to NumPy."""
    return np.asarray(x) if isinstance(x, float) else to_numpy(x)
