"""`covariate_effects` against what the model itself answers, finite differences, and simulated truths."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri, stdtrit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, RobustScaler, StandardScaler
from tests.interpretation.data import MODELS, classifier, pipeline, regressor, table

from superfactor import SMFClassifier, SMFRegressor
from superfactor.constraints import Box
from superfactor.interpretation import covariate_effects

QUICK = {"certify": None, "search": "off"}


def sides(n, seed=5):
    return np.random.default_rng(seed).standard_normal((n, 2))


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    sex, site = rng.choice(["F", "M", "M"], n), rng.choice(["north", "south", "west"], n)
    return pd.DataFrame({"age": rng.normal(60, 9, n), "sex": sex, "site": site})


# --- estimates -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3], ids=["two", "three"])
@pytest.mark.parametrize("model", MODELS)
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
def test_a_unit_is_the_users_after_a_scaler(scaler):
    X, y = table()
    fit = make_pipeline(scaler(), classifier(covariate_columns=[1])).fit(X, y)
    effects = covariate_effects(fit, X, y)
    (row,) = effects.to_dict("records")
    moved = X.assign(gene1=X["gene1"] + 1)
    difference = fit.decision_function(moved) - fit.decision_function(X)
    np.testing.assert_allclose(difference, row["coef"], rtol=1e-7)
    np.testing.assert_allclose(row["sd"], X["gene1"].std(ddof=0))
    np.testing.assert_allclose(row["estimate_per_sd"], np.exp(row["coef"] * row["sd"]))
    np.testing.assert_allclose(row["high_per_sd"], row["high"] ** row["sd"])


def test_after_another_transformer_the_name_says_so():
    X, y = table()
    fit = make_pipeline(FunctionTransformer(np.sqrt), classifier(covariate_columns=[1]))
    effects = covariate_effects(fit.fit(X.abs(), y))
    assert list(effects["covariate"]) == ["gene1 (per unit after FunctionTransformer)"]


def test_words_are_compared_with_their_reference():
    X, y = table()
    given = people(len(y))
    fit = classifier().fit(X, y, covariates=given)
    effects = covariate_effects(fit, X, y, given).set_index("covariate")
    reference = given["site"].value_counts().sort_index(kind="stable").idxmax()
    others = sorted({"north", "south", "west"} - {reference})
    assert list(effects.index) == [
        *("age (per unit)", "sex: F vs M"),
        *(f"site: {level} vs {reference}" for level in others),
    ]
    changed = fit.decision_function(X, covariates=given.assign(sex="F"))
    changed -= fit.decision_function(X, covariates=given.assign(sex="M"))
    np.testing.assert_allclose(changed, effects.loc["sex: F vs M", "coef"])


def test_the_other_class_has_the_inverse_odds():
    X, y = table()
    extra = sides(len(y))
    fit = classifier().fit(X, y, covariates=extra)
    up = covariate_effects(fit, X, y, extra, positive=fit.classes_[1])
    down = covariate_effects(fit, X, y, extra, positive=fit.classes_[0])
    assert set(down["output"]) == {fit.classes_[0]} and set(down["against"]) == {fit.classes_[1]}
    np.testing.assert_allclose(down["estimate"], 1 / up["estimate"])
    np.testing.assert_allclose(down["low"], 1 / up["high"])
    usual = covariate_effects(fit, X, y, extra)
    pd.testing.assert_frame_equal(usual, up if fit.class_count_[1] <= fit.class_count_[0] else down)
    with pytest.raises(ValueError, match=r"positive='else': one of the classes"):
        covariate_effects(fit, positive="else")


def test_regression():
    X, _ = table()
    extra = sides(len(X))
    Y = np.c_[extra[:, 0] + X["gene0"], X["gene1"] - 2 * extra[:, 1]]
    fit = regressor().fit(X, Y, covariates=extra)
    effects = covariate_effects(fit)
    assert list(effects["output"]) == ["y0", "y0", "y1", "y1"]
    assert set(effects["kind"]) == {"slope"} and set(effects["against"]) == {None}
    difference = fit.predict(X, covariates=extra + np.array([0, 1])) - fit.predict(X, covariates=extra)
    np.testing.assert_allclose(difference, np.tile(effects["estimate"][[1, 3]], (len(X), 1)), atol=1e-8)


def named_later(X, y):
    """As the command line does: fitted to an array, names and levels put in afterwards."""
    fit = pipeline(covariate_columns=[6]).fit(X.to_numpy(), y)
    names = [*X.columns[:6], "sex=M", *X.columns[7:]]
    fit[-1].set_feature_names(names, {"sex": ["F", "M"], "age": []})
    return fit


def framed(X, y):
    extra = pd.DataFrame(sides(len(y)), columns=["age", "sex"])
    return classifier().fit(X, y, covariates=extra)


@pytest.mark.parametrize(
    "fit, names",
    [
        (named_later, ["sex: M vs F"]),
        (framed, ["age (per unit)", "sex (per unit)"]),
        (
            lambda X, y: classifier(covariate_columns=[6, 0]).fit(X.to_numpy(), y),
            ["x6 (per unit)", "x0 (per unit)"],
        ),
        (lambda X, y: pipeline(covariate_columns=[2]).fit(X.to_numpy(), y), ["x2 (per unit)"]),
        (lambda X, y: pipeline(covariate_columns=[2]).fit(X, y), ["gene2 (per unit)"]),
        (
            lambda X, y: make_pipeline(
                StandardScaler().set_output(transform="pandas"),
                classifier(covariate_columns="gene3"),
            ).fit(X, y),
            ["gene3 (per unit)"],
        ),
        (lambda X, y: classifier().fit(X, y), []),
    ],
    ids=[
        "names put in later", "a frame beside X", "array", "pipeline of an array", "pipeline of a frame",
        "frames", "none",
    ],
)  # fmt: skip
def test_names(fit, names):
    X, y = table()
    assert list(covariate_effects(fit(X, y))["covariate"]) == names


# --- intervals -------------------------------------------------------------------------------------------


def numerical_hessian(f, at, step=1e-4):
    """Second differences of f at a point (d,)."""
    d = len(at)
    E = np.eye(d) * step
    H = np.empty((d, d))
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
    classify = hasattr(fit, "classes_")

    def F(theta):
        theta = theta.reshape(kappa, -1)
        a = D @ theta.T
        if classify:
            scores = np.c_[np.zeros(len(a)), a]
            loss = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(a)), numbers]
        else:
            loss = ((y - a) ** 2).sum(axis=1)
        A = fit.components_.T @ theta[:, :r].T
        gamma = theta[:, r:-1]
        rho = getattr(fit, "lam_covariates_", fit.lam)
        return weight @ loss + getattr(fit, "lam_", fit.lam) * (A**2).sum() + (rho * gamma**2).sum()

    return F


def by_differences(fit, X, y, extra, weight):
    """Standard errors (κ, q) of γ, and 2σ² of each output where that is not one."""
    n, r = len(X), len(fit.components_)
    D = np.c_[X @ fit.components_.T, extra, np.ones(n)]
    theta = numbers_of(fit)
    numbers = np.searchsorted(fit.classes_, y) if hasattr(fit, "classes_") else None
    H = numerical_hessian(objective(fit, D, y, weight, numbers), theta.ravel())
    covariance = np.linalg.inv(H)
    return D, theta, covariance, np.sqrt(np.diag(covariance)).reshape(len(theta), -1)[:, r:-1]


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("classes", [2, 3], ids=["two", "three"])
def test_errors_are_those_of_the_curvature(classes, weighted):
    X, y = table(classes=classes)
    X, extra = X.to_numpy(), sides(len(y))
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if weighted else None
    fit = classifier().fit(X, y, covariates=extra, sample_weight=weight)
    effects = covariate_effects(fit, X, y, extra, weight, level=0.9)
    *_, expected = by_differences(fit, X, y, extra, np.ones(len(y)) if weight is None else weight)
    np.testing.assert_allclose(effects["standard_error"], expected.ravel(), rtol=1e-4)
    reach = ndtri(0.95) * effects["standard_error"]
    np.testing.assert_allclose(np.log(effects["low"]), effects["coef"] - reach, atol=1e-12)
    np.testing.assert_allclose(np.log(effects["high"]), effects["coef"] + reach, atol=1e-12)


def test_errors_of_a_regression_are_those_of_ridge_regression():
    X, _ = table()
    X, extra = X.to_numpy(), sides(len(X))
    rng = np.random.default_rng(2)
    Y = np.c_[extra[:, 0] + X[:, 0], 3 * X[:, 1]] + rng.standard_normal((len(X), 2))
    fit = regressor().fit(X, Y, covariates=extra)
    effects = covariate_effects(fit, X, Y, extra)
    D, theta, covariance, errors = by_differences(fit, X, Y, extra, np.ones(len(X)))
    d = D.shape[1]
    hat = D @ (2 * covariance[:d, :d]) @ D.T  # y ↦ fitted values, the atoms held fixed
    free = len(X) - np.trace(hat)
    sigma = np.sqrt(((Y - D @ theta.T) ** 2).sum(axis=0) / free)
    expected = np.sqrt(2) * sigma[:, None] * errors
    np.testing.assert_allclose(effects["standard_error"], expected.ravel(), rtol=1e-4)
    reach = stdtrit(free, 0.975) * effects["standard_error"]
    np.testing.assert_allclose(effects["high"], effects["coef"] + reach)


def test_a_weight_of_two_is_the_sample_twice():
    X, y = table()
    X, extra = X.to_numpy(), sides(len(y))
    weight = 1.0 + np.arange(len(y)) % 2
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    for params in ({}, {"class_weight": "balanced"}, {"class_weight": {"tumoral": 3.0}}):
        fit = classifier(**params).fit(X, y, covariates=extra, sample_weight=weight)
        again = classifier(**params).fit(X[twice], y[twice], covariates=extra[twice])
        pd.testing.assert_frame_equal(
            covariate_effects(fit, X, y, extra, weight),
            covariate_effects(again, X[twice], y[twice], extra[twice]),
            rtol=1e-5,
        )


def test_the_unit_of_a_covariate_does_not_matter_where_its_ridge_does_not():
    X, _ = table(100)
    extra = sides(len(X))
    y = extra[:, 0] + sides(len(X), seed=6)[:, 0] > 0
    fits = [classifier(rank=1, xi=10, lam=1e-9).fit(X, y, covariates=extra * unit) for unit in (1, 1000)]
    near, far = (
        covariate_effects(fit, X, y, extra * unit) for fit, unit in zip(fits, (1, 1000), strict=True)
    )
    for name in ("estimate_per_sd", "low_per_sd", "high_per_sd"):
        np.testing.assert_allclose(far[name], near[name], rtol=1e-3)


def test_codes_that_the_model_keeps_are_enough():
    X, y = table()
    given = people(len(y))
    fit = classifier().fit(X, y, covariates=given)
    pd.testing.assert_frame_equal(covariate_effects(fit, None, y, given), covariate_effects(fit, X, y, given))


def covered(fit, truth, draw, times):
    """How often intervals hold the truth (κ·q,); `draw` gives X, y and covariates."""
    rng = np.random.default_rng(0)
    hits = []
    for _ in range(times):
        X, y, extra = draw(rng)
        found = covariate_effects(fit().fit(X, y, covariates=extra), X, y, extra)
        reach = (found["high_per_sd"] - found["low_per_sd"]).to_numpy()
        assert np.all(reach > 0)
        low, high = found["low"].to_numpy(), found["high"].to_numpy()
        if found["kind"][0] == "odds ratio":
            low, high = np.log(low), np.log(high)
        hits.append((low <= truth) & (truth <= high))
    return np.mean(hits)


def noise(rng, n, effects, base=0.0, spread=None):
    """Genes that know nothing, two covariates that do; labels, or values where there is a spread."""
    extra = np.c_[rng.normal(size=n), rng.random(n) < 0.5]
    a = base + extra @ effects
    X = rng.normal(size=(n, 6))
    if spread is not None:
        return X, a + spread * rng.normal(size=n), extra
    return X, (rng.random(n) < 1 / (1 + np.exp(-a))).astype(int), extra


TRUTH = np.array([0.8, -0.7])


def test_the_truth_is_inside_about_as_often_as_promised():
    found = covered(
        lambda: SMFClassifier(1, xi=0.1, lam=0.5, tol=1e-6, **QUICK),
        TRUTH,
        lambda rng: noise(rng, 120, TRUTH),
        100,
    )
    assert 0.90 <= found <= 0.985


def test_the_same_of_slopes():
    found = covered(
        lambda: SMFRegressor(1, xi=0.1, lam=0.5, tol=1e-6, **QUICK),
        TRUTH,
        lambda rng: noise(rng, 60, TRUTH, spread=2.0),
        100,
    )
    assert 0.90 <= found <= 0.985


def test_class_weights_are_no_further_samples():
    def fit():
        balanced = {"class_weight": "balanced"}
        return SMFClassifier(1, xi=0.1, lam=0.5, tol=1e-6, **balanced, **QUICK)

    found = covered(fit, TRUTH, lambda rng: noise(rng, 250, TRUTH, base=-2.0), 60)
    assert 0.88 <= found <= 0.99


# --- what there is no answer to --------------------------------------------------------------------------


def test_the_feature_model_has_estimates_only():
    X, y = table()
    extra = sides(len(y))
    fit = classifier("feature").fit(X, y, covariates=extra)
    with pytest.warns(UserWarning, match="model='feature': no intervals"):
        effects = covariate_effects(fit, X, y, extra)
    assert effects[["low", "high", "standard_error"]].isna().all(axis=None)
    np.testing.assert_allclose(effects["sd"], extra.std(axis=0))
    assert effects["estimate_per_sd"].notna().all()


def test_what_is_not_determined_has_no_interval():
    X, y = table()
    extra = np.c_[sides(len(y)), np.zeros(len(y))]
    y = sides(len(y), seed=6)[:, 0]
    fit = regressor(lam=0.0).fit(X, y, covariates=extra)
    fit.lam_covariates_ = np.zeros(3)
    effects = covariate_effects(fit, X, y, extra)
    assert effects["low"].isna().all()


@pytest.mark.parametrize(
    "given, message",
    [
        (lambda X, y, Z: (X, None, Z), r"y=None: intervals need y beside X or covariates"),
        (lambda X, y, Z: (X, y, None), r"covariates=None: the model was fitted with 2"),
        (lambda X, y, Z: (X[:9], y[:9], Z[:9]), r"X: 9 samples, but the model was fitted to \d+"),
        (lambda X, y, Z: (X, y[:9], Z), r"y: 9 samples, but X has \d+"),
        (lambda X, y, Z: (X, np.full(len(y), "no"), Z), r"y: 'no' is no class of the model"),
    ],
    ids=["no y", "no covariates", "other samples", "short y", "other labels"],
)
def test_other_data_than_the_models(given, message):
    X, y = table()
    extra = sides(len(y))
    fit = classifier().fit(X, y, covariates=extra)
    with pytest.raises(ValueError, match=message):
        covariate_effects(fit, *given(X, y, extra))


def test_rows_in_another_order_are_refused():
    X, y = table()
    extra = sides(len(y))
    swapped = np.r_[0, 2, 1, 3 : len(y)]
    message = rf"X: 2 of {len(y)} samples are not those .*, the first at position 1; .* in its order"
    for fit in (classifier(), pipeline()):
        fit.fit(X, y)
        covariate_effects(fit, X, y)
        with pytest.raises(ValueError, match=message):
            covariate_effects(fit, X.iloc[swapped], y)
    single = X.astype(np.float32)
    fit = classifier().fit(single, y, covariates=extra.astype(np.float32))
    assert covariate_effects(fit, single, y, extra.astype(np.float32))["low"].notna().all()
    feature = classifier("feature").fit(X, y, covariates=extra)
    with pytest.warns(UserWarning, match="no intervals"):  # its codes are no function of X alone
        covariate_effects(feature, X.iloc[swapped], y, extra)


def test_a_constant_has_no_spread():
    X, y = table()
    extra = np.c_[sides(len(y)), np.full(len(y), 0.1)]
    effects = covariate_effects(classifier().fit(X, y, covariates=extra), X, y, extra)
    assert effects["sd"].iloc[-1] == 0  # not 1e-17
    assert effects["estimate_per_sd"].iloc[-1] == 1


def test_x_is_needed_where_it_has_covariates_or_a_constraint():
    X, y = table()
    extra = sides(len(y))
    inside = classifier(covariate_columns=["gene1"]).fit(X, y, covariates=extra)
    bounded = classifier(constraint=Box(-1e3, 1e3), max_iter=3, tol=0).fit(X, y, covariates=extra)
    for fit in (inside, bounded):
        with pytest.raises(ValueError, match=r"X=None: .* intervals need X"):
            covariate_effects(fit, None, y, extra)
    assert len(covariate_effects(inside, X, y, extra)) == 3


@pytest.mark.parametrize("level", [0, 1, "high"])
def test_levels_of_confidence(level):
    X, y = table()
    with pytest.raises(ValueError, match=f"level={level!r}: a number between 0 and 1"):
        covariate_effects(classifier().fit(X, y), level=level)


def test_no_covariates_no_rows():
    X, y = table()
    fit = classifier().fit(X, y)
    assert covariate_effects(fit, X, y).empty
    assert {"low", "sd"} <= set(covariate_effects(fit, X, y))


def test_a_link_without_odds():
    X, y = table()
    fit = classifier(link="probit").fit(X, y, covariates=sides(len(y)))
    effects = covariate_effects(fit, X, y, sides(len(y)))
    assert set(effects["kind"]) == {"coefficient"}
    np.testing.assert_array_equal(effects["estimate"], effects["coef"])
    assert (effects["low"] < effects["high"]).all()


def test_what_is_no_model():
    with pytest.raises(TypeError, match="model=int: a fitted SMFClassifier"):
        covariate_effects(3)
