import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import MinMaxScaler
from tests.report.conftest import nested_like, scaled, table

from superfactor import SMFClassifier
from superfactor.interpretation import factor_view, unsupervised
from superfactor.interpretation.models import fitted_model
from superfactor.report.facts import directions, gather
from superfactor.report.facts.nameless import without_names
from superfactor.report.sections import choice, factors, features
from superfactor.report.sections.samples import thinned


def facts_of(model, X, y, X_test=None, y_test=None, **told):
    empty = dict.fromkeys(["covariates", "covariates_test", "ids"])
    return gather(model, X, y, X_test=X_test, y_test=y_test, **(empty | told))


@pytest.mark.parametrize("name", ["two_classes", "many"])
def test_predictions_and_factors_are_those_of_the_model(name, request):
    case = request.getfixturevalue(name)
    facts = facts_of(case.model, case.X, case.y, case.X_test, case.y_test)
    np.testing.assert_allclose(
        facts.test.probabilities, case.model.predict_proba(case.X_test), rtol=1e-9, atol=1e-12
    )
    assert facts.evaluation.accuracy == case.model.score(case.X_test, case.y_test)
    np.testing.assert_allclose(facts.view.weights, factor_view(case.model).weights)
    plain = unsupervised(case.model, case.X, case.y)
    order = facts.plain.number - 1
    assert sorted(order) == list(range(len(order)))
    np.testing.assert_allclose(facts.plain.view.share, plain.share[order])
    assert list(facts.plain.view.features) == list(plain.features)
    both = facts.plain.view.correlations * facts.view.correlations
    assert np.all(np.sum(both, axis=1) >= 0)


def test_scores_are_the_codes_in_the_order_and_sign_of_the_view():
    X, y = table(80, 12, 3)
    model = scaled(n_components=4, xi=0.05, lam=0.5).fit(X, y)
    facts = facts_of(model, X, y, X[:10], y[:10])
    products = model[0].transform(X) @ facts.view.weights.T
    products -= products.mean(axis=0)
    np.testing.assert_allclose(facts.train.scores, products, atol=1e-10)
    np.testing.assert_allclose(facts.test.scores, products[:10], atol=1e-10)
    np.testing.assert_allclose(products.T @ products / 80, np.eye(4), atol=1e-9)


def test_held_out_names_come_from_the_index_or_from_ids():
    X, y = table(40, 8, 2)
    model = SMFClassifier(1).fit(X[:30], y[:30])
    parts = (X[:30], y[:30], X[30:], y[30:])
    assert facts_of(model, *parts).test.ids == list(X.index[30:])
    assert facts_of(model, *parts, ids=range(30)).train.ids[:2] == ["0", "1"]
    both = facts_of(model, *parts, ids=[f"s{i}" for i in range(40)])
    assert (both.train.ids[0], both.test.ids[-1]) == ("s0", "s39")


class TestWithoutNames:
    def test_the_model_and_its_table_are_left_as_they_are(self):
        X, y = table(40, 8, 2)
        model = scaled(n_components=2).fit(X, y)
        model[0].set_output(transform="pandas")
        bare, (array,) = without_names(fitted_model(model), X)
        assert isinstance(array, np.ndarray) and isinstance(bare.preprocess(array), np.ndarray)
        assert list(model[0].feature_names_in_) == list(X.columns)
        assert hasattr(model[0].transform(X), "columns")

    def test_other_steps_see_the_table_they_know(self):
        X, y = table(40, 8, 2)
        model = scaled(n_components=2).set_params(scaler=MinMaxScaler()).fit(X, y)
        assert without_names(fitted_model(model), X)[1][0] is X

    def test_wrong_names_are_not_swept_under_the_carpet(self):
        X, y = table(40, 8, 2)
        model = scaled(n_components=2).fit(X, y)
        with pytest.raises(ValueError, match="feature names"):
            facts_of(model, X[X.columns[::-1]], y)


