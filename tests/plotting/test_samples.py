from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from tests.estimators.data import patients, structured
from tests.plotting.models import cancer, made_view, wine

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival
from superfactor.interpretation import factor_view, held_out_scores
from superfactor.plotting import BiplotDisplay, HeatmapDisplay, SamplesDisplay
from superfactor.plotting.drawing.palette import COLORS


def places(display):
    """All points (n, 2), class after class."""
    return np.concatenate([np.asarray(points.get_offsets()) for points in display.points_.values()])


def by_class(values, y):
    return np.concatenate([values[y == label] for label in np.unique(y)])


@pytest.mark.parametrize(("factors", "rotation"), [((1, 2), None), ((3, 1), "varimax")])
def test_training_samples_have_their_scores(factors, rotation):
    X, y, model = wine()
    scores = factor_view(model, rotation=rotation).scores[:, [j - 1 for j in factors]]
    for data in (None, X):  # filter scores of the training samples are those of new ones
        display = SamplesDisplay.from_estimator(
            model, data, y, factors=factors, rotation=rotation, samples="training"
        )
        np.testing.assert_allclose(places(display), by_class(scores, y), atol=1e-8)
        said = display.figure_.get_suptitle().replace("\n", " ")
        assert "was fitted to their labels, and can separate them even if labels are random" in said
        assert not display.ellipses_


def test_training_data_is_shown_held_out():
    X, y, model = wine()
    turned = {"rotation": "varimax", "positive": "class_2"}
    held = held_out_scores(model, X, y, **turned)
    order = np.random.default_rng(0).permutation(len(y))  # in any order
    display = SamplesDisplay.from_estimator(model, X.iloc[order], y[order])
    assert display.said == "Held-out samples: each score comes from a model fitted without the sample."
    assert len(display.ellipses_) == 3
    display = SamplesDisplay.from_estimator(model, X, y, **turned)
    np.testing.assert_allclose(places(display), by_class(held.scores[:, :2], y))
    given = SamplesDisplay.from_estimator(model, y=y, held_out=held, **turned)
    np.testing.assert_allclose(places(given), places(display))
    alone = f"AUC of {held.own_of[0]} {held.own[0]:.2f}, held out"
    assert display.ax_.get_xlabel().split("\n")[1] == alone


def test_held_out_scores_are_those_of_a_model_without_the_sample():
    """By hand, with one factor: the sign and the unit are all that the alignment can change."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 6)), np.array(["a", "b"])[np.arange(40) % 2]
    X[y == "b", 0] += 2
    model = SMFClassifier(1).fit(X, y)
    held = held_out_scores(model, X, y)
    display = SamplesDisplay.from_estimator(model, X, y)
    shown = np.empty(40)
    for name, points in display.points_.items():
        shown[y == name] = points.get_offsets()[:, 0]
    for fold in np.unique(held.fold):
        out = held.fold == fold
        again = SMFClassifier(1).fit(X[~out], y[~out])
        inside, outside = again.transform(X[~out])[:, 0], again.transform(X[out])[:, 0]
        expected = (outside - inside.mean()) / inside.std()
        np.testing.assert_allclose(np.abs(shown[out]), np.abs(expected), rtol=1e-6, atol=1e-8)


def test_shuffled_labels_are_not_separated():
    """Two hundred features of noise separate forty training samples, and no others."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((40, 200)), np.array(["a", "b"])[np.arange(40) % 2]
    fit = SMFClassifier(2, model="feature").fit(X, y)
    display = SamplesDisplay.from_estimator(fit, X, y)
    assert "not shown to predict the classes, so they are not outlined" in display.said
    assert list(display.points_) == ["a", "b"] and not display.ellipses_
    apart = [np.asarray(points.get_offsets())[:, 0] for points in display.points_.values()]
    assert abs(apart[0].mean() - apart[1].mean()) < 0.6
    seen = SamplesDisplay.from_estimator(fit, X, y, samples="training", ellipses=True)
    assert len(seen.ellipses_) == 2 and "was fitted to their labels" in seen.said
    apart = [np.asarray(points.get_offsets())[:, 0] for points in seen.points_.values()]
    assert abs(apart[0].mean() - apart[1].mean()) > 1


