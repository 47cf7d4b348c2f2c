"""
Samples without a label
=======================

Few images have a label. The grey ones have none, contribute to the factors, and lie close to their class.
Use this if measurements are cheap and labels are expensive.
"""

import numpy as np
from sklearn.datasets import load_digits

from superfactor import SMFClassifier
from superfactor.interpretation import factor_view
from superfactor.plotting import SamplesDisplay

X, y = load_digits(return_X_y=True)
X, y = X[np.isin(y, [3, 8])], y[np.isin(y, [3, 8])].astype(str)
hidden = np.random.default_rng(0).random(len(y)) > 0.06
few = np.where(hidden, "no label", y)
model = SMFClassifier(2, unlabeled="no label").fit(X - X.mean(axis=0), few)
SamplesDisplay(
    factor_view(model).scores,
    few,
    factors=["factor 1", "factor 2"],
    classes=["no label", "3", "8"],
    colors={"no label": "0.8"},
).plot(ellipses=False)
right = np.mean(model.predict(X - X.mean(axis=0))[hidden] == y[hidden])
print(f"{np.sum(~hidden)} labels; of the other {np.sum(hidden)} images {right:.0%} are predicted right")
