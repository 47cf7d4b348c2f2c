"""The harness itself, and 200 problems that it finds nothing wrong with."""

import json
from dataclasses import replace
from functools import partial

import mpmath
import numpy as np
import pytest
from benchmarks.__main__ import main
from benchmarks.trust import checks, equal, folds, run
from benchmarks.trust.checks import KINDS, Result, Violation, check, not_finite
from benchmarks.trust.descent import descend
from benchmarks.trust.draw import STORES, Problem, problem
from benchmarks.trust.losses import Labels, Numbers, Times
from benchmarks.trust.naive import Given, objective, orthonormal
from benchmarks.trust.outcomes import KINDS as OUTCOMES
from benchmarks.trust.script import script
from benchmarks.trust.search import Coordinates, lowest
from benchmarks.trust.starts import starts
from benchmarks.trust.svd import EPS, accurate_svd
from scipy.optimize import minimize
from sklearn.dummy import DummyClassifier
from tests import naive

import superfactor.theory

SEED, PROBLEMS, PARTS = 2023, 200, 8
MODELS = ("filter", "feature")

pytestmark = pytest.mark.skipif(EPS > 1e-18, reason="a long double of 64 bits is the judge")


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_is_wrong(part):
    results = run.checked(range(part, PROBLEMS, PARTS), SEED)
    wrong = [script(result, found, "auto") for result in results for found in result.violations]
    assert not wrong, "\n\n".join(wrong)


# --- problems --------------------------------------------------------------------------------------


def test_problems_are_of_every_kind():
    drawn = [problem(0, index) for index in range(400)]
    assert {p.outcome for p in drawn} == set(OUTCOMES)
    assert {p.model for p in drawn} == set(MODELS)
    assert {p.store for p in drawn} == set(STORES)
    assert {p.X.dtype for p in drawn} == {np.dtype(np.float32), np.dtype(np.float64)}
    assert {p.parameters["certify"] for p in drawn} == {"residual", "ascent"}
    assert {p.parameters["n_components"] for p in drawn} == {1, 2, 3, 4}
    for some in ("absent", "covariates", "sample_weight"):
        has = [getattr(p, some) is not None and np.any(getattr(p, some)) for p in drawn]
        assert 0.1 < np.mean(has) < 0.5
    shapes = np.array([p.X.shape for p in drawn])
    assert (shapes[:, 0] >= 6).all() and (shapes[:, 0] <= 40).all()
    assert (shapes[:, 1] >= 3).all() and (shapes[:, 1] <= 80).all()
    wide, tall = shapes[:, 1] >= 2 * shapes[:, 0], shapes[:, 1] < shapes[:, 0]
    assert min(wide.mean(), tall.mean(), (~wide & ~tall).mean()) > 0.2
    spread = [np.ptp(np.log10(norms[norms > 0])) for p in drawn if (norms := np.abs(p.X).max(axis=0)).any()]
    assert max(spread) > 14


def test_a_problem_is_the_same_whenever_it_is_drawn():
    one, other = problem(3, 17), problem(3, 17)
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.y, other.y)
    assert one.parameters == other.parameters
    assert problem(3, 18).told != one.told


# --- the naive code --------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(12, 30), (20, 24), (25, 7)])
@pytest.mark.parametrize("scaled", ["columns", "rows"])
def test_singular_vectors_of_badly_scaled_data_have_all_their_digits(shape, scaled):
    rng = np.random.default_rng(0)
    scale = 10 ** rng.uniform(-8, 8, shape[1] if scaled == "columns" else (shape[0], 1))
    X = rng.standard_normal(shape) * scale
    L, sigma, V = accurate_svd(X)
    assert (np.abs((L * sigma) @ V.T - X) <= 1e-12 * np.abs(X)).all()
    for side in (L, V):
        assert np.abs(side.T @ side - np.eye(len(sigma))).max() < 1e-15
    assert (np.diff(sigma) <= 0).all()


