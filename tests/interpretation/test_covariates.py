"""`covariate_effects` against what the model itself answers, finite differences, and simulated truths."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri, stdtrit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, RobustScaler, StandardScaler
from tests.estimators.data import patients, structured
from tests.interpretation.data import classifier, pipeline, regressor, table
from tests.losses.survival_data import chances

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival
from superfactor.constraints import Box
from superfactor.interpretation import covariate_effects

GPL = "scikit-survival is not installed: it is GPL, and for the documentation only"


def sides(n, seed=5):
    return np.random.default_rng(seed).standard_normal((n, 2))


@pytest.fixture(scope="module")
def plain():
    """A fit with two covariates beside X, and its data."""
    X, y = table()
    extra = sides(len(y))
    return classifier().fit(X, y, covariates=extra), X, y, extra


# --- estimates -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "classes"), [("filter", 3), ("feature", 2)])
def test_one_unit_more_multiplies_the_odds(model, classes):
    X, y = table(classes=classes)
    extra = sides(len(y))
    fit = classifier(model, covariate_columns=["gene5", "gene1"]).fit(X, y, covariates=extra)
    effects = covariate_effects(fit)
    names = ["gene5", "gene1", "covariate 0", "covariate 1"]
    assert list(effects["column"]) == names * (classes - 1)
    assert list(effects["covariate"][:4]) == [f"{name} (per unit)" for name in names]
    assert set(effects["kind"]) == {"odds ratio"}
    assert list(effects["output"].unique()) == list(fit.classes_[1:])
    assert set(effects["against"]) == {fit.classes_[0]}
    assert not {"low", "high", "sd", "estimate_per_sd"} & set(effects)

    def decision(X, extra):
        scores = fit.decision_function(X, covariates=extra)
        return scores[:, None] if classes == 2 else scores[:, 1:] - scores[:, :1]

    before = decision(X, extra)
    for name, rows in effects.groupby("column"):
        moved, given = X.copy(), extra.copy()
        if name in X:
            moved[name] += 1
        else:
            given[:, int(name.split()[1])] += 1
        difference = decision(moved, given) - before
        np.testing.assert_allclose(difference, np.tile(rows["coef"], (len(y), 1)), atol=1e-8)
        np.testing.assert_allclose(rows["estimate"], np.exp(rows["coef"]))


@pytest.mark.parametrize("scaler", [StandardScaler, MinMaxScaler, RobustScaler])
def test_units_are_those_of_the_user_after_a_scaler(scaler):
    X, y = table()
    fit = make_pipeline(scaler(), classifier(covariate_columns=[1])).fit(X, y)
    (row,) = covariate_effects(fit, X, y).to_dict("records")
    moved = X.assign(gene1=X["gene1"] + 1)
    difference = fit.decision_function(moved) - fit.decision_function(X)
    np.testing.assert_allclose(difference, row["coef"], rtol=1e-7)
    np.testing.assert_allclose(row["sd"], X["gene1"].std(ddof=0))
    np.testing.assert_allclose(row["estimate_per_sd"], np.exp(row["coef"] * row["sd"]))
    np.testing.assert_allclose(row["high_per_sd"], row["high"] ** row["sd"])


def test_categories_are_compared_with_their_reference_without_x():
    X, y = table()
    rng = np.random.default_rng(0)
    sex, site = rng.choice(["F", "M", "M"], 40), np.repeat(["north", "south", "west"], [12, 16, 12])
    given = pd.DataFrame({"age": rng.normal(60, 9, 40), "sex": sex, "site": site})
    fit = classifier().fit(X, y, covariates=given)
    found = covariate_effects(fit, X, y, given)
    words = ["sex: F vs M", "site: north vs south", "site: west vs south"]
    assert list(found["covariate"]) == ["age (per unit)", *words]
    changed = fit.decision_function(X, covariates=given.assign(sex="F"))
    changed -= fit.decision_function(X, covariates=given.assign(sex="M"))
    np.testing.assert_allclose(changed, found["coef"][1])
    pd.testing.assert_frame_equal(covariate_effects(fit, None, y, given), found)


def test_the_other_class_has_the_inverse_odds(plain):
    fit, *data = plain
    up, down = (covariate_effects(fit, *data, positive=fit.classes_[k]) for k in (1, 0))
    assert set(down["output"]) == {fit.classes_[0]} and set(down["against"]) == {fit.classes_[1]}
    np.testing.assert_allclose(down["estimate"], 1 / up["estimate"])
    np.testing.assert_allclose(down["low"], 1 / up["high"])
    usual = covariate_effects(fit, *data)
    pd.testing.assert_frame_equal(usual, up if fit.class_count_[1] <= fit.class_count_[0] else down)
    with pytest.raises(ValueError, match=r"positive='else': one of the classes"):
        covariate_effects(fit, positive="else")


def test_numbers_times_and_a_link_without_odds(plain):
    _, X, y, extra = plain
    Y = np.c_[extra[:, 0] + X["gene0"], X["gene1"] - 2 * extra[:, 1]]
    fit = regressor().fit(X, Y, covariates=extra)
    effects = covariate_effects(fit)
    assert list(effects["output"]) == ["y0", "y0", "y1", "y1"]
    assert set(effects["kind"]) == {"slope"} and set(effects["against"]) == {None}
    difference = fit.predict(X, covariates=extra + np.array([0, 1])) - fit.predict(X, covariates=extra)
    np.testing.assert_allclose(difference, np.tile(effects["estimate"][[1, 3]], (len(X), 1)), atol=1e-8)
    probit = classifier(link="probit").fit(X, y, covariates=extra)
    effects = covariate_effects(probit, X, y, extra)
    assert set(effects["kind"]) == {"coefficient"} and (effects["low"] < effects["high"]).all()
    np.testing.assert_array_equal(effects["estimate"], effects["coef"])
    X, y, Z = patients(n=90)
    cox = SMFSurvival(2).fit(X, y, covariates=Z)
    effects = covariate_effects(cox, X, y, Z)
    assert set(effects["kind"]) == {"hazard ratio"} and set(effects["output"]) == {"risk"}
    np.testing.assert_allclose(effects["estimate"], np.exp(cox.covariate_coef_[0]))


def named_later(X, y):
    """As the command line does: fitted to an array, names and levels put in afterwards."""
    fit = pipeline(covariate_columns=[6]).fit(X.to_numpy(), y)
    fit[-1].set_feature_names([*X.columns[:6], "sex=M", *X.columns[7:]], {"sex": ["F", "M"], "age": []})
    return fit


def framed(X, y):
    return classifier().fit(X, y, covariates=pd.DataFrame(sides(len(y)), columns=["age", "sex"]))


def made_frames(X, y):
    scaler = StandardScaler().set_output(transform="pandas")
    return make_pipeline(scaler, classifier(covariate_columns="gene3")).fit(X, y)


def rooted(X, y):
    return make_pipeline(FunctionTransformer(np.sqrt), classifier(covariate_columns=[1])).fit(X.abs(), y)


@pytest.mark.parametrize(
    "fit, names",
    [
        (named_later, ["sex: M vs F"]),
        (framed, ["age (per unit)", "sex (per unit)"]),
        (made_frames, ["gene3 (per unit)"]),
        (rooted, ["gene1 (per unit after FunctionTransformer)"]),
        (lambda X, y: classifier(covariate_columns=[6]).fit(X.to_numpy(), y), ["x6 (per unit)"]),
        (lambda X, y: pipeline(covariate_columns=[2]).fit(X.to_numpy(), y), ["x2 (per unit)"]),
        (lambda X, y: pipeline(covariate_columns=[2]).fit(X, y), ["gene2 (per unit)"]),
        (lambda X, y: classifier().fit(X, y), []),
    ],
    ids=["later", "beside", "frames", "root", "array", "pipeline of an array", "pipeline", "none"],
)
def test_names(fit, names):
    X, y = table()
    assert list(covariate_effects(fit(X, y))["covariate"]) == names


# --- intervals -------------------------------------------------------------------------------------------


def numerical_hessian(f, at, step=1e-4):
    """Second differences of f at a point (d,)."""
    d = len(at)
    E, H = np.eye(d) * step, np.empty((d, d))
    for i in range(d):
        for j in range(d):
            H[i, j] = f(at + E[i] + E[j]) - f(at + E[i] - E[j]) - f(at - E[i] + E[j]) + f(at - E[i] - E[j])
    return H / (4 * step**2)


def numbers_of(fit):
    """[β, γ, intercept] of each output (κ, r + q + 1); several classes are compared with the first."""
    theta = np.hstack([fit.factor_coef_, fit.covariate_coef_, fit.intercept_[:, None]])
    return theta[1:] if len(getattr(fit, "classes_", ())) > 2 else theta


def objective(fit, D, y, weight, numbers):
    """F over (β, γ, intercept) of each output in turn, the atoms held fixed, from its definition."""
    r, kappa = len(fit.components_), len(numbers_of(fit))

    def F(theta):
        theta = theta.reshape(kappa, -1)
        a = D @ theta.T
        if numbers is not None:
            scores = np.c_[np.zeros(len(a)), a]
            loss = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(a)), numbers]
        else:
            loss = ((y - a) ** 2).sum(axis=1)
        A = fit.components_.T @ theta[:, :r].T
        return weight @ loss + fit.lam_ * (A**2).sum() + (fit.lam_covariates_ * theta[:, r:-1] ** 2).sum()

    return F


def by_differences(fit, X, y, extra, weight):
    """The design D, θ, the inverse of the Hessian, and from it standard errors (κ, q) of γ."""
    n, r = len(X), len(fit.components_)
    D, theta = np.c_[X @ fit.components_.T, extra, np.ones(n)], numbers_of(fit)
    numbers = np.searchsorted(fit.classes_, y) if hasattr(fit, "classes_") else None
    covariance = np.linalg.inv(numerical_hessian(objective(fit, D, y, weight, numbers), theta.ravel()))
    return D, theta, covariance, np.sqrt(np.diag(covariance)).reshape(len(theta), -1)[:, r:-1]


@pytest.mark.parametrize(("classes", "weighted"), [(2, True), (3, False)])
def test_errors_are_those_of_the_curvature(classes, weighted):
    X, y = table(classes=classes)
    X, extra = X.to_numpy(), sides(len(y))
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if weighted else np.ones(len(y))
    fit = classifier().fit(X, y, covariates=extra, sample_weight=weight)
    effects = covariate_effects(fit, X, y, extra, weight, level=0.9)
    *_, expected = by_differences(fit, X, y, extra, weight)
    np.testing.assert_allclose(effects["standard_error"], expected.ravel(), rtol=1e-4)
    reach = ndtri(0.95) * effects["standard_error"]
    np.testing.assert_allclose(np.log(effects["low"]), effects["coef"] - reach, atol=1e-12)
    np.testing.assert_allclose(np.log(effects["high"]), effects["coef"] + reach, atol=1e-12)


def test_errors_of_a_regression_are_those_of_ridge_regression():
    X, _ = table()
    X, extra = X.to_numpy(), sides(len(X))
    Y = np.c_[extra[:, 0] + X[:, 0], 3 * X[:, 1]] + np.random.default_rng(2).standard_normal((len(X), 2))
    fit = regressor().fit(X, Y, covariates=extra)
    effects = covariate_effects(fit, X, Y, extra)
    D, theta, covariance, errors = by_differences(fit, X, Y, extra, np.ones(len(X)))
    d = D.shape[1]
    hat = D @ (2 * covariance[:d, :d]) @ D.T  # y ↦ fitted values, the atoms held fixed
    free = len(X) - np.trace(hat)
    sigma = np.sqrt(((Y - D @ theta.T) ** 2).sum(axis=0) / free)
    np.testing.assert_allclose(
        effects["standard_error"], (2**0.5 * sigma[:, None] * errors).ravel(), rtol=1e-4
    )
    np.testing.assert_allclose(
        effects["high"], effects["coef"] + stdtrit(free, 0.975) * effects["standard_error"]
    )


def test_intervals_are_those_of_cox_regression():
    """With all factors and hardly any ridge: the information of the partial likelihood, by differences."""
    linear = pytest.importorskip("sksurv.linear_model", reason=GPL)
    X, y, Z = patients(n=150)
    model = SMFSurvival(5, xi=0.1, lam=1e-6, lam_covariates=1e-6).fit(X, y, covariates=Z)
    found = covariate_effects(model, X, y, Z)["standard_error"]
    both = np.hstack([X, Z])
    cox = linear.CoxPHSurvivalAnalysis(ties="breslow", tol=1e-12).fit(both, structured(y))
    P, event = chances(both @ cox.coef_, y[:, 1], y[:, 0], np.ones(150)), y[:, 0]
    information = both.T @ (np.diag(P.T @ event) - P.T @ (event[:, None] * P)) @ both
    np.testing.assert_allclose(found, np.sqrt(np.diag(np.linalg.inv(information)))[5:], rtol=1e-3)


def test_a_weight_of_two_is_the_sample_twice(plain):
    _, X, y, extra = plain
    weight = 1.0 + np.arange(len(y)) % 2
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    for params in ({}, {"class_weight": "balanced"}, {"class_weight": {"tumoral": 3.0}}):
        fit = classifier(**params).fit(X, y, covariates=extra, sample_weight=weight)
        again = classifier(**params).fit(X.iloc[twice], y[twice], covariates=extra[twice])
        pd.testing.assert_frame_equal(
            covariate_effects(fit, X, y, extra, weight),
            covariate_effects(again, X.iloc[twice], y[twice], extra[twice]),
            rtol=1e-5,
        )


TRUTH = np.array([0.8, -0.7])


@pytest.mark.parametrize(
    ("kind", "n", "base", "params", "times"),
    [
        (SMFClassifier, 120, 0.0, {}, 60),
        (SMFRegressor, 60, 0.0, {}, 60),
        (SMFClassifier, 250, -2.0, {"class_weight": "balanced"}, 60),  # weights are no further samples
        (SMFRegressor, 120, 0.0, {"loss": "poisson"}, 60),  # of counts that vary three times as much
    ],
    ids=["odds", "slopes", "balanced", "rates"],
)
def test_intervals_cover_the_truth(kind, n, base, params, times):
    """Genes that know nothing, two covariates that do."""
    rng, hits = np.random.default_rng(0), []
    fit = kind(1, xi=0.1, lam=0.5, tol=1e-6, certify=None, search="off", **params)
    for _ in range(times):
        extra = np.c_[rng.normal(size=n), rng.random(n) < 0.5]
        a, X = base + extra @ TRUTH, rng.normal(size=(n, 6))
        if "loss" in params:
            y = rng.negative_binomial(np.exp(a + 1) / 2, 1 / 3)
        elif kind is SMFRegressor:
            y = a + 2.0 * rng.normal(size=n)
        else:
            y = (rng.random(n) < 1 / (1 + np.exp(-a))).astype(int)
        found = covariate_effects(fit.fit(X, y, covariates=extra), X, y, extra)
        reach = (found["high_per_sd"] - found["low_per_sd"]).to_numpy()
        ends = found[["low", "high"]].to_numpy().T
        ends = np.log(ends) if found["kind"][0].endswith("ratio") else ends
        assert np.all(reach > 0)
        hits.append((ends[0] <= TRUTH) & (ends[1] >= TRUTH))
    assert 0.90 <= np.mean(hits) <= 0.985


def test_rates_out_of_unequal_exposures_have_the_errors_of_quasi_poisson_regression():
    rng = np.random.default_rng(3)
    n = 200
    extra, hours = rng.normal(size=(n, 1)), rng.uniform(0.5, 40, n)
    mean = hours * np.exp(0.5 * extra[:, 0] - 1)
    y = rng.negative_binomial(mean / 3, 1 / 4)  # varies four times as much as Poisson's
    X = np.c_[1e-3 * rng.normal(size=(n, 3)), hours]  # a factor of next to nothing
    fit = SMFRegressor(1, loss="poisson", exposure_column=3, lam_covariates=1e-9, lam=1.0, tol=1e-9)
    row = covariate_effects(fit.fit(X, y, covariates=extra), X, y, extra).iloc[0]

    D, theta = np.c_[np.ones(n), extra], np.zeros(2)
    for _ in range(50):
        mu = hours * np.exp(D @ theta)
        theta = theta + np.linalg.solve((D.T * mu) @ D, D.T @ (y - mu))
    phi = np.sum((y - mu) ** 2 / mu) / (n - 2)
    error = np.sqrt(phi * np.linalg.inv((D.T * mu) @ D)[1, 1])
    assert phi > 2.5
    assert row["coef"] == pytest.approx(theta[1], rel=2e-2)
    assert row["standard_error"] == pytest.approx(error, rel=2e-2)


# --- what there is no answer to --------------------------------------------------------------------------


def test_what_has_no_interval_or_no_spread(plain):
    _, X, y, extra = plain
    fit = classifier("feature").fit(X, y, covariates=extra)
    with pytest.warns(UserWarning, match="model='feature': no intervals"):
        effects = covariate_effects(fit, X.iloc[::-1], y, extra)  # its codes are no function of X alone
    assert effects[["low", "high", "standard_error"]].isna().all(axis=None)
    np.testing.assert_allclose(effects["sd"], extra.std(axis=0))
    assert effects["estimate_per_sd"].notna().all()
    constant = np.c_[extra, np.full(len(y), 0.1)]
    effects = covariate_effects(classifier().fit(X, y, covariates=constant), X, y, constant)
    assert effects["sd"].iloc[-1] == 0  # not 1e-17
    assert effects["estimate_per_sd"].iloc[-1] == 1
    free = regressor(lam=0.0, lam_covariates=0.0).fit(X, extra[:, 0], covariates=0 * constant)
    assert covariate_effects(free, X, extra[:, 0], 0 * constant)["low"].isna().all()  # not determined
    none = covariate_effects(classifier().fit(X, y), X, y)
    assert none.empty and {"low", "sd"} <= set(none)


@pytest.mark.parametrize(
    "given, message",
    [
        (lambda X, y, Z: (X, None, Z), r"y=None: intervals require y in addition to X"),
        (lambda X, y, Z: (X, y, None), r"covariates=None: the model was fitted with 2"),
        (lambda X, y, Z: (X[:9], y[:9], Z[:9]), r"X: 9 samples, but the model was fitted to \d+"),
        (lambda X, y, Z: (X, y[:9], Z), r"y: 9 samples, but X has \d+"),
        (lambda X, y, Z: (X, np.full(len(y), "no"), Z), r"y: 'no' is no class of the model"),
        (
            lambda X, y, Z: (X.iloc[np.r_[0, 2, 1, 3 : len(y)]], y, Z),
            r"X: 2 of 40 samples are not those .*, the first at position 1; .* in the same order",
        ),
    ],
    ids=["no y", "no covariates", "other samples", "short y", "other labels", "order"],
)
def test_other_data_than_the_models(plain, given, message):
    fit, *data = plain
    with pytest.raises(ValueError, match=message):
        covariate_effects(fit, *given(*data))


def test_x_is_required_with_covariates_in_x_or_a_constraint(plain):
    _, X, y, extra = plain
    inside = classifier(covariate_columns=["gene1"]).fit(X, y, covariates=extra)
    bounded = classifier(constraint=Box(-1e3, 1e3), max_iter=3, tol=0).fit(X, y, covariates=extra)
    for fit in (inside, bounded):
        with pytest.raises(ValueError, match=r"X=None: .* intervals require X"):
            covariate_effects(fit, None, y, extra)
    assert len(covariate_effects(inside, X, y, extra)) == 3
    single = X.astype(np.float32), y, extra.astype(np.float32)
    fit = classifier().fit(*single[:2], covariates=single[2])
    assert covariate_effects(fit, *single)["low"].notna().all()


def test_bad_options(plain):
    for level in (0, 1, "high"):
        with pytest.raises(ValueError, match=f"level={level!r}: a number between 0 and 1"):
            covariate_effects(plain[0], level=level)
    with pytest.raises(TypeError, match="model=int: a fitted SMFClassifier"):
        covariate_effects(3)
