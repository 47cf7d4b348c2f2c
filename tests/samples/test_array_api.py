"""Methods about the loss on array-api-strict, on PyTorch and on another device give the results of NumPy."""

import numpy as np
import pytest
from tests.problems import loss_named
from tests.samples.cutting import cut
from tests.samples.libraries import every_library, plain

from superfactor._arrays import device
from superfactor.problem import state
from superfactor.samples import Block, Design

N, P, K = 23, 5, 3
LOSSES = {"logistic": 3, "probit": 1}


def problem_of(convert, loss, dtype=np.float64):
    rng, kappa = np.random.default_rng(0), LOSSES[loss]
    X = rng.standard_normal((N, P)).astype(dtype)
    Y = np.eye(kappa + 1)[np.arange(N) % (kappa + 1)][:, 1:]
    stated = {"covariates": rng.standard_normal((N, 2)), "sample_weight": rng.uniform(0.5, 2, N)}
    problem = state("filter", convert(X), convert(Y), loss_named(loss, kappa), xi=0.7, lam=0.3, **stated)
    return cut(problem, 2)


def results(convert, loss, dtype=np.float64):
    """Everything of one design, of its rows in single precision and of some of them, by name."""
    problem = problem_of(convert, loss, dtype)
    samples, rng, kappa = problem.samples, np.random.default_rng(1), LOSSES[loss]
    tall, offset = (
        samples.keep(Block.given, convert(rng.standard_normal((N, k)).astype(dtype))) for k in (K, kappa)
    )
    one, several, directions = (rng.standard_normal((*points, K + 3, kappa)) for points in ((), (4,), (4,)))
    design, found = Design(tall.place, offset=offset.place), {}
    designs, kept = {"whole": design}, []
    for name, share, coarse in (("coarse", 1.0, True), ("few", 0.5, False), ("both", 0.5, True)):
        made, _ = samples.make(Block.some_of, design, share, coarse)
        kept.append(made)
        rows, more = (each.place for each in made)
        designs[name] = Design(rows, True, more, share, coarse)
        found[f"rows, {name}"] = made[0].array()
        assert not coarse or "float32" in str(found[f"rows, {name}"].dtype)
    for name, each in designs.items():
        for points, coef in (("one", one), ("several", several)):
            about = f"{points}, {name}"
            value, gradient = samples.sum(Block.evaluate, each, coef)
            found |= {f"value, {about}": value, f"gradient, {about}": gradient}
            (bent,), (total, _) = samples.make(Block.bent, each, coef)
            found |= {f"bent, {about}": bent.array(), f"total, {about}": total}
            direction = directions if points == "several" else one
            product = samples.sum(Block.curvature_product, each, bent.place, direction)
            found[f"product, {about}"] = product
        found[f"gram, {name}"] = samples.sum(Block.design_gram, each)
        found[f"curvature, {name}"] = samples.sum(Block.curvature, each, one)
    return found


@every_library
@pytest.mark.parametrize(
    ("loss", "dtype"), [("logistic", np.float64), ("logistic", np.float32), ("probit", np.float64)]
)
def test_results_are_those_of_numpy(convert, loss, dtype):
    """Data in single precision too, with the solvers' coefficients in double precision."""
    expected, like = results(np.asarray, loss), convert(np.ones(1))
    for name, array in results(convert, loss, dtype).items():
        stays = name.startswith(("rows", "bent"))  # with the samples; sums come back
        assert isinstance(array, type(like) if stays else np.ndarray | np.float64), name
        assert not stays or device(array) == device(like), name
        single = dtype == np.float32 or "coarse" in name or "both" in name
        rows = plain(array)
        assert rows.shape == expected[name].shape, name
        size = np.abs(expected[name]).max()
        close = 1e-5 if single else 1e-12
        np.testing.assert_allclose(rows, expected[name], atol=close * size, err_msg=name)
