"""Array libraries that run the same lines as NumPy, as parameters of tests: what makes their arrays."""

import array_api_strict
import pytest


def _libraries():
    yield pytest.param(array_api_strict.asarray, id="array-api-strict")
    try:
        import torch
    except ImportError:
        skip = pytest.mark.skip(reason="PyTorch is not installed")
        yield pytest.param(None, id="torch", marks=skip)
    else:
        yield pytest.param(torch.asarray, id="torch")


LIBRARIES = list(_libraries())