def test_axes_name_factors_that_are_not_shown_to_predict():
    X, y, model = wine()
    held = held_out_scores(model, X, y)
    shown = SamplesDisplay.from_estimator(model, y=y, held_out=held)
    assert shown.factors[0].startswith("factor 1 (") and "not shown" not in shown.factors[0]
    useless = replace(held, predictive=np.zeros(3, dtype=bool))
    for told in ({"held_out": useless}, {"held_out": held, "predicts": False}, {"predicts": False}):
        display = SamplesDisplay.from_estimator(model, y=y, **told)
        assert display.factors[0].startswith("factor 1 (not shown, ")


def test_the_verdict_of_the_user():
    X, y, model = wine()
    held = held_out_scores(model, X, y)
    display = SamplesDisplay.from_estimator(model, y=y, held_out=held, predicts=False)
    assert not display.ellipses_ and "not shown to predict" in display.said
    useless = replace(held, predictive=np.zeros(3, dtype=bool), explained=0.0)
    assert not SamplesDisplay.from_estimator(model, y=y, held_out=useless).ellipses_
    sure = SamplesDisplay.from_estimator(model, y=y, held_out=useless, predicts=True)
    assert len(sure.ellipses_) == 3 and "not shown" not in sure.said


def test_other_samples_are_new_only_if_requested():
    X, y, model = wine()
    model = clone(model).fit(X[::2], y[::2])
    display = SamplesDisplay.from_estimator(model, X[1::2], y[1::2])
    assert display.said.startswith("Samples as given: if the model was fitted to them")
    assert not display.ellipses_
    new = SamplesDisplay.from_estimator(model, X[1::2], y[1::2], samples="new")
    assert new.said == "New samples: the model was fitted without them."
    assert len(new.ellipses_) == 3
    np.testing.assert_array_equal(places(new), places(display))
    assert "held out" not in new.ax_.get_xlabel()


def test_training_data_with_weights_and_without_labels():
    X, y, _ = wine()
    X = ((X - X.mean()) / X.std()).to_numpy()
    some = np.where(np.arange(len(y)) % 5 == 0, None, y)
    fit = SMFClassifier(2, model="feature").fit(X, some)
    assert SamplesDisplay.from_estimator(fit, X, some).said.startswith("Held-out")
    fit = SMFClassifier(2).fit(X, y, sample_weight=np.linspace(1, 2, len(y)))
    assert SamplesDisplay.from_estimator(fit, X, y).said.startswith("Held-out")
    for factors in ((1, 2), 1):  # and without any labels
        display = SamplesDisplay.from_estimator(fit, X, factors=factors)
        assert len(display.points_["all"].get_offsets()) == len(X) and display.ax_.get_legend() is None


def test_colours_and_shapes_distinguish_classes():
    X, y = (part[:300] for part in load_digits(return_X_y=True))
    model = SMFClassifier(2, lam=10.0, max_iter=2, tol=0, certify=None).fit(X - X.mean(0), y)
    display = SamplesDisplay.from_estimator(model, X - X.mean(0), y)
    assert list(display.points_) == [str(k) for k in range(10)]
    looks = set()
    for k, points in enumerate(display.points_.values()):
        assert len(points.get_offsets()) == np.sum(y == k)
        face = points.get_facecolor()
        color = to_hex(face[0] if len(face) else points.get_edgecolor()[0])
        assert color.upper() == COLORS[k]
        looks.add((color, len(face), points.get_paths()[0].vertices.tobytes()))
    assert len(looks) == 10
    assert len({shape for _, _, shape in looks}) == 10  # also in grey
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == list(display.points_)


def test_one_factor_has_a_row_per_class():
    X, y, _ = wine()
    model = SMFClassifier(1).fit((X - X.mean()) / X.std(), y)
    display = SamplesDisplay.from_estimator(model, None, y)
    scores = factor_view(model).scores[:, 0]
    np.testing.assert_allclose(places(display)[:, 0], by_class(scores, y))
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == sorted(set(y))
    for place, points in zip(display.ax_.get_yticks(), display.points_.values(), strict=True):
        assert np.all(np.abs(points.get_offsets()[:, 1] - place) < 0.5)


