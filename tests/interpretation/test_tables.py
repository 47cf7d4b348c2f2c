"""The tables against the view, sorted the slow way."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.interpretation.data import pipeline, regressor, table

from superfactor import SMFClassifier
from superfactor.interpretation import factor_view, held_out_scores, supervised_factors, top_features


def with_correlations(view, rows, weights=None):
    """The view with other correlations, and weights (2, p)."""
    rows = np.asarray(rows, dtype=float)
    names = np.array([f"g{j}" for j in range(rows.shape[1])])
    weights = rows if weights is None else np.asarray(weights, dtype=float)
    return replace(view, correlations=rows, weights=weights, features=names)


@pytest.fixture(scope="module")
def view():
    X, y = table()
    return factor_view(pipeline(rank=2).fit(X, y))


# --- supervised_factors -----------------------------------------------------------------------------


def test_one_row_per_factor():
    X, y = table(classes=3)
    fit = pipeline().fit(X, y)
    shown, view = supervised_factors(fit), factor_view(fit)
    assert list(shown.index) == [1, 2, 3]
    assert shown.index.name == "factor"
    coef = ["coef[normal]", "coef[tumoral]", "coef[unclear]"]
    assert list(shown) == ["role", "share_of_variance", "contribution", *coef, "direction"]
    assert list(shown["role"] == "predictive") == list(view.contribution >= 0.01)
    assert shown["role"][3] == "background"
    np.testing.assert_array_equal(shown["share_of_variance"], view.share)
    np.testing.assert_array_equal(shown["contribution"], view.contribution)
    np.testing.assert_array_equal(shown[coef].T, view.coef)


def test_direction_of_two_classes_is_the_one_that_becomes_more_likely():
    X, y = table()
    fit = pipeline(rank=2).fit(X, y)
    view = factor_view(fit)
    shown = supervised_factors(fit)
    assert list(shown["direction"]) == ["higher → tumoral", "no effect"]
    assert list(shown["role"]) == ["predictive", "background"]
    assert list(supervised_factors(fit, rotation="variance")["role"]) == ["predictive"] * 2
    chance = fit.predict_proba(X)[:, 1]
    assert np.all(np.diff(chance[np.argsort(view.scores[:, 0])]) > 0)


def test_directions_of_several_classes_count_the_first_one(view):
    classes = ("a", "b", "c")
    for coef, direction in (
        ([-1.0, 1.0, 0.0], "higher → b, lower → a"),
        ([0.0, 2.0, -2.0], "higher → b, lower → c"),
        ([2.0, -1.0, -1.0], "higher → a, lower → b"),
        ([0.0, 0.0, 0.0], "no effect"),
    ):
        shown = replace(view, coef=np.tile(coef, (2, 1)).T, classes=classes, outputs=classes)
        assert list(supervised_factors(shown)["direction"]) == [direction] * 2


def test_direction_of_a_regression_is_the_target_it_moves_most():
    X, _ = table()
    Y = np.stack([0.1 * X["gene2"], 5 * X["gene0"]], axis=1)
    shown = supervised_factors(regressor(rank=2).fit(X - X.mean(), Y - Y.mean(axis=0)))
    assert list(shown)[3:] == ["coef[y0]", "coef[y1]", "direction"]
    assert shown["direction"][1] == "higher → larger y1"


# --- top_features -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "rotation", "by"),
    [(1, None, "correlation"), (3, "varimax", "weight"), (100, "varimax", "correlation")],
)
def test_ends_are_those_of_a_full_sort(n, rotation, by):
    X, y = table(p=12)
    fit = pipeline(rank=3).fit(X, y)
    shown = top_features(fit, n, rotation=rotation, by=by)
    view = factor_view(fit, rotation=rotation)
    expected = []
    for j in range(3):
        weights = view.weights[j] / np.abs(view.weights[j]).max()
        rows = list(zip(view.features, view.correlations[j], weights, strict=True))
        rows.sort(key=lambda row: row[1 if by == "correlation" else 2])
        sign = [row[1 if by == "correlation" else 2] for row in rows]
        high = [row for row, s in zip(rows[::-1], sign[::-1], strict=True) if s > 0][:n]
        low = [row for row, s in zip(rows, sign, strict=True) if s < 0][:n]
        for end, chosen in (("high", high), ("low", low)):
            expected += [(j + 1, end, k, *row, row[1] * row[2] < 0) for k, row in enumerate(chosen, 1)]
    columns = ["factor", "end", "rank", "feature", "correlation", "weight", "disagrees"]
    pd.testing.assert_frame_equal(shown, pd.DataFrame(expected, columns=columns))


def test_features_are_at_the_end_of_their_correlation(view):
    """Unless weights are asked for; where both differ in sign, the row says so."""
    rows, weights = [[0.9, 0.4, -0.6, 0.2]] * 2, [[0.5, -1.0, -0.5, 0.0]] * 2
    shown = top_features(with_correlations(view, rows, weights)).query("factor == 1")
    assert list(shown["feature"]) == ["g0", "g1", "g3", "g2"]
    assert np.all((shown["correlation"] > 0) == (shown["end"] == "high"))
    assert list(shown["disagrees"]) == [False, True, False, False]
    shown = top_features(with_correlations(view, rows, weights), by="weight").query("factor == 1")
    assert list(shown["feature"]) == ["g0", "g1", "g2"]
    assert list(shown["end"]) == ["high", "low", "low"]
    with pytest.raises(ValueError, match="by='size': 'correlation' or 'weight'"):
        top_features(view, by="size")


def test_ties_are_in_the_order_of_the_columns(view):
    shown = top_features(with_correlations(view, [[0.5, 1, -1, 0.5, -1, 0.5, 1]] * 2), 3)
    assert len(top_features(with_correlations(view, np.zeros((2, 4))))) == 0
    first = shown[shown["factor"] == 1]
    assert list(first["feature"]) == ["g1", "g6", "g0", "g2", "g4"]
    assert list(first["rank"]) == [1, 2, 3, 1, 2]


def test_markers_are_noted(view, tmp_path):
    name = str(view.features[np.argmax(view.correlations[0])])
    file = tmp_path / "markers.csv"
    file.write_text(f"feature,note\n{name},known since 1990\nunknown,nothing\n")
    shown = top_features(view, markers=file)
    assert list(shown)[-2:] == ["disagrees", "note"]
    assert set(shown.loc[shown["feature"] == name, "note"]) == {"known since 1990"}
    assert set(shown.loc[shown["feature"] != name, "note"]) == {""}


def test_bad_n(view):
    for n, error in ((0, ValueError), (-1, ValueError), (2.5, TypeError), (True, ValueError)):
        with pytest.raises(error, match=f"n={n}: an integer >= 1 is required"):
            top_features(view, n)


def test_roles_with_held_out_samples():
    """Labels that mean nothing: in the training samples a factor carries them all the same."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 200)), np.arange(40) % 2
    model = SMFClassifier(2).fit(X, y)
    assert supervised_factors(model)["role"].tolist() == ["predictive", "background"]
    held = held_out_scores(model, X, y)
    table = supervised_factors(model, held_out=held)
    assert table["role"].tolist() == ["not shown", "background"]
    np.testing.assert_array_equal(table["AUC"], held.own)
    np.testing.assert_array_equal(table["held_out_contribution"], held.contribution)