def test_singular_values_are_those_of_more_digits():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((6, 9)) * 10 ** rng.uniform(-8, 8, 9)
    with mpmath.workdps(60):
        exact = [float(value) for value in mpmath.svd_r(mpmath.matrix(X.tolist()), compute_uv=False)]
    np.testing.assert_allclose(accurate_svd(X)[1].astype(float), exact, rtol=1e-14)


def test_a_rank_that_is_exact_is_found():
    X = np.random.default_rng(0).integers(-3, 4, (10, 2)) @ np.random.default_rng(1).integers(-3, 4, (2, 7))
    X = X * 10.0 ** np.arange(-3, 4)
    assert len(accurate_svd(X)[1]) == 2
    assert len(accurate_svd(np.zeros((4, 3)))[1]) == 0


def _loss(kind, n=14, seed=0):
    rng = np.random.default_rng(seed)
    omega = np.where(rng.random(n) < 0.2, 0.0, rng.uniform(0.5, 2, n))
    if kind == "labels":
        return Labels(np.arange(n) % 3, omega)
    if kind == "numbers":
        return Numbers(rng.standard_normal((n, 2)), omega)
    return Times(np.arange(n) % 3 < 2, np.ceil(rng.uniform(0, 6, n)), omega)


@pytest.mark.parametrize("kind", ["labels", "numbers", "times"])
def test_slopes_of_losses_are_those_of_differences(kind):
    loss = _loss(kind)
    a = np.random.default_rng(1).standard_normal((14, loss.n_outputs)).astype(np.longdouble)
    slope = loss(a)[1]
    for i, c in np.ndindex(a.shape):
        step = np.zeros_like(a)
        step[i, c] = 1e-6
        assert slope[i, c] == pytest.approx((loss(a + step)[0] - loss(a - step)[0]) / 2e-6, abs=1e-8)


@pytest.mark.parametrize("kind", ["labels", "numbers", "times"])
def test_losses_of_several_points_are_those_one_by_one(kind):
    loss = _loss(kind)
    a = np.random.default_rng(1).standard_normal((3, 14, loss.n_outputs))
    values, slopes = loss(a)
    for k in range(3):
        value, slope = loss(a[k])
        np.testing.assert_allclose(values[k], value, rtol=1e-14)
        np.testing.assert_allclose(slopes[k], slope, rtol=1e-12, atol=1e-14)
    assert loss.bends(a).shape == (3, 14) and (loss.bends(a) >= 0).all()


def test_times_are_compared_as_the_page_says():
    loss = _loss("times")
    a = np.random.default_rng(1).standard_normal((14, 1))
    total = 0.0
    for i in range(14):
        if loss.event[i] and loss.omega[i] > 0:
            at_risk = [j for j in range(14) if loss.time[j] >= loss.time[i]]
            tied = sum(loss.omega[j] * loss.event[j] for j in range(14) if loss.time[j] == loss.time[i])
            S = sum(loss.omega[j] * np.exp(a[j, 0]) for j in at_risk)
            total += loss.omega[i] * (np.log(S / tied) - a[i, 0])
    assert loss(a)[0] == pytest.approx(total, rel=1e-13)


def _given(model, kind="labels", rank=2, n=14, p=6, seed=0):
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.5, 2, n)
    loss = _loss(kind, n)
    loss = replace(loss, omega=weight if kind == "labels" else loss.omega)
    Z = np.hstack([rng.standard_normal((n, 1)), np.ones((n, 1))])
    return Given(model, rng.standard_normal((n, p)), weight, loss, Z, np.array([0.3, 0.0]), 0.7, 0.3, rank)


def _points(coordinates, count=6):
    return starts(coordinates, count, np.random.default_rng(0))


@pytest.mark.parametrize("model", MODELS)
def test_the_objective_is_that_of_the_paper(model):
    given = _given(model)
    coordinates = Coordinates(given)
    factors = coordinates.factors(_points(coordinates), 2)
    W, H, beta, gamma = (np.asarray(part, dtype=float) for part in vars(factors).values())
    targets = np.eye(3)[given.loss.codes][:, 1:]
    options = {"covariates": given.Z[:, :1], "sample_weight": given.weight}
    paper = naive.objective(model, given.X, targets, W, H.T, beta, gamma, 0.7, 0.3, **options)
    value, error = objective(given, factors)
    assert value == pytest.approx(paper, rel=1e-12)
    assert error < 1e-15 * value