def test_unknown_labels_come_last():
    X, y, model = cancer()
    y = y.astype(object)
    y[:7] = "a third kind"
    display = SamplesDisplay.from_estimator(model, X, y)
    assert list(display.points_) == ["benign", "malignant", "a third kind"]
    assert len(display.points_["a third kind"].get_offsets()) == 7
    assert display.said.startswith("Training samples: the model was fitted to their labels")


@pytest.mark.parametrize("factors", [(1, 2), 1], ids=["legend", "rows"])
def test_labels_are_literal(factors):
    labels = ["$a$ and $b$", "_hidden"]
    view = replace(made_view(2), classes=tuple(labels), outputs=("_hidden",))
    display = SamplesDisplay.from_estimator(view, y=np.array(labels * 20), factors=factors)
    legend = display.ax_.get_legend()
    texts = legend.get_texts() if legend else display.ax_.get_yticklabels()
    assert [text.get_text() for text in texts] == labels
    assert not any(text.get_parse_math() for text in texts)


def test_covariates_are_required_for_held_out_samples_only():
    X, y, _ = cancer()
    X, y = ((X - X.mean()) / X.std())[:120], y[:120]
    ages = np.arange(len(X))[:, None] / len(X)
    model = SMFClassifier(2).fit(X, y, covariates=ages)
    plain = SamplesDisplay.from_estimator(model, X, y, samples="training")
    given = SamplesDisplay.from_estimator(model, X, y, covariates=ages, samples="training")
    np.testing.assert_array_equal(places(plain), places(given))
    held = SamplesDisplay.from_estimator(model, X, y, covariates=ages)
    expected = held_out_scores(model, X, y, covariates=ages).scores[:, :2]
    np.testing.assert_allclose(places(held), by_class(expected, y))


def test_regression_is_coloured_by_the_target():
    X, y = (part[:120] for part in load_diabetes(return_X_y=True))
    model = SMFRegressor(2, lam=1e-3).fit(X, y)
    display = SamplesDisplay.from_estimator(model, X, y[:, None])
    np.testing.assert_array_equal(display.points_["all"].get_array(), y)
    np.testing.assert_allclose(places(display), held_out_scores(model, X, y).scores[:, :2])
    assert len(display.figure_.axes) == 2  # with a colour bar
    assert "correlation 0." in display.ax_.get_xlabel()
    shuffled = np.random.default_rng(0).permutation(y)
    nothing = SamplesDisplay.from_estimator(SMFRegressor(2).fit(X, shuffled), X, shuffled)
    assert "not shown to predict y." in nothing.said
    line = SamplesDisplay.from_estimator(model, X, y, factors=2, samples="training")
    np.testing.assert_array_equal(line.points_["all"].get_offsets()[:, 1], y)


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
        ({"samples": "all"}, "samples='all': one of 'auto', 'held_out', 'training', 'new'"),
        ({"samples": "held_out", "y": None}, "samples='held_out': X and y, or held_out, are"),
        ({"ellipses": "some"}, "ellipses='some': 'auto', True or False is required"),
    ],
    ids=lambda value: None if isinstance(value, str) else repr(value),
)
def test_bad_input_is_named_in_one_line(arguments, line):
    X, y, model = wine()
    with pytest.raises(ValueError, match=line) as caught:
        SamplesDisplay.from_estimator(model, X, **{"y": y} | arguments)
    assert "\n" not in str(caught.value)


def test_a_view_cannot_score_other_samples():
    with pytest.raises(ValueError, match="X: None is required with a FactorView"):
        SamplesDisplay.from_estimator(made_view(2), np.ones((3, 60)))
    with pytest.raises(ValueError, match="samples='new': X is required"):
        SamplesDisplay.from_estimator(made_view(2), samples="new")


