"""SMFSurvival compared with scikit-survival and naive implementations."""

import warnings

import mpmath
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.estimators.data import MODELS, patients, structured
from tests.losses.survival_data import naive_value

from superfactor import SMFSurvival, row_blocks
from superfactor.estimators.fitted.record import from_record, to_record
from superfactor.estimators.targets import concordance
from superfactor.losses import CoxPartialLikelihood
from superfactor.solvers import newton

GPL = "scikit-survival is not installed: it is GPL, and for the documentation only"


def every_coefficient(model):
    """Log hazard ratios (p,) of the columns of X."""
    return (model.components_.T @ model.factor_coef_.T)[:, 0]


def objective(model, X, y, Z, weight=None):
    """F of a filter model, term by term."""
    codes = X @ model.components_.T
    a = codes @ model.factor_coef_[0] + Z @ model.covariate_coef_[0]
    weight = np.ones(len(X)) if weight is None else weight
    fit = np.sum(weight[:, None] * (X - codes @ model.components_) ** 2)
    ridge = model.lam_ * np.sum(model.factor_coef_**2)
    ridge += np.sum(model.lam_covariates_ * model.covariate_coef_**2)
    return naive_value(a, y[:, 1], y[:, 0], weight) + model.xi_ * fit + ridge


# --- against others -----------------------------------------------------------------------


@pytest.mark.parametrize("ties", ["breslow", "efron"])
@pytest.mark.parametrize("covariates", [False, True])
def test_full_rank_equals_ridge_cox_regression(covariates, ties):
    linear = pytest.importorskip("sksurv.linear_model", reason=GPL)
    X, y, Z = patients(n=90, p=5)
    y[:, 1] = np.ceil(4 * y[:, 1]) / 4  # many at one time
    Z = Z if covariates else Z[:, :0]
    other = linear.CoxPHSurvivalAnalysis(alpha=2.0, ties=ties, n_iter=200, tol=1e-12)
    both = np.hstack([X, Z])
    other.fit(both, structured(y))
    model = SMFSurvival(5, xi=1e-6, lam=1.0, lam_covariates=None, ties=ties, tol=1e-12)
    model.fit(X, y, covariates=Z if covariates else None)
    found = np.concatenate([every_coefficient(model), model.covariate_coef_[0]])
    np.testing.assert_allclose(found, other.coef_, atol=1e-6)
    assert model.certificate_.is_global

    risk = model.predict(X, covariates=Z if covariates else None)
    assert risk.mean() == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(np.ptp(risk - other.predict(both)), 0, atol=1e-5)
    score = model.score(X, y, covariates=Z if covariates else None)
    assert score == pytest.approx(other.score(both, structured(y)), abs=1e-12)

    new = {"covariates": Z[:7] if covariates else None}
    times = other.unique_times_
    for ours, theirs in (
        (model.predict_cumulative_hazard_function, other.predict_cumulative_hazard_function),
        (model.predict_survival_function, other.predict_survival_function),
    ):
        expected = theirs(both[:7], return_array=True)
        np.testing.assert_allclose(ours(X[:7], times=times, **new), expected, rtol=1e-5, atol=1e-7)