@pytest.mark.parametrize("model", MODELS)
def test_the_objective_of_badly_scaled_data_is_that_of_sixty_digits(model):
    given = _given(model)
    scale = 10.0 ** np.linspace(-8, 8, 6)
    given = replace(given, X=given.X * scale, xi=1e-12, lam=1e-3)
    coordinates = Coordinates(given)
    for k in range(6):
        factors = coordinates.factors(_points(coordinates), k)
        value, error = objective(given, factors)
        assert abs(value - _sixty_digits(given, factors)) <= error + 1e-16 * value
        assert error < 1e-6 * value


def _sixty_digits(given, factors):
    """F of labels, term by term."""
    W, H, beta, gamma = vars(factors).values()
    with mpmath.workdps(60):

        def exact(x):  # a long double is two doubles
            high = float(x)
            return mpmath.mpf(high) + mpmath.mpf(float(x - np.longdouble(high)))

        matrix = lambda M: mpmath.matrix([[exact(x) for x in row] for row in np.asarray(M)])  # noqa: E731
        X, W, H, beta, gamma, Z = map(matrix, (given.X, W, H, beta, gamma, given.Z))
        by_filter = given.model == "filter"
        A = (W if by_filter else H) * beta
        a = (X * A if by_filter else A) + Z * gamma
        left = X - H * W.T
        total = mpmath.mpf(0)
        for i in range(X.rows):
            w = mpmath.mpf(float(given.weight[i]))
            activations = [mpmath.mpf(0), *(a[i, c] for c in range(a.cols))]
            own = activations[given.loss.codes[i]]
            total += w * (mpmath.log(mpmath.fsum(map(mpmath.exp, activations))) - own)
            total += w * given.xi * mpmath.fsum(left[i, j] ** 2 for j in range(X.cols))
            if not by_filter:
                total += w * given.lam * mpmath.fsum(A[i, c] ** 2 for c in range(A.cols))
        if by_filter:
            total += given.lam * mpmath.fsum(x**2 for x in A)
        for j in range(gamma.rows):
            total += given.ridge[j] * mpmath.fsum(gamma[j, c] ** 2 for c in range(gamma.cols))
        return float(total)


@pytest.mark.parametrize("kind", ["labels", "numbers", "times"])
@pytest.mark.parametrize("model", MODELS)
def test_the_objective_of_descents_is_that_of_their_factors(model, kind):
    given = _given(model, kind)
    coordinates = Coordinates(given)
    at = _points(coordinates)
    rows = coordinates.joined(at)
    values, slopes = coordinates(rows)
    for k in range(len(at.U)):
        assert given.floor + values[k] == pytest.approx(
            objective(given, coordinates.factors(at, k))[0], rel=1e-10
        )
    size = coordinates.size
    steps = 1e-6 * np.eye(rows.shape[1])[:size]
    differences = (coordinates(rows[-1] + steps)[0] - coordinates(rows[-1] - steps)[0]) / 2e-6
    np.testing.assert_allclose(slopes[-1, :size], differences, atol=1e-6 * np.abs(slopes[-1]).max())
    assert not slopes[:, size:].any()


def test_coordinates_of_factors_are_where_they_came_from():
    given = _given("feature")
    coordinates = Coordinates(given)
    at = _points(coordinates)
    back = coordinates.coordinates_of(coordinates.factors(at, 3))
    expected = objective(given, coordinates.factors(at, 3))[0]
    assert objective(given, coordinates.factors(back, 0))[0] == pytest.approx(expected, rel=1e-12)


def test_gram_schmidt_in_long_double():
    U = np.random.default_rng(0).standard_normal((8, 3))
    U[:, 2] = U[:, 1] + 1e-9 * U[:, 2]
    Q, R = orthonormal(U)
    assert np.abs(Q.T @ Q - np.eye(3)).max() < 1e-17
    assert np.abs(Q @ R - U).max() < 1e-17


