"""Losses on array-api-strict and PyTorch; float32 stays float32."""

import numpy as np
import pytest
from tests.libraries import LIBRARIES
from tests.losses.examples import all_losses, balance, draw

CASES = [pytest.param(loss, kappa, id=name) for name, loss, kappa in all_losses() if kappa != 2]


def results(loss, kappa, convert, dtype):
    """Every result of a loss for each sample, by name."""
    a, Y = draw(loss, kappa, 40, seed=11)
    v = np.random.default_rng(12).standard_normal(a.shape)
    weights = np.random.default_rng(13).uniform(0.5, 1.5, len(a))
    several = np.stack([a, -a, 0.5 * a])  # three points at once
    a, Y, v, weights, several = (convert(array.astype(dtype)) for array in (a, Y, v, weights, several))
    value, residual = loss.value_and_residual(a, Y)
    values, residuals = loss.value_and_residual(several, Y)
    found = {
        "value": value,
        "residual": residual,
        "hessian": loss.hessian(a, Y),
        "hessian_action": loss.hessian_action(a, Y, v),
        "values": values,
        "residuals": residuals,
        "hessians": loss.hessian(several, Y),
        "diagonals": loss.curvature(several, Y).diagonal,
        "outers": loss.curvature(several, Y).outer,
        "hessian_actions": loss.hessian_action(several, Y, v),
    }
    if hasattr(loss, "probabilities"):
        found["probabilities"] = loss.probabilities(a)
    if loss.has_conjugate:
        found["balance"] = balance(loss, residual, Y, weights)
        found["conjugate"] = loss.conjugate(found["balance"], Y)
    return found


@pytest.mark.parametrize("convert", [np.asarray, *LIBRARIES])
@pytest.mark.parametrize(("loss", "kappa"), CASES)
def test_libraries_agree_and_float32_stays_float32(loss, kappa, convert):
    expected = results(loss, kappa, np.asarray, np.float64)
    for dtype, rtol, atol in ((np.float64, 1e-11, 1e-12), (np.float32, 2e-4, 2e-5)):
        like = convert(np.zeros(1, dtype=dtype))
        for name, array in results(loss, kappa, convert, dtype).items():
            assert type(array) is type(like) and array.dtype == like.dtype, name
            np.testing.assert_allclose(np.asarray(array), expected[name], rtol=rtol, atol=atol, err_msg=name)
