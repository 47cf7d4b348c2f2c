import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import Circle
from tests.plotting.drawing.texts import assert_readable
from tests.plotting.models import ODD_NAMES, cancer, made_view, odd_frame, wine

from superfactor import SMFClassifier
from superfactor.interpretation import factor_view
from superfactor.plotting import CorrelationCircleDisplay


def places(display):
    """Points (k, 2), the named ones first."""
    return np.concatenate([points.get_offsets() for points in display.points_.values()])


def names(display):
    return {text.get_text() for text in display.ax_.texts if text.get_text()}


@pytest.mark.parametrize("factors", [(1, 2), (3, 1)])
def test_points_are_numpys_correlations_with_the_scores(factors):
    X, _, model = wine()
    display = CorrelationCircleDisplay.from_estimator(model, factors=factors, n=2)
    scores = factor_view(model).scores[:, [j - 1 for j in factors]]
    expected = np.array([[np.corrcoef(X[name], score)[0, 1] for score in scores.T] for name in X])
    np.testing.assert_allclose(display.correlations, expected, atol=1e-8)
    assert sorted(display.features_) == list(range(13))
    largest = {i for column in expected.T for i in np.argsort(-np.abs(column))[:2]}
    assert names(display) == {X.columns[i] for i in largest}
    found = places(display)
    ordered = np.concatenate(
        [[expected[i] for i in display.features_ if (i in largest) == on] for on in (True, False)]
    )
    np.testing.assert_allclose(found, ordered, atol=1e-8)
    assert display.ax_.get_xlabel().startswith(f"correlation with factor {factors[0]} (")
    assert display.ax_.get_ylabel().startswith(f"correlation with factor {factors[1]}\n(")


def test_the_plane_is_a_true_circle_with_all_points_in_it():
    _, _, model = cancer()
    display = CorrelationCircleDisplay.from_estimator(model)
    display.figure_.canvas.draw()
    circles = [artist for artist in display.ax_.patches if isinstance(artist, Circle)]
    assert [circle.radius for circle in circles] == [0.5, 1.0]
    unit = np.diff(display.ax_.transData.transform([[0, 0], [1, 1]]), axis=0)[0]
    assert unit[0] == pytest.approx(unit[1], rel=0.01)
    # Scores are uncorrelated: what goes with both is no more than all there is.
    assert np.all(np.hypot(*places(display).T) <= 1 + 1e-9)


def test_a_cutoff_omits_features_near_the_centre():
    _, _, model = cancer()
    display = CorrelationCircleDisplay.from_estimator(model, cutoff=0.6)
    far = np.hypot(*display.correlations.T)
    assert set(display.features_) == set(np.flatnonzero(far >= 0.6))
    assert np.all(np.diff(far[display.features_]) <= 0)
    assert len(places(display)) == len(display.features_) < 30
    said = display.figure_.get_suptitle()
    assert f"{len(display.features_)} of 30 features at a distance of at least 0.6" in said
    nothing = CorrelationCircleDisplay.from_estimator(model, cutoff=1.0)
    assert nothing.features_ == [] and not names(nothing)


def test_uncorrelated_features_have_no_name():
    view = made_view(2)
    view.correlations[:, 2:] = 0
    display = CorrelationCircleDisplay.from_estimator(view, n=30)
    assert names(display) == {"gene 0", "gene 1"}
    assert len(display.features_) == 60


@pytest.mark.parametrize("n", [1, 12])
def test_names_of_all_kinds_are_readable(n):
    X, y = odd_frame(), np.array(["a", "b"])[np.arange(60) % 2]
    model = SMFClassifier(3, max_iter=5, tol=0, certify=None).fit(X, y)
    display = CorrelationCircleDisplay.from_estimator(model, n=n)
    assert_readable(display.figure_)
    assert len(names(display)) <= len(ODD_NAMES)


def test_the_users_axes_look_and_rotation():
    _, _, model = cancer()
    figure, ax = plt.subplots()
    turned = {"rotation": "variance", "positive": "benign"}
    display = CorrelationCircleDisplay.from_estimator(model, ax=ax, s=7.0, color="red", **turned)
    assert display.ax_ is ax and display.figure_ is figure
    assert display.points_["others"].get_sizes()[0] == 7
    expected = factor_view(model, **turned).correlations[:2].T
    np.testing.assert_array_equal(display.correlations, expected)


def test_bad_input_is_named_in_one_line():
    _, _, model = cancer()
    for arguments, line in [
        ({"factors": 1}, "factors=1: two factors are required"),
        ({"factors": (1, 9)}, r"factors=\(1, 9\): one or two integers"),
        ({"n": 0}, "n=0: an integer >= 1"),
        ({"cutoff": 1.5}, "cutoff=1.5: a number from 0 to 1 is required"),
        ({"cutoff": "half"}, "cutoff='half': a number from 0 to 1 is required"),
        ({"rotation": "promax"}, "rotation='promax'"),
    ]:
        with pytest.raises(ValueError, match=line) as caught:
            CorrelationCircleDisplay.from_estimator(model, **arguments)
        assert "\n" not in str(caught.value)