def test_strata_have_common_effects_and_separate_baselines():
    """The reference minimises the sum of the partial likelihoods of all strata."""
    X, y, _ = patients(n=90, p=3)
    strata = np.array(["b", "a", "a"])[np.arange(90) % 3]
    frame = pd.DataFrame({"event": y[:, 0], "time": y[:, 1], "stratum": strata})
    model = SMFSurvival(3, xi=1e-6, lam=1.0, tol=1e-12).fit(X, frame)

    def total(w):
        parts = [strata == s for s in ("a", "b")]
        return w @ w + sum(naive_value(X[i] @ w, y[i, 1], y[i, 0], np.ones(i.sum())) for i in parts)

    expected = minimize(total, np.zeros(3), method="BFGS", options={"gtol": 1e-8}).x
    np.testing.assert_allclose(every_coefficient(model), expected, atol=1e-6)
    assert model.certificate_.is_global and model.strata_.tolist() == ["a", "b"]
    # Breslow's hazard of stratum b, written out.
    own, risk = strata == "b", model.predict(X)
    at = [t for t in np.unique(y[own & (y[:, 0] == 1), 1]) if t <= 1.0]
    died = own & (y[:, 0] == 1)
    hazard = sum((died & (y[:, 1] == t)).sum() / np.exp(risk[own & (y[:, 1] >= t)]).sum() for t in at)
    found = model.predict_cumulative_hazard_function(X[:2], times=1.0, strata=["b", "b"])
    np.testing.assert_allclose(found[:, 0], hazard * np.exp(risk[:2]), rtol=1e-10)
    np.testing.assert_array_equal(
        found, model.predict_cumulative_hazard_function(X[:2], times=1.0, strata="b")
    )
    pairs = [(y[strata == s], risk[strata == s]) for s in ("a", "b")]
    shares = [concordance(*part.T, own) for part, own in pairs]
    assert min(shares) <= model.score(X, frame) <= max(shares)
    with pytest.raises(ValueError, match="strata=None: the strata of the samples are required"):
        model.predict_survival_function(X[:2])
    with pytest.raises(ValueError, match=r"strata: .*'c'.* did not occur at fit"):
        model.predict_survival_function(X[:2], strata="c")
    with pytest.raises(ValueError, match=r"strata: .*'ab'.* did not occur at fit"):
        model.predict_survival_function(X[:2], strata="ab")
    numbered = SMFSurvival(2).fit(X, frame.assign(stratum=np.where(own, 2, 1)))
    with pytest.raises(ValueError, match=r"strata: 1\.7 did not occur at fit"):
        numbered.predict_survival_function(X[:2], strata=1.7)
    curves = (numbered.predict_survival_function(X[:2], strata=s) for s in (1, 1.0, [1, 1]))
    assert len({curve.tobytes() for curve in curves}) == 1
    with pytest.raises(ValueError, match="strata=given: y had none at fit"):
        SMFSurvival(2).fit(X, y).predict_survival_function(X[:2], strata="a")


def test_curves_between_and_beyond_the_events():
    X, y, _ = patients()
    model = SMFSurvival(2).fit(X, y)
    at_events = model.predict_survival_function(X[:3])
    events = model.event_times_
    np.testing.assert_array_equal(events, np.unique(y[y[:, 0] == 1, 1]))
    assert at_events.shape == (3, len(events)) and np.all(np.diff(at_events, axis=1) < 0)
    asked = [0.0, events[0], (events[0] + events[1]) / 2, 1e9]
    found = model.predict_survival_function(X[:3], times=asked)
    np.testing.assert_array_equal(found, np.c_[np.ones(3), at_events[:, [0, 0, -1]]])
    hazard = model.predict_cumulative_hazard_function(X[:3], times=asked)
    np.testing.assert_allclose(found, np.exp(-hazard))
    once = model.predict_survival_function(X[:3], times=float(events[0]))
    np.testing.assert_array_equal(once, at_events[:, :1])


def curves(risk, y, weight=None):
    """Event times, log cumulative hazards and survival (n, times) by Breslow, in high precision."""
    weight = np.ones(len(y)) if weight is None else weight
    with mpmath.workdps(60):
        ratio = [mpmath.exp(mpmath.mpf(float(r))) for r in risk]
        times, total, hazard = np.unique(y[y[:, 0] == 1, 1]), mpmath.mpf(0), []
        for t in times:
            dead = sum(w for w, (event, own) in zip(weight, y, strict=True) if event and own == t)
            at_risk = (w * r for w, r, own in zip(weight, ratio, y[:, 1], strict=True) if own >= t)
            total += dead / sum(at_risk)
            hazard.append(total)
        found = [[h * r for h in hazard] for r in ratio]
        logs = np.array([[float(mpmath.log(h)) for h in row] for row in found])
        chances = np.array([[float(mpmath.exp(-h)) for h in row] for row in found])
    return times, logs, chances


