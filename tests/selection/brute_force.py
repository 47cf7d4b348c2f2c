"""What a search is compared with: scikit-learn's GridSearchCV over the estimator itself."""

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler


def grid_search(estimator, grid, preprocess=None, **options):
    """One that scales in every fold, as `preprocess` says."""
    if preprocess is not None:
        scaler = StandardScaler(with_std=preprocess == "standardize")
        estimator = Pipeline([("scaler", scaler), ("smf", estimator)])
        grid = {f"smf__{name}": values for name, values in grid.items()}
    return GridSearchCV(estimator, grid, error_score="raise", **options)


def assert_same_search(search, brute, tol=2e-4):
    """The same candidates in the same order, with the same scores, of which there are different ones."""
    ours, theirs = search.cv_results_, brute.cv_results_
    plain = [{k.removeprefix("smf__"): v for k, v in p.items()} for p in theirs["params"]]
    assert [{k: p[k] for k in plain[0]} for p in ours["params"]] == plain
    for key in [k for k in theirs if k.endswith("test_score") and not k.startswith("rank")]:
        np.testing.assert_allclose(ours[key], theirs[key], rtol=tol, atol=tol, err_msg=key)
    # The same choice, or one that scores the same.
    assert theirs["mean_test_score"][search.best_index_] >= theirs["mean_test_score"].max() - tol
    assert np.ptp(ours["mean_test_score"]) > 10 * tol
