"""
Newton, BCD and LPGD
====================

The distance of each solver from the best value, against seconds. The default, joint Newton steps, is
fastest; block coordinate descent reaches the same value. The paper's projected gradient method requires
many more iterations than shown here.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.plotting import ConvergenceDisplay

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
warnings.simplefilter("ignore", ConvergenceWarning)
fits = {
    solver: SMFClassifier(2, solver=solver, max_iter=300).fit(X, y)
    for solver in ("lifted-newton", "bcd", "lpgd")
}
best = min(fit.objective_ for fit in fits.values())
_, ax = plt.subplots(figsize=(4.5, 3.2), layout="constrained")
ConvergenceDisplay.from_estimator(fits, x="seconds", best=best, ax=ax)
