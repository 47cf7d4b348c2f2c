import numpy as np
import pytest
from sklearn.datasets import load_digits
from tests.plotting.models import cancer, wine

from superfactor import SMFClassifier
from superfactor.plotting import ScreeDisplay
from superfactor.selection import SMFClassifierCV, scree


def shares(X):
    """Percent of the sum of squares in each direction of the centred X."""
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    return 100 * values**2 / np.sum(values**2)


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_the_line_is_the_share_of_each_direction():
    X, _ = load_digits(return_X_y=True)
    display = ScreeDisplay.from_data(X, n_values=20)
    np.testing.assert_array_equal(display.line_.get_xdata(), np.arange(1, 21))
    np.testing.assert_allclose(display.line_.get_ydata(), shares(X)[:20])


def test_the_elbow_is_marked_on_the_line():
    X, _ = load_digits(return_X_y=True)
    found = scree(X)
    display = ScreeDisplay.from_scree(found)
    (x,), (y,) = display.elbow_.get_data()
    assert (x, y) == (found.elbow, pytest.approx(shares(X)[found.elbow - 1]))
    together = shares(X)[: found.elbow].sum()
    assert legend(display) == [f"elbow: {found.elbow} factors, {together:.0f} %"]


def test_a_model_shows_its_preprocessed_data_and_its_rank():
    X, _, model = wine()
    display = ScreeDisplay.from_estimator(model, X)
    standard = ((X - X.mean()) / X.std()).to_numpy()
    np.testing.assert_allclose(display.line_.get_ydata(), shares(standard))
    rank, elbow = 3, display.scree.elbow
    assert [entry.split(",")[0] for entry in legend(display)] == (
        [f"elbow: {elbow} factors"] + [f"model: {rank} factors"] * (rank != elbow)
    )


def test_covariate_columns_do_not_count():
    X, y, _ = cancer()
    X = (X - X.mean()) / X.std()
    model = SMFClassifier(2, covariate_columns=["mean radius", "area error"]).fit(X, y)
    display = ScreeDisplay.from_estimator(model, X)
    kept = X.drop(columns=["mean radius", "area error"]).to_numpy()
    np.testing.assert_allclose(display.line_.get_ydata(), shares(kept))


def test_a_search_stores_its_scree():
    X, y, _ = wine()
    search = SMFClassifierCV(xi=1.0, lam=1.0, cv=2, preprocess="standardize").fit(X, y)
    display = ScreeDisplay.from_estimator(search)
    assert display.scree is search.scree_
    assert display.elbow_.get_xdata()[0] == search.scree_.elbow


def test_a_model_alone_has_no_scree():
    with pytest.raises(ValueError, match=r"X=None: the training data are required.* Pipeline"):
        ScreeDisplay.from_estimator(wine()[2])
