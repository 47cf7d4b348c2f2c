"""Numeric targets: their names, and which numbers are refused."""

import numpy as np
import pandas as pd
import pytest

from superfactor import SMFMixed, SMFRegressor, SMFRegressorCV
from superfactor.interpretation import factor_view
from superfactor.selection import nested_scores


def test_targets_keep_their_names():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    Y = pd.DataFrame(X[:, :2] + 0.3 * rng.normal(size=(40, 2)), columns=["weight", "waist"])
    Y.iloc[3] = np.nan  # a sample without targets
    assert factor_view(SMFRegressor(2).fit(X, Y)).outputs == ("weight", "waist")
    search = SMFRegressorCV(2, xi=0.1, lam=1.0, cv=3)
    assert factor_view(search.fit(X, Y)).outputs == ("weight", "waist")
    assert factor_view(SMFRegressor(2).fit(X, Y.fillna(0).to_numpy())).outputs == ("y0", "y1")
    found = nested_scores(search, X, Y, n_splits=3, n_repeats=1)
    assert list(found.names) == ["weight", "waist"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_numbers_beyond_what_can_be_squared_are_refused(loss):
    X = np.random.default_rng(0).normal(size=(20, 4))
    with pytest.raises(ValueError, match=r"^y: numbers of at most 1e\+70 in size"):
        SMFRegressor(1, loss=loss).fit(X, 1e200 * np.abs(X[:, 0]))
    with pytest.raises(ValueError, match=r"^y\['a'\]: numbers are required"):
        SMFMixed({"a": "number"}).fit(X, pd.DataFrame({"a": ["high", "low"] * 10}))
