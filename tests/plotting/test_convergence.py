import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.plotting.models import cancer

from superfactor import SMFClassifier
from superfactor.plotting import ConvergenceDisplay

HISTORY = {"objective": [9.0, 5.0, 4.5, 4.0], "seconds": [0.1, 0.3, 0.4, 0.9], "step": [1.0] * 4}


@pytest.fixture(scope="module")
def fits():
    X, y, _ = cancer()
    X = ((X - X.mean()) / X.std()).to_numpy()
    return {
        name: SMFClassifier(2, solver=name, max_iter=30, tol=0, certify=None).fit(X, y)
        for name in ("lpgd", "bcd")
    }


def test_objective_above_the_best_on_a_logarithmic_scale(fits):
    display = ConvergenceDisplay.from_estimator(fits["lpgd"])
    objective = np.array(fits["lpgd"].history_["objective"])
    x, y = display.lines_[""].get_data()
    np.testing.assert_array_equal(x, np.arange(1, len(objective)))  # the best itself is at −∞
    np.testing.assert_allclose(y, objective[:-1] - objective[-1])
    assert display.ax_.get_yscale() == "log"
    assert display.ax_.get_legend() is None


def test_plain_objective_against_seconds(fits):
    history = fits["bcd"].history_
    display = ConvergenceDisplay.from_estimator(fits["bcd"], x="seconds", value="objective")
    np.testing.assert_array_equal(display.lines_[""].get_xdata(), history["seconds"])
    np.testing.assert_array_equal(display.lines_[""].get_ydata(), history["objective"])
    assert display.ax_.get_yscale() == "linear"


def test_several_fits_and_a_common_best(fits):
    best = min(fit.objective_ for fit in fits.values()) - 1.0
    display = ConvergenceDisplay.from_estimator(fits, best=best)
    for name, fit in fits.items():
        expected = np.array(fit.history_["objective"]) - best
        np.testing.assert_allclose(display.lines_[name].get_ydata(), expected)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["lpgd", "bcd"]
    assert len({line.get_color() for line in display.lines_.values()}) == 2
    assert len({line.get_marker() for line in display.lines_.values()}) == 2


def test_one_iteration_is_a_point_and_no_logarithm():
    display = ConvergenceDisplay({"": {"objective": [3.0], "seconds": [0.1]}}).plot()
    assert display.lines_[""].get_ydata().tolist() == [0.0]
    assert display.ax_.get_yscale() == "linear"


@pytest.mark.parametrize(
    "arguments, line",
    [({"x": "minutes"}, "x='minutes': one of 'iteration', 'seconds'"), ({"value": "loss"}, "value='loss'")],
    ids=["x", "value"],
)
def test_bad_words(arguments, line):
    with pytest.raises(ValueError, match=line):
        ConvergenceDisplay({"": HISTORY}).plot(**arguments)


def test_bad_models():
    with pytest.raises(ValueError, match=r"model=\{\}: at least one fitted model"):
        ConvergenceDisplay.from_estimator({})
    with pytest.raises(TypeError, match="model=LogisticRegression"):
        ConvergenceDisplay.from_estimator({"a": LogisticRegression()})