class TestThinning:
    def test_all_are_kept_where_they_fit(self):
        np.testing.assert_array_equal(thinned(np.zeros(50, int), 50), np.arange(50))

    def test_every_class_keeps_its_share_and_rare_ones_some(self):
        truth = np.repeat([0, 1, 2], [12_000, 7_995, 5])
        kept = thinned(truth, 1000)
        counts = np.bincount(truth[kept])
        assert counts[0] == 600 and counts[1] == 399 and counts[2] == 5
        np.testing.assert_array_equal(kept, thinned(truth, 1000))
        assert len(np.unique(kept)) == len(kept)


def test_bars_are_the_extreme_features(two_classes):
    X, view = two_classes.X, factor_view(two_classes.model)
    facts = facts_of(two_classes.model, X, two_classes.y, markers={"gene 0": "note"})
    payload = factors.section(facts).payload["supervised"]
    scores, notes = facts.train.scores, set()
    for j, factor in enumerate(payload):
        # With the scores as anyone would compute it.
        r = np.array([np.corrcoef(X[name], scores[:, j])[0, 1] for name in X])
        order = np.argsort(-r)
        assert [bar[0] for bar in factor["high"][:5]] == list(X.columns[order[:5]])
        assert [bar[0] for bar in factor["low"][:5]] == list(X.columns[order[::-1][:5]])
        assert factor["high"][0][1] == f"+{r[order[0]]:.2f}"
        largest = np.abs(view.weights[j]).max()
        for end, sign in (("high", 1), ("low", -1)):
            for name, said, scaled_weight, weight, disagrees, *note in factor[end]:
                i = list(X.columns).index(name)
                assert sign * r[i] > 0  # at no end that it correlates against
                assert number(said) == pytest.approx(r[i], abs=0.0051)
                assert number(weight) == pytest.approx(view.weights[j, i], rel=0.01)
                assert number(scaled_weight) == pytest.approx(view.weights[j, i] / largest, abs=0.00051)
                assert disagrees == (r[i] * view.weights[j, i] < 0)
                notes |= set(note)
    assert notes == {"note"}


def number(text):
    return float(text.replace("−", "-"))


