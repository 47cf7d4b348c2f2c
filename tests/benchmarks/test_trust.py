"""The harness itself, and 200 problems that it finds nothing wrong with."""

import json
from dataclasses import replace
from functools import partial
from itertools import islice

import mpmath
import numpy as np
import pytest
from benchmarks.__main__ import main
from benchmarks.trust import checks, folds, run
from benchmarks.trust.checks import KINDS, Result, Violation, check
from benchmarks.trust.draw import Problem, kind, problem
from benchmarks.trust.losses import Counts, Flags, Labels, Numbers, Several, Times
from benchmarks.trust.naive import Given, objective
from benchmarks.trust.outcomes import KINDS as OUTCOMES
from benchmarks.trust.outcomes import TIMES
from benchmarks.trust.script import SHOWN, script
from benchmarks.trust.search import Coordinates
from benchmarks.trust.starts import starts
from benchmarks.trust.svd import EPS, accurate_svd
from sklearn.dummy import DummyClassifier

from superfactor.estimators import base

SEED, PROBLEMS, PARTS = 2023, 200, 8
MODELS = ("filter", "feature")

pytestmark = pytest.mark.skipif(EPS > 1e-18, reason="a long double with 64 bits is required")


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_is_wrong(part):
    results = run.checked(range(part, PROBLEMS, PARTS), SEED)
    wrong = [script(result, found, "auto") for result in results for found in result.violations]
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_nothing_is_wrong_with_a_few_of_each_kind(outcome):
    small = (i for i in range(1000) if kind(SEED, i) == outcome and problem(SEED, i).X.size <= 300)
    for index in islice(small, 3):
        result = check(SEED, index)
        assert not result.violations, script(result, result.violations[0], "auto")


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


def _loss(kind, n=14, seed=0):
    rng = np.random.default_rng(seed)
    omega = np.where(rng.random(n) < 0.2, 0.0, rng.uniform(0.5, 2, n))
    if kind == "labels":
        return Labels(np.arange(n) % 3, omega)
    if kind == "numbers":
        return Numbers(rng.standard_normal((n, 2)), omega)
    if kind == "flags":
        return Flags(rng.integers(0, 2, (n, 2)), rng.random((n, 2)) < 0.8, omega)
    if kind == "counts":
        return Counts(rng.poisson(3.0, (n, 2)).astype(float), omega)
    if kind == "mixed":
        parts = tuple(_loss(part, n, seed) for part in ("labels", "numbers", "times"))
        return Several(parts, (0.7, 1.0, 2.0))
    stratum = np.arange(n) % 2 if "strata" in kind else None
    times = np.ceil(rng.uniform(0, 6, n))
    return Times(np.arange(n) % 3 < 2, times, omega, stratum, efron="Efron" in kind)


def _given(model, kind="labels", rank=2, n=14, p=6, seed=0):
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.5, 2, n)
    loss = _loss(kind, n)
    if kind == "labels":
        loss = replace(loss, omega=weight)
    Z = np.hstack([rng.standard_normal((n, 1)), np.ones((n, 1))])
    return Given(model, rng.standard_normal((n, p)), weight, loss, Z, np.array([0.3, 0.0]), 0.7, 0.3, rank)


def _points(coordinates, count=6):
    return starts(coordinates, count, np.random.default_rng(0))


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


@pytest.mark.parametrize("kind", ["labels", "numbers", "counts", "flags", "mixed", *TIMES])
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
    steps = 2e-7 * np.eye(rows.shape[1])[:size]
    differences = (coordinates(rows[-1] + steps)[0] - coordinates(rows[-1] - steps)[0]) / 4e-7
    np.testing.assert_allclose(slopes[-1, :size], differences, atol=1e-6 * np.abs(slopes[-1]).max())
    assert not slopes[:, size:].any()


def test_the_loss_of_times_is_that_of_a_likelihood_written_event_by_event():
    loss, a = _loss("times in strata, Efron"), np.linspace(-1, 1, 14)
    size, total = loss.omega * np.exp(a), 0.0
    for stratum in (0, 1):
        inside = (loss.stratum == stratum) & (loss.omega > 0)
        for t in np.unique(loss.time[inside & loss.event]):
            dying = np.flatnonzero(inside & loss.event & (loss.time == t))
            d, at_risk = loss.omega[dying], size[inside & (loss.time >= t)].sum()
            for left in range(len(dying)):
                out = left / len(dying)
                certain = (1 - out) * d.sum()
                total += d.mean() * np.log((at_risk - out * size[dying].sum()) / certain)
            total -= d @ a[dying]
    assert loss(a[:, None])[0] == pytest.approx(total, rel=1e-12)


def test_the_command_takes_one_kind(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(run, "check", lambda seed, i, search: asked.append(i) or _as_found([])(seed, i))
    main(["trust", "--problems", "4", "--seed", "5", "--outcome", "mixed"])
    assert len(asked) == 4
    assert {kind(5, i) for i in asked} == {problem(5, i).outcome for i in asked} == {"mixed"}
    capsys.readouterr()


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
    true = base.certify

    def wrong(*arguments, **options):
        certificate = true(*arguments, **options)
        return replace(certificate, **change(certificate))

    monkeypatch.setattr(base, "certify", wrong)


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


def test_a_wrong_objective_is_found(monkeypatch, proven):
    far = 1e-5 * _supervised(proven)
    _with_certificate(monkeypatch, lambda c: {"objective": c.objective - far})
    assert "wrong F" in _kinds(proven)


def _foldable():
    return next(p for p in map(partial(problem, 0), range(200)) if folds.suits(p))


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


@pytest.mark.parametrize("kind", {SHOWN[kind]: kind for kind in KINDS}.values())
def test_scripts_run(kind, capsys, monkeypatch):
    monkeypatch.setattr(folds, "SMFClassifierCV", lambda *_, **__: DummyClassifier(strategy="prior"))
    index = next(
        i
        for i in range(200)
        if folds.suits(problem(0, i)) and problem(0, i).parameters["certify"] != "ascent"
    )
    result = Result(0, index, "two classes", "filter", "none", problem(0, index).words)
    text = script(result, Violation(kind, 0.5, "so\nwrong"), "auto")
    assert len(text.splitlines()) <= 12
    exec(compile(text, "script", "exec"), {})
    assert capsys.readouterr().out


def _as_found(violations):
    def check(seed, index, search="auto"):
        return Result(seed, index, "numbers", "filter", "none", "words", list(violations), seconds=0.1)

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
