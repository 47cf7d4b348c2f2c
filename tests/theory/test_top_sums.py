"""Sums of eigenvalues from the known part of the spectrum: three ways, the same sum, never too small."""

import numpy as np
import pytest
from tests.problems import MODELS, example
from tests.solvers.examples import in_blocks
from tests.solvers.restarts import best_of
from tests.theory.test_dual import CASES, explicit_dual, residuals, value_at, weights

from superfactor.options import Options
from superfactor.solvers import newton
from superfactor.subspace import leading_basis
from superfactor.theory import certify
from superfactor.theory.dual import Dual
from superfactor.theory.top_sums import FullSpectrum, KnownSpectrum, RitzSpectrum, spectrum_of

every_model = pytest.mark.parametrize("model", MODELS)
WIDE = Options(compressed_side=2000)
NOT_COMPRESSED = Options(compressed_side=0)
NEITHER = Options(compressed_side=0, exact_side=0)
WAYS = {KnownSpectrum: WIDE, FullSpectrum: NOT_COMPRESSED, RitzSpectrum: NEITHER}


def rough_basis(problem, size=8):
    return leading_basis(problem, size, size, np.random.default_rng(0), 4)


@pytest.mark.parametrize(
    ("shape", "options", "held", "expected"),
    [
        pytest.param((6, 20), WIDE, True, KnownSpectrum, id="wide"),
        pytest.param((20, 6), WIDE, True, FullSpectrum, id="tall"),
        pytest.param((6, 20), NOT_COMPRESSED, True, FullSpectrum, id="wide, not compressed"),
        pytest.param((6, 20), NOT_COMPRESSED, False, RitzSpectrum, id="wide, in blocks"),
        pytest.param((20, 6), NOT_COMPRESSED, False, FullSpectrum, id="tall, in blocks"),
        pytest.param((20, 6), NEITHER, True, RitzSpectrum, id="too large"),
        pytest.param((20, 6), Options(exact_operations=10), True, RitzSpectrum, id="too expensive"),
    ],
)
def test_which_spectrum_is_chosen(shape, options, held, expected):
    problem, _ = example("filter", *shape, 1, options=options)
    problem = problem.compact if held else in_blocks(problem, 3)
    asked = []
    spectrum = spectrum_of(problem, 2, lambda: asked.append(1) or rough_basis(problem))
    assert type(spectrum) is expected
    assert bool(asked) == (expected is RitzSpectrum)  # a basis is made only where it is needed
    assert spectrum.exact == (expected is not RitzSpectrum)


@every_model
@pytest.mark.parametrize(("case", "rank"), [(case, 1 + 2 * (i % 2)) for i, case in enumerate(CASES)])
def test_three_spectra_bound_the_same_problem(model, case, rank):
    """Known and full agree with the explicit dual; Ritz values are weaker or equal, never above."""
    values, floors = {}, {}
    for way, options in WAYS.items():
        problem, P = example(model, 12, 30, lam=0.2, options=options, **CASES[case])
        _, a, E = residuals(problem, 2 * np.random.default_rng(0).standard_normal((12, P.kappa)))
        small = problem.compact
        spectrum = spectrum_of(small, rank, lambda small=small: rough_basis(small))
        assert type(spectrum) is way
        dual = Dual(small, spectrum)
        values[way], floors[way] = value_at(dual, E, weights(problem)), dual.unsupervised
    expected = explicit_dual(P, rank, a, E)
    size = abs(expected) + P.xi * np.sum(P.X**2)
    for exact in (KnownSpectrum, FullSpectrum):
        np.testing.assert_allclose(values[exact], expected, atol=1e-10 * size)
        assert values[exact] <= expected + 1e-14 * size
    tail = np.linalg.svd(P.X * np.sqrt(P.weight), compute_uv=False)[rank:]
    assert values[RitzSpectrum] <= expected + 1e-12 * size
    assert floors[RitzSpectrum] <= P.xi * np.sum(tail**2) + 1e-12 * size
    for exact in (KnownSpectrum, FullSpectrum):
        np.testing.assert_allclose(floors[exact], P.xi * np.sum(tail**2), atol=1e-12 * size)


@every_model
@pytest.mark.parametrize("seed", [0, 5])
def test_every_certificate_is_below_brute_force(model, seed):
    rng = np.random.default_rng(seed)
    loss = ("logistic", "squared", "logistic")[seed % 3]
    given = {
        "loss": loss,
        "kappa": 1 + seed % 3,
        "weighted": seed % 2 == 0,
        "fit_intercept": seed % 4 != 1,
        "xi": 10 ** rng.uniform(-1, 0.5),
        "lam": 0.0 if seed == 5 else 10 ** rng.uniform(-3, 1),
    } | ({"covariates": None} if seed % 2 else {})
    bounds = {}
    for way, options in WAYS.items():
        problem, P = example(model, 8, 20, seed=seed, options=options, **given)
        found = newton.solve(problem, 2, search="off", max_iter=60)
        proof = certify(problem, 2, found)
        assert proof.exact == (way is not RitzSpectrum)
        bounds[way] = proof.lower_bound
        if way is FullSpectrum:
            best = min(best_of(P, 2, 5, seed, max_iter=100), found.objective)
    slack = 1e-9 * abs(best)
    assert max(bounds.values()) <= best + slack
    assert bounds[RitzSpectrum] <= bounds[FullSpectrum] + slack
    np.testing.assert_allclose(bounds[KnownSpectrum], bounds[FullSpectrum], rtol=1e-5)


@every_model
@pytest.mark.parametrize("shape", [(20, 7), (9, 20)])
def test_blocks_have_the_sums_of_one(model, shape):
    problem, P = example(model, *shape, 2, weighted=True, lam=0.2, options=NOT_COMPRESSED)
    _, _, E = residuals(problem, np.random.default_rng(7).standard_normal((shape[0], P.kappa)))
    values = []
    for each in (problem, in_blocks(problem, 3)):
        spectra = [RitzSpectrum(each, 2, rough_basis(each, 30))]
        if each.whole is not None or shape[1] <= shape[0]:
            spectra.append(FullSpectrum(each, 2))
        for spectrum in spectra:
            dual = Dual(each, spectrum)
            values.append((value_at(dual, E, weights(problem)), dual.unsupervised))
    scale = P.xi * np.sum(P.X**2)
    np.testing.assert_allclose(values, [values[0]] * len(values), atol=1e-9 * scale)
