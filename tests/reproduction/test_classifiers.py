"""The methods of the table of accuracies."""

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import StratifiedKFold

from reproduction import classifiers
from reproduction.classifiers import PLSDA, methods
from reproduction.coordinates import short_rows

FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
# Algorithm 1 does not converge in ten iterations.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def problem(classes=2, n=40, p=300):
    rng = np.random.default_rng(1)
    y = np.arange(n) % classes
    X = rng.standard_normal((n, p)) / np.sqrt(p)
    X[:, :3] += np.eye(3)[y]
    return X - X.mean(axis=0), np.array(["a", "b", "c"])[y]


def quick(names=None, classes=2):
    found = methods(2, 15, classes, FOLDS, 0, quick=True)
    return [method for method in found if names is None or method.name in names]


def test_pls_da_of_two_classes_is_the_sign_of_one_regression():
    X, y = problem()
    found = PLSDA(2).fit(X[:30], y[:30]).predict(X[30:])
    target = np.where(y[:30] == "a", -1.0, 1.0)
    one = PLSRegression(2, scale=False).fit(X[:30], target).predict(X[30:]).ravel()
    np.testing.assert_array_equal(found, np.where(one > 0, "b", "a"))


def test_every_method_gives_the_same_from_inner_products_and_reports_its_choice():
    X, y = problem()
    rows = short_rows(X)
    assert rows.shape == (40, 40)
    for wide, short in zip(quick(), quick(), strict=True):
        if wide.name in ("CNN", "FFNN"):  # two epochs are too few
            continue
        found = wide.estimator.fit(X[:30], y[:30]).predict(X[30:])
        least = 0.6 if wide.needs_genes else 0.9  # 3 genes of 300 are informative
        assert np.mean(found == y[30:]) >= least, wide.name
        assert bool(wide.chosen()) == hasattr(wide.estimator, "best_params_"), wide.name
        if not wide.needs_genes and wide.name != "LDA":  # shrinkage depends on the columns
            same = short.estimator.fit(rows[:30], y[:30]).predict(rows[30:])
            np.testing.assert_array_equal(found, same, err_msg=wide.name)


@pytest.mark.parametrize("name", ["SMF-H (BCD)", "MF-LR", "PLS-DA", "SMF"])
def test_three_classes(name):
    X, y = problem(classes=3)
    (method,) = quick([name], classes=3)
    assert method.estimator.fit(X[:30], y[:30]).score(X[30:], y[30:]) >= 0.9


def test_networks_are_left_out_without_torch(monkeypatch):
    monkeypatch.setattr(classifiers, "has_torch", lambda: False)
    names = [method.name for method in methods(2, 15, 2, FOLDS, 0)]
    assert "CNN" not in names and "FFNN" not in names and "SMF" in names
