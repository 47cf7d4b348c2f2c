"""
Random starts
=============

Ten random starts, with the fit and its lower bound. One factor is not enough for three classes: the
starts end at different values, and no proof shows which is the lowest. With two factors, all starts end
at the value that the certificate proves to be optimal.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.solvers import bcd

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
_, axes = plt.subplots(1, 2, figsize=(6, 3), layout="constrained")
for rank, ax in zip((1, 2), axes, strict=True):
    fit = SMFClassifier(rank, lam=1).fit(X, y)
    problem = state("filter", X, y, resolve_link("logistic", 2), xi=fit.xi_, lam=1)
    ends = [bcd.solve(problem, rank, start="random", random_state=k).objective for k in range(10)]
    ax.plot(range(1, 11), ends, "o", label="random starts")
    ax.axhline(fit.objective_, color="C1", label="the fit")
    ax.axhline(fit.certificate_.lower_bound, color="C2", linestyle="--", label="lower bound")
    ax.set(title=f"factors: {rank}", xlabel="start", ylabel="objective", ylim=(0, 110))
axes[1].legend()