def test_descents_end_where_those_of_scipy_do():
    rng = np.random.default_rng(0)
    M = rng.standard_normal((12, 12))
    M = M @ M.T + 0.01 * np.eye(12)
    b = rng.standard_normal(12)

    def bowl(x):
        return np.sum(0.5 * x * (x @ M) - x * b, axis=1) + 0.1 * np.sum(x**4, axis=1), (
            x @ M - b + 0.4 * x**3
        )

    values = descend(bowl, rng.standard_normal((5, 12)), 400)[1]
    by_scipy = minimize(lambda x: bowl(x[None])[0][0], np.zeros(12), tol=1e-12).fun
    np.testing.assert_allclose(values, by_scipy, rtol=1e-7)


def _one_large_column(c):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 60))
    y = (X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(20) > 0).astype(int)
    X[:, 0] *= c
    parameters = {"n_components": 2, "model": "filter", "xi": 1e-2 / c**2, "lam": 1.0}
    nobody = np.zeros(20, dtype=bool)
    return Problem("two classes", X, y, nobody, None, None, parameters, "dense", "one large column")


def test_one_large_column_hides_no_optimum():
    found = []
    for c in (1e4, 1e8, 1e12):
        p = _one_large_column(c)
        Z = np.ones((20, 1))
        given = Given(
            "filter", p.X, np.ones(20), Labels(p.y, np.ones(20)), Z, np.zeros(1), 1e-2 / c**2, 1.0, 2
        )
        coordinates = Coordinates(given)
        value, error, _ = lowest(given, starts(coordinates, 8, np.random.default_rng(0)), coordinates)
        assert error < 1e-9 * value
        found.append(value)
    # By a penalised regression that leaves the large column to a factor of its own.
    np.testing.assert_allclose(found, 2.98069741, rtol=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_proven_optima_are_found_without_the_answer(model):
    found = 0
    for p in map(partial(problem, 1), range(150)):
        if found == 3:
            break
        if p.model != model or p.scale != "none" or p.X.dtype == np.float32:
            continue
        fitted = p.estimator(certify="residual", search="off").fit(**p.data())
        if fitted.certificate_.is_global:
            given = p.naive(fitted)
            coordinates = Coordinates(given)
            value, _, _ = lowest(given, _points(coordinates, 12), coordinates)
            assert abs(value - fitted.objective_) <= 1e-6 * (fitted.objective_ - given.floor)
            found += 1
    assert found == 3


# --- what is wrong is found -------------------------------------------------------------------------


def _ordinary(proven):
    """A problem that nothing is wrong with, and whose answer is proven or not."""
    for index in range(SEED, SEED + 200):
        p = problem(0, index)
        if p.scale != "none" or p.X.dtype == np.float32 or p.parameters["certify"] == "ascent":
            continue
        result = check(0, index)
        if result.proven == proven and not result.violations and result.refused is None:
            return index
    raise AssertionError("no such problem")


@pytest.fixture(scope="module")
def proven():
    return _ordinary(True)


@pytest.fixture(scope="module")
def unproven():
    return _ordinary(False)


def _with_certificate(monkeypatch, change):
    true = superfactor.theory.certify

    def wrong(*arguments, **options):
        certificate = true(*arguments, **options)
        return replace(certificate, **change(certificate))

    monkeypatch.setattr(superfactor.theory, "certify", wrong)


def _kinds(index, search="auto"):
    return {violation.kind for violation in check(0, index, search).violations}


def _supervised(index):
    p = problem(0, index)
    fitted = p.estimator().fit(**p.data())
    return fitted.objective_ - p.naive(fitted).floor


def test_a_bound_that_is_too_high_is_found(monkeypatch, proven):
    far = 1e-5 * _supervised(proven)
    _with_certificate(monkeypatch, lambda c: {"lower_bound": c.objective + far})
    assert "false bound" in _kinds(proven)


def test_a_proof_that_is_none_is_found(monkeypatch, unproven):
    true = Problem.estimator
    # An answer after one iteration is beaten.
    monkeypatch.setattr(
        Problem, "estimator", lambda p, **changed: true(p, **changed | {"search": "off", "max_iter": 1})
    )
    _with_certificate(monkeypatch, lambda c: {"is_global": True})
    assert "false proof" in _kinds(unproven)


def test_an_answer_that_is_beaten_and_does_not_claim_otherwise_is_counted_only(monkeypatch, unproven):
    true = Problem.estimator
    monkeypatch.setattr(
        Problem, "estimator", lambda p, **changed: true(p, **changed | {"search": "off", "max_iter": 1})
    )
    result = check(0, unproven)
    assert result.beaten > 1e-6
    assert "false proof" not in {violation.kind for violation in result.violations}


def test_a_wrong_objective_is_found(monkeypatch, proven):
    far = 1e-5 * _supervised(proven)
    _with_certificate(monkeypatch, lambda c: {"objective": c.objective - far})
    assert "wrong F" in _kinds(proven)


def test_what_is_not_finite_is_found():
    p = problem(0, 0)
    fitted = p.estimator().fit(**p.data())
    assert not_finite(fitted) == []
    fitted.patterns_ = np.where(fitted.patterns_ == fitted.patterns_.max(), np.inf, fitted.patterns_)
    fitted.history_ = {**fitted.history_, "step": [np.nan]}
    assert not_finite(fitted) == ["history_", "patterns_"]


def test_equal_problems_that_differ_are_found(monkeypatch, proven):
    monkeypatch.setattr(checks, "SAID_OTHERWISE", 1.0)
    assert "unequal" not in _kinds(proven)
    other = replace(problem(0, proven), X=2 * problem(0, proven).X)
    monkeypatch.setattr(equal, "same", lambda p, rng: replace(other, parameters={**p.parameters, "lam": 1e3}))
    result = check(0, proven)
    assert result.unequal > 0 or "unequal" in {violation.kind for violation in result.violations}


@pytest.mark.parametrize("way", equal.WAYS, ids=lambda way: way.__name__)
def test_problems_said_otherwise_have_the_same_objective(way):
    """By the naive code: at the same factors, moved with the data."""
    rng = np.random.default_rng(0)
    found = ((p, way(p, rng)) for p in map(partial(problem, 4), range(200)) if p.scale == "none")
    p, other = next((p, other) for p, other in found if other is not None and p.X.dtype == np.float64)
    options = {"certify": None, "search": "off"}
    one, two = (x.estimator(**options).fit(**x.data()) for x in (p, other))
    part = one.objective_ - p.naive(one).floor
    values = [lowest_of(x, fitted) for x, fitted in ((p, one), (other, two))]
    assert values[0] == pytest.approx(values[1], abs=1e-5 * part)


def lowest_of(p, fitted):
    given = p.naive(fitted)
    coordinates = Coordinates(given)
    return lowest(given, starts(coordinates, 16, np.random.default_rng(0)), coordinates)[0]


def _foldable():
    return next(p for p in map(partial(problem, 0), range(200)) if folds.suits(p))


def test_folds_that_are_sealed_are_not_accused(monkeypatch):
    monkeypatch.setattr(folds, "SMFClassifierCV", lambda *_, **__: DummyClassifier(strategy="prior"))
    assert folds.differences(_foldable(), np.random.default_rng(0)) == []


def test_folds_that_leak_are_found(monkeypatch):
    true = folds.nested_scores

    def leaking(search, X, y, **options):
        scores = true(search, X, y, **options)
        size = np.abs(X).max()
        return replace(
            scores, predictions=scores.predictions * size, chosen=tuple({"xi": size} for _ in scores.chosen)
        )

    monkeypatch.setattr(folds, "SMFClassifierCV", lambda *_, **__: DummyClassifier(strategy="prior"))
    monkeypatch.setattr(folds, "nested_scores", leaking)
    kinds = [kind for kind, _ in folds.differences(_foldable(), np.random.default_rng(0))]
    assert kinds == ["unequal folds", "unequal folds"]


def test_test_parts_are_all_samples_once():
    y = np.arange(20) % 2
    np.testing.assert_array_equal(np.sort(np.concatenate(folds.test_parts(y))), np.arange(20))


@pytest.mark.parametrize(
    ("error", "kinds"),
    [
        (ValueError("X: too large"), set()),
        (ValueError("a\nb"), {"exception"}),
        (IndexError("x"), {"exception"}),
        (np.linalg.LinAlgError("Singular matrix"), {"exception"}),
    ],
)
def test_only_a_clear_refusal_is_none_of_its_business(monkeypatch, error, kinds):
    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(Problem, "estimator", refuse)
    monkeypatch.setattr(checks, "LOOKED_AT", 0.0)
    result = check(0, 0)
    assert {violation.kind for violation in result.violations} == kinds
    assert (result.refused is None) == bool(kinds)


def test_a_failure_of_the_naive_code_is_one_problem_only(monkeypatch, proven):
    def fail(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(checks, "objective", fail)
    assert _kinds(proven) == {"harness"}


# --- running it -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_scripts_run(kind, capsys, monkeypatch):
    monkeypatch.setattr(folds, "SMFClassifierCV", lambda *_, **__: DummyClassifier(strategy="prior"))
    index = next(
        i
        for i in range(200)
        if folds.suits(problem(0, i)) and problem(0, i).parameters["certify"] != "ascent"
    )
    result = Result(0, index, "two classes", "filter", "none", problem(0, index).told)
    text = script(result, Violation(kind, 0.5, "so\nwrong"), "auto")
    assert len(text.splitlines()) <= 12
    exec(compile(text, "script", "exec"), {})
    assert capsys.readouterr().out


def _as_found(violations):
    def check(seed, index, search="auto"):
        return Result(seed, index, "numbers", "filter", "none", "told", list(violations), seconds=0.1)

    return check


def test_the_command_says_what_it_found(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(run, "check", _as_found([]))
    main(["trust", "--problems", "3", "--seed", "5"])
    assert "numbers" in capsys.readouterr().out
    monkeypatch.setattr(
        run, "check", _as_found([Violation("false proof", 0.3, "proven at 2, a point has 1")])
    )
    with pytest.raises(SystemExit) as ended:
        main(["trust", "--seed", "5", "--only", "7", "--out", str(tmp_path / "trust.json")])
    assert ended.value.code == 1
    assert "problem(5, 7)" in capsys.readouterr().out
    kept = json.loads((tmp_path / "trust.json").read_text())
    assert kept["trust"][-1]["problems"] == kept["trust"][-1]["false proof"] == 1
    assert kept["violated"][0]["index"] == 7


def test_shares_are_by_outcome_and_model():
    results = [
        Result(0, 0, "numbers", "filter", "none", "", proven=True),
        Result(0, 1, "numbers", "filter", "none", "", beaten=0.1),
        Result(0, 2, "times", "feature", "row", "", refused="X: no"),
        Result(0, 3, "times", "feature", "row", ""),
    ]
    *each, everything = run.summary(results)["trust"]
    assert [(row["outcome"], row["unproven"], row["beaten"]) for row in each] == [
        ("numbers", 0.5, 1.0),
        ("times", 1.0, 0.0),
    ]
    assert (everything["problems"], everything["refused"], everything["beaten"]) == (4, 1, 0.5)
    by_scale = {row["scale"]: row["problems"] for row in run.summary(results)["by scale"]}
    assert by_scale == {"none": 2, "row": 2}
    assert run.summary(results)["refused"] == [{"times": 1, "message": "X: no"}]


@pytest.mark.slow
def test_other_processes_find_the_same():
    alone, together = (list(run.checked(range(3), 0, jobs=jobs)) for jobs in (1, 2))
    for one, other in zip(alone, together, strict=True):
        assert replace(one, seconds=0) == replace(other, seconds=0)