@pytest.mark.parametrize("lam", ["auto", 1e-8])
def test_curves_for_very_different_risks(lam):
    """Separable data: with a small ridge, risks differ by hundreds or thousands."""
    rng = np.random.default_rng(0)
    X, time = rng.standard_normal((24, 40)), np.ceil(4 * rng.exponential(size=24)) / 4
    y = np.column_stack([rng.random(24) < 0.8, time]).astype(float)
    weight = rng.integers(1, 4, len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a ridge that is too small for a proof
        model = SMFSurvival(2, lam=lam, search="off").fit(X, y, sample_weight=weight)
    risk = model.predict(X)
    assert lam == "auto" or np.ptp(risk) > 500
    times, logs, chances = curves(risk, y, weight)
    np.testing.assert_array_equal(model.event_times_, times)
    np.testing.assert_allclose(risk[:, None] + model.log_baseline_, logs, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(model.predict_survival_function(X), chances, atol=1e-11)
    hazard = model.predict_cumulative_hazard_function(X)
    ordinary = logs < 700
    np.testing.assert_allclose(hazard[ordinary], np.exp(logs[ordinary]), rtol=1e-9)
    for found in (model.baseline_, model.log_baseline_, hazard):
        assert np.isfinite(found).all()
    before = model.predict_survival_function(X, times=-1.0)
    np.testing.assert_array_equal(before, np.ones((len(X), 1)))


# --- the optimum and its proof -----------------------------------------------------------------------


def test_no_start_is_below_the_bound():
    """The reference is a general minimiser of F with random restarts; W is the range of any matrix."""
    X, y, Z = patients(n=30, p=4)
    loss, event = CoxPartialLikelihood(y[:, 1], y[:, 0]), y[:, :1]
    lam, xi = 0.3, 0.05
    model = SMFSurvival(2, xi=xi, lam=lam, lam_covariates=0.5, certify="ascent", tol=1e-12)
    model.fit(X, y, covariates=Z)
    assert model.objective_ == pytest.approx(objective(model, X, y, Z), rel=1e-10)

    def value(point):
        W = np.linalg.qr(point[:8].reshape(4, 2))[0]
        beta, gamma = point[8:10], point[10:]
        ridge = lam * beta @ beta + 0.5 * gamma @ gamma
        fit = np.sum((X - X @ W @ W.T) ** 2)
        a = X @ W @ beta + Z @ gamma
        return loss.value(a[:, None], event).sum() + xi * fit + ridge

    rng = np.random.default_rng(0)
    found = [minimize(value, rng.standard_normal(12)).fun for _ in range(6)]
    assert model.certificate_.lower_bound <= min(found) + 1e-8
    assert model.objective_ <= min(found) + 1e-6
    assert model.certificate_.relative_gap < 0.05


def test_other_solvers_and_starts_are_not_better():
    X, y, Z = patients(n=30)
    given = {"xi": 2.0, "lam": 3.0, "lam_covariates": 1.0}
    best = SMFSurvival(2, **given).fit(X, y, covariates=Z)
    bcd = SMFSurvival(2, solver="bcd", **given).fit(X, y, covariates=Z)
    # Its own step allows for the worst curvature there could be, half an event a sample: safe, and slow.
    safe = SMFSurvival(2, solver="lpgd", max_iter=20, tol=0, **given).fit(X, y, covariates=Z)
    assert np.all(np.diff(safe.history_["objective"]) <= 1e-9)
    lpgd = SMFSurvival(2, solver="lpgd", step_size=0.01, max_iter=1500, tol=0, **given)
    lpgd.fit(X, y, covariates=Z)
    assert bcd.objective_ == pytest.approx(best.objective_, rel=1e-5)
    assert lpgd.objective_ == pytest.approx(best.objective_, rel=1e-4)
    assert best.objective_ <= min(bcd.objective_, lpgd.objective_) * (1 + 1e-9)
    assert best.certificate_.lower_bound <= best.objective_ * (1 + 1e-12)


# --- units, weights, samples without a time ---------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_units_do_not_matter(model):
    """Other units of X, covariates and times, and duplicated data."""
    X, y, Z = patients()
    plain = SMFSurvival(2, model=model).fit(X, y, covariates=Z)
    risk = plain.predict(X, covariates=Z)
    scaled = SMFSurvival(2, model=model).fit(1000 * X, y * [1, 365.25], covariates=Z * [1, 50])
    np.testing.assert_allclose(
        scaled.predict(1000 * X, covariates=Z * [1, 50]), risk, atol=1e-4 * np.abs(risk).max()
    )
    twice = SMFSurvival(2, model=model).fit(
        np.tile(X, (2, 1)), np.tile(y, (2, 1)), covariates=np.tile(Z, (2, 1))
    )
    assert twice.xi_ == pytest.approx(plain.xi_)
    # Each sample counts as one more observation: of twice as many a smaller share is noise.
    assert twice.lam_ < 2 * plain.lam_ if model == "filter" else twice.lam_ == plain.lam_


def test_ridge_ignores_the_mean_of_X():
    """The partial likelihood ignores constants, so λ is that of centred X."""
    X, y, _ = patients()
    centred = SMFSurvival(2).fit(X - X.mean(axis=0), y)
    assert SMFSurvival(2).fit(X + 50, y).lam_ == pytest.approx(centred.lam_, rel=1e-2)


@pytest.mark.filterwarnings("error")
def test_tiny_weights_equal_zero():
    X, y, _ = patients()
    weight = np.ones(len(y))
    weight[np.flatnonzero(y[:, 0])[0]] = 1e-18
    faint = SMFSurvival(2, xi=0.2, lam=1.0, certify=None).fit(X, y, sample_weight=weight)
    without = SMFSurvival(2, xi=0.2, lam=1.0, certify=None).fit(X, y, sample_weight=np.round(weight))
    assert faint.objective_ == pytest.approx(without.objective_, rel=1e-9)


def test_covariates_are_not_used_as_times():
    X, y, _ = patients()
    model = SMFSurvival(2, xi=0.2, lam=1.0, certify=None).fit(X, y)
    with pytest.raises(ValueError, match=r"times: a number or a list of them .* got shape \(3, 2\)"):
        model.predict_survival_function(X[:3], times=X[:3, :2])


@pytest.mark.parametrize("model", MODELS)
def test_samples_without_a_time_are_factorized_only(model):
    X, y, Z = patients(n=70)
    y[50:] = np.nan
    given = {"model": model, "xi": 0.2, "lam": 2.0, "tol": 1e-12}
    fitted = SMFSurvival(2, **given).fit(X, y, covariates=Z)
    assert (fitted.n_labeled_, fitted.n_events_) == (50, int(np.nansum(y[:, 0])))
    if model == "filter":
        codes = X @ fitted.components_.T
        a = codes @ fitted.factor_coef_[0] + Z @ fitted.covariate_coef_[0]
        fit = np.sum((X - codes @ fitted.components_) ** 2)
        ridge = 2.0 * np.sum(fitted.factor_coef_**2)
        ridge += np.sum(fitted.lam_covariates_ * fitted.covariate_coef_**2)
        expected = naive_value(a[:50], y[:50, 1], y[:50, 0], np.ones(50)) + 0.2 * fit + ridge
        assert fitted.objective_ == pytest.approx(expected, rel=1e-10)
    # Whatever is outside the reconstruction: with nothing to reconstruct they would not be there.
    alone = SMFSurvival(2, **given).fit(X[:50], y[:50], covariates=Z[:50])
    assert np.ptp(fitted.predict(X, covariates=Z) - alone.predict(X, covariates=Z)) > 1e-4
    assert fitted.score(X, y, covariates=Z) == fitted.score(X[:50], y[:50], covariates=Z[:50])
    assert fitted.certificate_.lower_bound <= fitted.objective_ * (1 + 1e-12)


# --- kinds of X -----------------------------------------------------------------------


def test_all_samples_are_in_one_block():
    """More samples than a block of other losses; every sum is over all of them."""
    X, y, _ = patients(n=6000, p=6, ties=False)
    model = SMFSurvival(2, certify="residual").fit(X, y)
    stated = SMFSurvival(2).state(X, y)
    assert len(stated.problem.samples.blocks) == 1 and stated.problem.subsample_share() is None
    assert model.certificate_.relative_gap < 1e-3
    true = np.array([1.0, -0.7, 0, 0, 0, 0])
    assert np.corrcoef(every_coefficient(model), true)[0, 1] > 0.99


def test_rows_in_passes_are_refused(tmp_path):
    X, y, _ = patients()
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(ValueError, match="X: an array in memory is required"):
        SMFSurvival(2).fit(row_blocks(tmp_path / "X.npy"), y)
    fitted = SMFSurvival(2).fit(X, y)
    np.testing.assert_allclose(fitted.predict(row_blocks(tmp_path / "X.npy")), fitted.predict(X))


# --- scikit-learn -----------------------------------------------------------------------


def test_pipelines_and_searches():
    X, y, _ = patients(n=80)
    y = structured(y)
    pipeline = make_pipeline(StandardScaler(), SMFSurvival(2, certify=None))
    folds = KFold(4, shuffle=True, random_state=0)
    scores = cross_val_score(pipeline, X, y, cv=folds)
    assert scores.mean() > 0.7
    search = GridSearchCV(pipeline, {"smfsurvival__lam": [1.0, 1e4]}, cv=folds).fit(X, y)
    assert search.best_params_ == {"smfsurvival__lam": 1.0}
    assert cross_val_predict(pipeline, X, y, cv=folds).shape == (80,)


def test_fit_resumes_from_a_checkpoint(tmp_path):
    X, y, _ = patients()
    path = tmp_path / "state.npz"
    first = SMFSurvival(2, checkpoint=path).fit(X, y)
    again = SMFSurvival(2, checkpoint=path).fit(X, y)
    assert again.objective_ == pytest.approx(first.objective_, rel=1e-12)
    other = y.copy()
    other[np.flatnonzero(y[:, 0])[0], 1] += 5
    with pytest.raises(ValueError, match="loss"):
        SMFSurvival(2, checkpoint=path).fit(X, other)


def test_a_solution_can_be_adopted():
    X, y, Z = patients()
    whole = SMFSurvival(2).fit(X, y, covariates=Z)
    model = SMFSurvival(2)
    stated = model.state(X, y, covariates=Z)
    model.adopt(stated, newton.solve(stated.problem, 2))
    np.testing.assert_allclose(model.baseline_, whole.baseline_, rtol=1e-6)


@pytest.mark.parametrize("strata", [["b", "a", "a"], [2, 10, 10], None])
def test_record_keeps_the_curves_of_every_stratum(strata):
    X, y, _ = patients()
    frame = pd.DataFrame({"event": y[:, 0], "time": y[:, 1]})
    own = {}
    if strata is not None:
        frame["stratum"] = np.array(strata)[np.arange(len(y)) % 3]
        own = {"strata": frame["stratum"].to_numpy()}
    model = SMFSurvival(1).fit(X, frame)
    again = from_record(to_record(model))
    one, other = (m.predict_survival_function(X, **own) for m in (model, again))
    np.testing.assert_allclose(other, one, rtol=1e-12)
    if strata is not None:
        assert again.strata_.tolist() == model.strata_.tolist() == sorted(set(strata))
        with pytest.raises(ValueError, match="the strata of the samples are required"):
            again.predict_survival_function(X)