def test_an_ellipse_holds_95_percent_of_a_normal_class():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((20_000, 2)) @ [[2.0, 1.0], [0.0, 0.5]] + [3.0, -1.0]
    y = np.full(20_000, "a", dtype=object)
    y[:4] = "few"
    display = SamplesDisplay(scores, y, factors=["1", "2"], classes=["a", "few"]).plot()
    assert list(display.ellipses_) == ["a"]
    patch = display.ellipses_["a"]
    inside = patch.get_path().contains_points(patch.get_patch_transform().inverted().transform(scores))
    assert abs(inside.mean() - 0.95) < 0.005
    assert not SamplesDisplay(scores, y, factors=["1", "2"], classes=["a"]).plot(ellipses=False).ellipses_


def test_survival_times_are_colours_and_hollow_where_censored():
    X, y, _ = patients(n=80)
    model = SMFSurvival(2, xi=0.1, lam=1.0, certify=None).fit(X, y)
    display = SamplesDisplay.from_estimator(model, X, structured(y))
    assert list(display.points_) == ["event", "censored"]
    for points, mine in zip(display.points_.values(), (y[:, 0] == 1, y[:, 0] == 0), strict=True):
        np.testing.assert_array_equal(points.get_array(), y[mine, 1])
        assert points.norm.vmax == y[:, 1].max()
    display.figure_.canvas.draw()
    assert len(display.points_["event"].get_facecolor()) == np.sum(y[:, 0])
    hollow = display.points_["censored"]
    assert len(hollow.get_facecolor()) == 0
    np.testing.assert_allclose(
        hollow.get_edgecolor()[:, :3], hollow.cmap(hollow.norm(y[y[:, 0] == 0, 1]))[:, :3]
    )
    assert "concordance" in display.ax_.get_xlabel()
    flat = SamplesDisplay.from_estimator(model, X, y, factors=1, samples="training")
    np.testing.assert_array_equal(places(flat)[:, 1], np.concatenate([y[y[:, 0] == e, 1] for e in (1, 0)]))
    shuffled = y[np.random.default_rng(0).permutation(len(y))]
    nothing = SMFSurvival(2, xi=0.1, lam=1.0, certify=None).fit(X, shuffled)
    assert "not shown to predict the risk." in SamplesDisplay.from_estimator(nothing, X, shuffled).said
    some = y.copy()
    some[:5] = np.nan
    model = SMFSurvival(2, xi=0.1, lam=1.0, certify=None).fit(X, some)
    for factors in (1, (1, 2)):
        display = SamplesDisplay.from_estimator(model, X, some, factors=factors, samples="training")
        assert len(display.points_["not known"].get_offsets()) == 5
    by_time = SamplesDisplay.from_estimator(model, X, y[:, 1])  # numbers are numbers
    assert list(by_time.points_) == ["all"] and by_time.said.startswith("Training")
    HeatmapDisplay.from_estimator(model, X, y)
    BiplotDisplay.from_estimator(model, X, y, samples="training")


def test_in_the_users_axes_the_caption_is_under_them():
    X, y, model = wine()
    figure, ax = plt.subplots()
    display = SamplesDisplay.from_estimator(model, X, y, samples="training", ax=ax)
    assert figure.get_suptitle() == "" and ax.get_title(loc="left") == ""
    assert ax.get_xlabel().replace("\n", " ").endswith(display.said)


@pytest.mark.parametrize("n", [5, 40])
def test_ellipses_hold_95_percent_of_new_samples_of_small_classes(n):
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(300):
        fig, ax = plt.subplots()
        scores = rng.standard_normal((n, 2))
        display = SamplesDisplay(scores, np.repeat("a", n), factors=["1", "2"], classes=["a"]).plot(ax)
        (own,) = display.ellipses_.values()
        turned = np.exp(-1j * np.radians(own.angle)) * (
            (rng.standard_normal(20) - own.center[0]) + 1j * (rng.standard_normal(20) - own.center[1])
        )
        inside += ((turned.real / own.width) ** 2 + (turned.imag / own.height) ** 2 <= 0.25).tolist()
        plt.close(fig)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)
