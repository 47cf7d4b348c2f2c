"""
Coming from the paper's own code
================================

You use SupervisedMF, the package of the paper's authors (``from SMF import SMF_LPGD, SMF_BCD``), or want
to repeat one of its fits. This page translates its names, and shows what is different and which errors it
has. The page does not require that package.
"""

# %%
# Names
# -----
# Lee, Lyu and Yao (NeurIPS 2023) minimise, over factors of rank r,
#
# .. code-block:: none
#
#    F = Σ ℓ(y_i, a_i) + ξ‖X − B‖² + λ(‖A‖² + ‖γ‖²)
#
# In SMF-W, the filter model, the activations a are X A plus those of the covariates. In SMF-H, the
# feature model, they are A plus those of the covariates. F is the same here, with the same ξ and λ if
# they are numbers; ``"auto"``, the default, chooses them in units of the data.
#
# .. list-table::
#    :header-rows: 1
#    :widths: 40 60
#
#    * - SupervisedMF
#      - here
#    * - ``X=[X, Y]``: features × samples, and a row of 0 and 1
#      - ``fit(X, y)``: samples × features, any labels, two classes or more
#    * - ``X_auxiliary``: covariates × samples
#      - ``fit(X, y, covariates=Z)``, or ``covariate_columns=``
#    * - ``n_components``
#      - ``n_components``
#    * - ``xi``
#      - ``xi``
#    * - ``nu`` of ``step_SVP``, which is 2λ (``fit`` takes it and passes 0 on)
#      - ``lam`` = ``nu`` / 2; ``lam_covariates=None`` for one ridge on A and γ
#    * - ``option`` or ``SDL_option``: ``"filter"``, ``"feature"``
#      - ``model="filter"``, ``model="feature"``
#    * - ``SMF_LPGD``, Algorithm 1
#      - ``solver="lpgd"``
#    * - ``tau``; in ``fit``, ``search_radius_const`` and ``beta``
#      - ``step_size``: a number, or ``"auto"``, 1/L
#    * - ``SMF_BCD``, by default with W and H non-negative
#      - ``solver="bcd"``, with ``constraint=NonNegative()`` for non-negative factors
#    * - ``iter``
#      - ``max_iter``, and ``tol``, which stops a converged fit
#    * - ``ini_loading``, ``ini_code``
#      - none: the solver has a fixed start, and ``search=`` tries other starts
#    * - ``loading[0]``, W: features × r
#      - ``components_``, its transpose; orthonormal rows in the filter model
#    * - ``code``, H: r × samples
#      - ``codes_``, its transpose
#    * - ``loading[1]``: intercept, β, γ in a row
#      - ``intercept_``, ``coef_``, ``covariate_coef_``
#    * - ``method="naive"``, ``"exhaustive"`` (feature model)
#      - ``prediction="fast"``, ``"exact"``
#    * - ``L1_reg``
#      - none
#
# SupervisedMF penalises the intercept, superfactor does not; ``fit_intercept=False`` omits it, as in the
# paper's F.

# %%
# Both models, in the paper's units
# ---------------------------------
# Handwritten 3 against 8 (scikit-learn's digits instead of MNIST), rank 2, ξ = 1 and λ = 1.

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from superfactor import SMFClassifier

images = load_digits()
chosen = np.isin(images.target, (3, 8))
X, y = images.data[chosen] / 16, images.target[chosen]

paper = {"n_components": 2, "xi": 1.0, "lam": 1.0, "fit_intercept": False}
models = {}
for name in ("filter", "feature"):
    models[name] = SMFClassifier(model=name, **paper).fit(X, y)
    print(f"{name}: F = {models[name].objective_:.4f}. {models[name].certificate_}")

# %%
# Check that this is the paper's F, computed from W, H and β for the filter model:

fit = models["filter"]
W, H, beta = fit.components_.T, fit.codes_, fit.factor_coef_.T
A, B = W @ beta, H @ W.T
a = (X @ A)[:, 0]
loss = np.sum(np.logaddexp(0, a) - (y == 8) * a)
print(f"F = {loss + 1.0 * np.sum((X - B) ** 2) + 1.0 * np.sum(A**2):.4f}")

# %%
# Algorithm 1 and the default solver
# ----------------------------------
# The paper's algorithm is available as printed. The table shows how far it ends above the optimum after
# 500 iterations, with the paper's step, τ = 0.01, and with τ = 1/L. The certificate above proves the
# optimum.

import warnings

from sklearn.exceptions import ConvergenceWarning

rows, runs = [], {name: {} for name in models}
for name, best in models.items():
    for label, step in {"Algorithm 1, τ = 0.01": 0.01, "Algorithm 1, τ = 1/L": "auto"}.items():
        lpgd = SMFClassifier(
            model=name, solver="lpgd", step_size=step, max_iter=500, tol=0, certify=None, **paper
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # expected here
            runs[name][label] = lpgd.fit(X, y)
    runs[name]["default"] = best
    for label, run in runs[name].items():
        above = round(run.objective_ - best.objective_, 4) + 0.0
        rows.append({"model": name, "solver": label, "iterations": run.n_iter_, "F − F*": above})
pd.DataFrame(rows).set_index(["model", "solver"])

# %%
# The objective by iteration; a straight line is exponential convergence, as in the paper's title:

import matplotlib.pyplot as plt

from superfactor.plotting import ConvergenceDisplay

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, (name, solvers) in zip(axes, runs.items(), strict=True):
    ConvergenceDisplay.from_estimator(solvers, best=models[name].objective_, ax=ax)
    ax.set(title=name, xscale="log")

# %%
# For the feature model the algorithm converges as in the paper. For the filter model 500 iterations are
# not enough with either step: with 0.01, which is too large for these data, F oscillates, and 1/L is safe
# but slow. The default solver converges in a few iterations, which cost more each, and reports
# convergence.

# %%
# Differences and errors
# ----------------------
# - **Units.** Numbers for ``xi`` and ``lam`` refer to sums over samples in both packages: twice the
#   samples require twice the ξ and λ. ``"auto"`` adapts to this (:doc:`/selection`).
# - **The ridge.** A fit of SupervisedMF 0.0.4 has no ridge, whatever ``nu`` is. To repeat one, use
#   ``lam=0``. If the classes are separable, there is then no optimum, and a warning states this.
# - **The import.** Its LPGD lacks an import and stops with a ``NameError``. Fix it with ``import SMF,
#   sklearn.decomposition; SMF.TruncatedSVD = sklearn.decomposition.TruncatedSVD``.
# - **The theorem.** Constants, the window of steps and the rate have corrections, and the paper's own
#   step is outside the window. :doc:`/errata` has ten points, each with a test.
# - **The figures** of the paper are reproduced in :doc:`/reproduction`, with the authors' solvers.
#
# To match a number of SupervisedMF, use the same orientation, ``fit_intercept=False``,
# ``lam_covariates=None``, and numbers for ξ and λ. Compare ``objective_``, because factors are only
# determined up to a rotation.