def test_a_feature_whose_weight_and_correlation_disagree_is_marked():
    """It goes up with the classes only since it is noise of another feature, which its weight cancels."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    noise = rng.standard_normal(200)
    X = pd.DataFrame({"signal": 2.0 * y + 3 * noise, "noise": 3 * noise + 0.3 * rng.standard_normal(200)})
    X["noise"] += 0.5 * y
    facts = facts_of(SMFClassifier(1, xi=1e-6, lam=1e-3).fit(X - X.mean(), y), X - X.mean(), y)
    bars = {bar[0]: bar for bar in factors.section(facts).payload["supervised"][0]["high"]}
    assert bars["signal"][4] == 0 and number(bars["signal"][2]) > 0
    assert bars["noise"][4] == 1 and number(bars["noise"][2]) < 0 < number(bars["noise"][1])
    rows = {row["name"]: row for row in features.section(facts).told["rows"]}
    assert (rows["noise"]["disagrees"], rows["signal"]["disagrees"]) == (True, False)


def test_surfaces_hold_every_score_of_the_search(two_classes):
    search = two_classes.model
    facts = facts_of(search, two_classes.X, two_classes.y, search=search)
    payload = choice(facts).payload
    drawn = [v for surface in payload["surfaces"] for row in surface["mean"] for v in row]
    np.testing.assert_allclose(sorted(drawn), sorted(search.cv_results_["mean_test_score"]), rtol=1e-3)
    (chosen,) = (s for s in payload["surfaces"] if s["chosen"])
    row, column = chosen["chosen"]
    assert chosen["mean"][row][column] == pytest.approx(search.best_score_, rel=1e-3)
    assert (chosen["model"], chosen["rank"]) == (
        search.best_params_["model"],
        search.best_params_["n_components"],
    )
    assert float(chosen["xi"][column]) == pytest.approx(search.best_params_["xi"], rel=1e-2)
    assert float(chosen["lam"][row]) == pytest.approx(search.best_params_["lam"], rel=1e-2)
    assert chosen["said"][row][column] == f"{search.best_score_:.3f}".replace("-", "−")


def test_every_class_has_an_effect_and_the_probabilities_follow_it(many):
    """Moving all samples along a factor changes log-probabilities by these effects, up to a constant."""
    facts = facts_of(many.model, many.X, many.y)
    effects = facts.view.coef
    assert effects.shape == (10, facts.rank)
    np.testing.assert_allclose(effects.sum(axis=0), 0, atol=1e-12)
    estimator = many.model[-1]
    X = many.model[0].transform(many.X)
    for j in (0, 3):
        along = np.linalg.pinv(facts.view.weights)[:, j]  # moves this score by 1 and no other
        before, after = (np.log(estimator.predict_proba(X + t * along)) for t in (0, 1e-3))
        change = (after - before)[:, None, :] - (after - before)[:, :, None]  # of each against each
        expected = 1e-3 * (effects[None, :, j] - effects[:, None, j])
        np.testing.assert_allclose(change[0].T, expected.T, atol=1e-5)


def test_directions_name_the_class_that_gains(two_classes, many):
    facts = facts_of(two_classes.model, two_classes.X, two_classes.y)
    for (up, down), effect in zip(directions(facts, facts.view), facts.view.coef.T, strict=True):
        shown = facts.view.classes.index(facts.view.outputs[0])
        assert (up, down) == (facts.classes[shown if effect[0] > 0 else 1 - shown], "")
    facts = facts_of(many.model, many.X, many.y)
    effects = facts.view.coef
    for (up, down), effect in zip(directions(facts, facts.view), effects.T, strict=True):
        expected = (facts.classes[effect.argmax()], facts.classes[effect.argmin()])
        assert (up, down) == (expected if effect.any() else ("", ""))


def test_the_rotation_and_the_class_that_is_up_are_the_callers_choice():
    X, y = table(60, 12, 2)
    model = scaled(n_components=3, xi=0.05, lam=0.5).fit(X, y)
    turned = factor_view(model, rotation="varimax")
    facts = facts_of(model, X, y, rotation="varimax")
    np.testing.assert_array_equal(facts.view.weights, turned.weights)
    scores = turned.scores_of(model.transform(X))
    np.testing.assert_allclose(facts.train.scores, scores, atol=1e-10)


@pytest.mark.parametrize("positive", ["class 0", "class 1"])
def test_the_class_that_is_up_is_up_in_all_factors(positive):
    X, y = table(60, 12, 2)
    model = scaled(n_components=2, xi=0.05, lam=0.5).fit(X, y)
    facts = facts_of(model, X, y, positive=positive)
    assert facts.classes[facts.up] == positive and facts.plain.view.outputs == (positive,)
    assert directions(facts, facts.view)[0][0] == positive


def test_predictions_are_judged_by_models_that_had_not_seen_the_samples_where_there_are_any(training_only):
    case = training_only
    assert facts_of(case.model, case.X, case.y).judged_by == "training"
    rng = np.random.default_rng(0)
    blind = rng.dirichlet([1, 1], len(case.y))
    nested = nested_like("not shown")
    nested.predictions = blind
    facts = facts_of(case.model, case.X, case.y, nested=nested)
    assert facts.judged_by == "out-of-fold"
    guessed = np.unique(case.y)[blind.argmax(axis=1)]
    assert facts.evaluation.accuracy == np.mean(guessed == case.y)
    nested.predictions = blind[:-1]  # of other samples
    assert facts_of(case.model, case.X, case.y, nested=nested).judged_by == "training"
    held_out = facts_of(case.model, case.X, case.y, case.X, case.y, nested=nested)
    assert held_out.judged_by == "held-out"
