import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.cluster.hierarchy import leaves_list, linkage
from sklearn.datasets import load_diabetes
from tests.plotting.drawing.texts import assert_readable
from tests.plotting.models import cancer, odd_frame, wine

from superfactor import SMFClassifier, SMFRegressor
from superfactor.interpretation import top_features
from superfactor.plotting import HeatmapDisplay


def test_image_is_the_standardised_features_in_the_order_of_the_trees():
    X, y, model = wine()
    display = HeatmapDisplay.from_estimator(model, X, y, n=3)
    top = top_features(model, 3)
    names = list(dict.fromkeys(top[top["factor"] <= 2]["feature"]))  # two predictive factors
    assert list(display.features) == names
    Z = ((X - X.mean()) / X.std(ddof=0))[names].to_numpy().T
    np.testing.assert_allclose(
        display.image_.get_array(), Z[np.ix_(display.features_, display.samples_)], atol=1e-10
    )
    assert sorted(display.features_) == list(range(len(names)))
    assert sorted(display.samples_) == list(range(len(y)))
    links = linkage(Z.T, "ward", optimal_ordering=True)
    assert display.samples_ == list(leaves_list(links))
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels[0] and len(labels) == len(names)


def test_the_caption_names_the_selection_with_labels():
    X, y, model = cancer()
    display = HeatmapDisplay.from_estimator(model, X, y, n=4)
    assert "selected with the labels of the training samples" in display.said
    assert display.figure_.get_suptitle().replace("\n", " ") == display.said
    _, ax = plt.subplots(figsize=(7, 5), layout="constrained")
    display = HeatmapDisplay.from_estimator(model, X, y, n=4, ax=ax)
    assert display.said in ax.get_xlabel().replace("\n", " ")
    assert_readable(display.figure_)
    assert HeatmapDisplay([[1.0, 2.0]], ["a"]).plot().figure_.get_suptitle() == ""


def test_the_strip_has_the_classes_of_the_columns():
    X, y, model = wine()
    display = HeatmapDisplay.from_estimator(model, X, y, n=3)
    strips = [a for a in display.ax_.child_axes if a.get_legend() is not None]
    (strip,) = strips
    codes = strip.images[0].get_array()[0]
    order = {name: k for k, name in enumerate(np.unique(y))}
    assert list(codes) == [order[name] for name in y[display.samples_]]
    assert [t.get_text() for t in strip.get_legend().get_texts()] == list(np.unique(y))


def test_many_samples_are_thinned_class_by_class():
    X, y, model = cancer()
    display = HeatmapDisplay.from_estimator(model, X, y, max_samples=100)
    assert len(display.samples_) == 100
    assert abs(np.mean(display.y == "malignant") - np.mean(y == "malignant")) < 0.02


@pytest.mark.parametrize("classes", [2, 4, 10, 30])
def test_names_and_classes_are_readable(classes):
    X = odd_frame(n=90)
    long = "$healthy$ control with a very long class name"
    names = np.array([long, *(f"class number {k}" for k in range(1, classes))])
    y = names[np.arange(90) % classes]
    model = SMFClassifier(2, max_iter=5, tol=0, certify=None).fit(X, y)
    assert_readable(HeatmapDisplay.from_estimator(model, X, y, n=6).figure_)


def test_one_feature_sparse_data_no_labels_and_a_regression():
    X, y = load_diabetes(return_X_y=True)
    model = SMFRegressor(2, lam=1e-3).fit(X, y)
    assert len(HeatmapDisplay.from_estimator(model, X, y, n=2).samples_) == 442
    X = np.maximum(X, 0)
    labels = y > np.median(y)
    fit = SMFClassifier(2, certify=None).fit(sp.csr_array(X), labels)
    plain = HeatmapDisplay.from_estimator(fit, sp.csr_array(X), n=1, factors=1)
    assert 1 <= len(plain.features_) <= 2
    _, ax = plt.subplots()
    one = HeatmapDisplay([[1.0, 2.0, 0.0]], ["a"]).plot(ax)
    assert one.ax_ is ax and one.features_ == [0]


def test_bad_input():
    X, y, model = cancer()
    for arguments, line in [
        ({"n": 0}, "n=0: an integer >= 1"),
        ({"by": "size"}, "by='size': 'correlation' or 'weight'"),
        ({"factors": 7}, "factors=7: one or two integers"),
        ({"max_samples": 0}, "max_samples=0: an integer >= 1"),
    ]:
        with pytest.raises(ValueError, match=line):
            HeatmapDisplay.from_estimator(model, X, y, **arguments)
