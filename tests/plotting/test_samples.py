from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.datasets import load_diabetes, load_digits
from tests.estimators.patients import patients, structured
from tests.plotting.models import cancer, made_view, wine

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival
from superfactor.interpretation import factor_view
from superfactor.plotting import BiplotDisplay, HeatmapDisplay, SamplesDisplay
from superfactor.plotting.drawing import COLORS


def places(display):
    """All points (n, 2), class after class."""
    return np.concatenate([np.asarray(points.get_offsets()) for points in display.points_.values()])


def by_class(values, y):
    return np.concatenate([values[y == label] for label in np.unique(y)])


@pytest.mark.parametrize("rotation", [None, "varimax"])
@pytest.mark.parametrize("factors", [(1, 2), (3, 1)])
def test_samples_stand_at_their_codes(factors, rotation):
    X, y, model = wine()
    codes = factor_view(model, rotation=rotation).codes[:, [j - 1 for j in factors]]
    for data in (None, X):  # filter codes of the training samples are those of new ones
        display = SamplesDisplay.from_estimator(model, data, y, factors=factors, rotation=rotation)
        np.testing.assert_allclose(places(display), by_class(codes, y), atol=1e-8)


def test_new_samples_of_the_feature_model():
    """Codes and atoms of the plot give the projection of X on the span of the atoms."""
    X, y, _ = wine()
    X = ((X - X.mean()) / X.std()).to_numpy()
    model = SMFClassifier(2, model="feature", lam=0.1).fit(X[::2], y[::2])
    display = SamplesDisplay.from_estimator(model, X[1::2], y[1::2])
    atoms = model.components_
    expected = X[1::2] @ np.linalg.pinv(atoms) @ atoms
    found = places(display) @ factor_view(model).weights
    np.testing.assert_allclose(found, by_class(expected, y[1::2]), atol=1e-8)


def test_colours_and_shapes_tell_classes_apart():
    X, y = (part[:300] for part in load_digits(return_X_y=True))
    model = SMFClassifier(2, lam=10.0, max_iter=2, tol=0, certify=None).fit(X - X.mean(0), y)
    display = SamplesDisplay.from_estimator(model, X - X.mean(0), y)
    assert list(display.points_) == [str(k) for k in range(10)]
    looks = set()
    for k, points in enumerate(display.points_.values()):
        assert len(points.get_offsets()) == np.sum(y == k)
        face = points.get_facecolor()
        color = to_hex(face[0] if len(face) else points.get_edgecolor()[0])
        assert color.upper() == COLORS[k % 8]
        looks.add((color, len(face), points.get_paths()[0].vertices.tobytes()))
    assert len(looks) == 10
    assert len({shape for _, _, shape in looks}) == 10  # also in grey
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == list(display.points_)


def test_one_factor_has_a_row_per_class():
    X, y, _ = wine()
    model = SMFClassifier(1).fit((X - X.mean()) / X.std(), y)
    display = SamplesDisplay.from_estimator(model, None, y)
    codes = factor_view(model).codes[:, 0]
    np.testing.assert_allclose(places(display)[:, 0], by_class(codes, y))
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == sorted(set(y))
    for place, points in zip(display.ax_.get_yticks(), display.points_.values(), strict=True):
        assert np.all(np.abs(points.get_offsets()[:, 1] - place) < 0.5)


def test_labels_the_model_does_not_know_come_last():
    X, y, model = cancer()
    y = y.astype(object)
    y[:7] = "a third kind"
    display = SamplesDisplay.from_estimator(model, X, y)
    assert list(display.points_) == ["benign", "malignant", "a third kind"]
    assert len(display.points_["a third kind"].get_offsets()) == 7


@pytest.mark.parametrize("factors", [(1, 2), 1], ids=["legend", "rows"])
def test_labels_are_shown_as_they_are(factors):
    labels = ["$a$ and $b$", "_hidden"]
    view = replace(made_view(2), classes=tuple(labels), outputs=("_hidden",))
    display = SamplesDisplay.from_estimator(view, y=np.array(labels * 20), factors=factors)
    legend = display.ax_.get_legend()
    texts = legend.get_texts() if legend else display.ax_.get_yticklabels()
    assert [text.get_text() for text in texts] == labels
    assert not any(text.get_parse_math() for text in texts)


def test_covariates_change_nothing():
    X, y, _ = cancer()
    X = (X - X.mean()) / X.std()
    ages = np.arange(len(X))[:, None] / len(X)
    model = SMFClassifier(2).fit(X, y, covariates=ages)
    plain = SamplesDisplay.from_estimator(model, X, y)
    given = SamplesDisplay.from_estimator(model, X, y, covariates=ages)
    np.testing.assert_array_equal(places(plain), places(given))


