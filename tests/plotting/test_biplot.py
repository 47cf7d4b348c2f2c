import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.plotting.models import ODD_NAMES, cancer, made_view, odd_frame, wine
from tests.plotting.texts import assert_readable

from superfactor import SMFClassifier
from superfactor.interpretation import factor_view
from superfactor.plotting import BiplotDisplay


def test_samples_stand_at_their_codes_and_arrows_point_along_the_weights():
    X, y, model = wine()
    display = BiplotDisplay.from_estimator(model, X, y, n=4, factors=(1, 3))
    view = factor_view(model)
    points = np.concatenate([p.get_offsets() for p in display.samples.points_.values()])
    codes = np.concatenate([view.codes[y == name][:, [0, 2]] for name in np.unique(y)])
    np.testing.assert_allclose(points, codes, atol=1e-8)
    reach = np.abs(codes).max(axis=0)
    expected = {i for j in (0, 2) for i in np.argsort(-np.abs(view.scaled[j]), kind="stable")[:4]}
    assert set(display.arrows_) == {view.features[i] for i in expected}
    for name, arrow in display.arrows_.items():
        i = list(view.features).index(name)
        _, end = arrow._posA_posB
        np.testing.assert_allclose(end, 0.9 * reach * view.scaled[[0, 2], i])


def test_everything_drawn_is_within_the_axes():
    X, y, model = cancer()
    display = BiplotDisplay.from_estimator(model, X, y)
    (left, right), (low, high) = display.ax_.get_xlim(), display.ax_.get_ylim()
    for arrow in display.arrows_.values():
        x, y = arrow._posA_posB[1]
        assert left < x < right and low <= y <= high


@pytest.mark.parametrize("n", [1, 12])
def test_names_of_all_kinds_are_readable(n):
    X = odd_frame()
    y = np.array(["$healthy$ control with a very long class name", "_b"])[np.arange(60) % 2]
    model = SMFClassifier(3, max_iter=5, tol=0, certify=None).fit(X, y)
    display = BiplotDisplay.from_estimator(model, X, y, n=n)
    assert_readable(display.figure_)
    assert set(display.arrows_) <= set(ODD_NAMES)


def test_many_features_are_readable():
    view = made_view(3)
    y = np.array(["class 0", "class 1"] * 20)
    assert_readable(BiplotDisplay.from_estimator(view, y=y, n=20).figure_)


def test_the_users_axes_rotation_and_bad_input():
    X, y, model = cancer()
    _, ax = plt.subplots()
    display = BiplotDisplay.from_estimator(
        model, X, y, n=2, rotation="variance", positive="benign", ellipse=False, ax=ax
    )
    assert display.ax_ is ax
    assert not display.samples.ellipses_
    view = factor_view(model, rotation="variance", positive="benign")
    np.testing.assert_allclose(display.samples.codes, view.codes[:, :2], atol=1e-8)
    for arguments, line in [
        ({"factors": 1}, "factors=1: a biplot needs two factors"),
        ({"factors": (1, 9)}, r"factors=\(1, 9\): one or two integers"),
        ({"n": 0}, "n=0: an integer >= 1"),
        ({"rotation": "promax"}, "rotation='promax'"),
        ({"positive": "cured"}, "positive='cured'"),
    ]:
        with pytest.raises(ValueError, match=line):
            BiplotDisplay.from_estimator(model, X, y, **arguments)