def test_regression_is_coloured_by_the_target():
    X, y = load_diabetes(return_X_y=True)
    model = SMFRegressor(2, lam=1e-3).fit(X, y)
    display = SamplesDisplay.from_estimator(model, X, y[:, None])
    np.testing.assert_array_equal(display.points_["all"].get_array(), y)
    assert len(display.figure_.axes) == 2  # with a colour bar
    line = SamplesDisplay.from_estimator(model, X, y, factors=2)
    np.testing.assert_array_equal(line.points_["all"].get_offsets()[:, 1], y)


def test_samples_without_labels():
    X, _, model = cancer()
    for factors in ((1, 2), 1):
        display = SamplesDisplay.from_estimator(model, X, factors=factors)
        assert len(display.points_["all"].get_offsets()) == len(X)
        assert display.ax_.get_legend() is None


def test_in_the_users_axes_with_the_users_look():
    _, ax = plt.subplots()
    view = made_view(2)
    y = np.array(["class 0", "class 1"] * 20)
    display = SamplesDisplay.from_estimator(view, y=y, ax=ax, s=np.full(20, 7.0), alpha=0.3)
    assert display.ax_ is ax and display.figure_ is ax.figure
    assert display.points_["class 1"].get_sizes()[0] == 7
    assert display.points_["class 1"].get_alpha() == 0.3


@pytest.mark.parametrize(
    "arguments, line",
    [
        ({"factors": (1, 9)}, r"factors=\(1, 9\): one or two integers from 1 to 3"),
        ({"factors": 0}, "factors=0: one or two"),
        ({"factors": (1, 2, 3)}, r"factors=\(1, 2, 3\): one or two"),
        ({"factors": (True, 2)}, r"factors=\(True, 2\): one or two"),
        ({"factors": "12"}, "factors='12': one or two"),
        ({"y": ["a", "b"]}, r"y of shape \(2,\): one value for each of 178 samples"),
        ({"rotation": "quartimax"}, "rotation='quartimax'"),
    ],
    ids=lambda value: None if isinstance(value, str) else repr(value),
)
def test_bad_input_is_named_in_one_line(arguments, line):
    X, y, model = wine()
    with pytest.raises(ValueError, match=line) as caught:
        SamplesDisplay.from_estimator(model, X, **{"y": y} | arguments)
    assert "\n" not in str(caught.value)


def test_a_view_codes_no_other_samples():
    with pytest.raises(ValueError, match="X: None is required with a FactorView"):
        SamplesDisplay.from_estimator(made_view(2), np.ones((3, 60)))


def test_an_ellipse_holds_95_percent_of_a_normal_class():
    rng = np.random.default_rng(0)
    codes = rng.standard_normal((20_000, 2)) @ [[2.0, 1.0], [0.0, 0.5]] + [3.0, -1.0]
    y = np.full(20_000, "a", dtype=object)
    y[:4] = "few"
    display = SamplesDisplay(codes, y, factors=["1", "2"], classes=["a", "few"]).plot()
    assert list(display.ellipses_) == ["a"]
    patch = display.ellipses_["a"]
    inside = patch.get_path().contains_points(
        patch.get_patch_transform().inverted().transform(codes)
    )
    assert abs(inside.mean() - 0.95) < 0.005
    assert (
        not SamplesDisplay(codes, y, factors=["1", "2"], classes=["a"])
        .plot(ellipse=False)
        .ellipses_
    )


def test_axes_say_which_factor_is_background():
    X, y, model = cancer()
    display = SamplesDisplay.from_estimator(model, X, y)
    assert "background" not in display.ax_.get_xlabel()
    assert display.ax_.get_ylabel().startswith("factor 2 (background, ")
    turned = SamplesDisplay.from_estimator(model, X, y, positive="benign")
    np.testing.assert_allclose(turned.codes[:, 0], -display.codes[:, 0], atol=1e-8)


def test_of_survival_times_the_events_are_shown():
    X, y, _ = patients()
    model = SMFSurvival(2, xi=0.1, lam=1.0, certify=None).fit(X, y)
    display = SamplesDisplay.from_estimator(model, X, structured(y))
    shown = {name: len(points.get_offsets()) for name, points in display.points_.items()}
    assert shown == {"censored": np.sum(y[:, 0] == 0), "event": np.sum(y[:, 0])}
    y[:5] = np.nan
    assert list(SamplesDisplay.from_estimator(model, X, y).points_)[-1] == "not known"
    by_time = SamplesDisplay.from_estimator(model, X, y[:, 1])  # numbers are numbers
    assert by_time.classes is None
    HeatmapDisplay.from_estimator(model, X, y)
    BiplotDisplay.from_estimator(model, X, y)
