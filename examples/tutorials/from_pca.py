"""
Coming from PCA + logistic regression
=====================================

You reduce a wide table to a few principal components and fit a logistic regression to them. This page
changes one line of that code. It shows what improves, what stays the same, and that PCA is a limiting
case.
"""

# %%
# The same code with one line changed
# -----------------------------------
# 2,000 genes in 102 samples of prostate tissue; which are tumours? Two components each time.

import pandas as pd
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.datasets import load_prostate

data = load_prostate()
X, y = pd.DataFrame(data.X, columns=data.features), data.y

before = make_pipeline(StandardScaler(), PCA(2), LogisticRegression())
after = make_pipeline(StandardScaler(), SMFClassifier(2))

folds = StratifiedKFold(5, shuffle=True, random_state=0)
for name, model in {"PCA + LR": before, "SMF": after}.items():
    print(f"{name:8}  accuracy {cross_val_score(model, X, y, cv=folds).mean():.2f}")

# %%
# What improves: fewer factors are enough
# ---------------------------------------
# PCA finds the largest variation. In these genes this is not the difference between tumours and normal
# tissue, so a classifier needs many components. How many?

import matplotlib.pyplot as plt

ranks = (1, 2, 3, 5, 10, 20, 40)
scores = pd.DataFrame(index=pd.Index(ranks, name="factors"), columns=["PCA + LR", "SMF"], dtype=float)
for rank in ranks:
    before.set_params(pca__n_components=rank)
    after.set_params(smfclassifier__n_components=rank, smfclassifier__certify=None)
    scores.loc[rank] = [100 * cross_val_score(model, X, y, cv=folds).mean() for model in (before, after)]

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
scores.plot(ax=ax, marker="o", logx=True, ylabel="accuracy, %")
ax.set_xticks(ranks, ranks)
ax.minorticks_off()
scores.round(1).T

# %%
# The number of factors improves, not the best accuracy: with tens of components PCA comes close, and a
# ridge regression on all genes is as accurate (below). If the classes differ along the largest variation,
# two components of PCA are enough, and nothing is gained.

# %%
# What stays the same
# -------------------
# .. list-table::
#    :header-rows: 1
#    :widths: 40 60
#
#    * - PCA + LR
#      - SMF
#    * - ``pca.components_``
#      - ``components_``: orthonormal rows, in the filter model (the default)
#    * - ``pca.transform(X)``
#      - ``transform(X)``; X is centred by the step before
#    * - ``pca.inverse_transform(codes)``
#      - ``inverse_transform(codes)``
#    * - ``pca.explained_variance_ratio_``
#      - ``explained_variance_ratio_``
#    * - ``lr.coef_``, ``lr.intercept_``
#      - ``factor_coef_``, ``intercept_``: the regression on the codes
#    * - ``lr.coef_ @ pca.components_``
#      - ``coef_``: the weights of the columns of X
#    * - ``lr.predict_proba``
#      - ``predict_proba``, of X itself
#    * - ``C``
#      - ``lam`` = 1/(2C), a ridge on the weights of the features in the prediction
#    * - the number of components
#      - ``n_components``; ``SMFClassifierCV`` chooses it, ``xi`` and ``lam``
#    * - nothing
#      - ``xi``, ξ: the weight of describing X against predicting y
#
# For interpretation, factors are rotated so that as few as possible contribute to the prediction. In PCA
# several axes contribute; here it is the first factor only:

from superfactor.interpretation import supervised_factors, unsupervised

after.set_params(smfclassifier__n_components=3, smfclassifier__certify="residual").fit(X, y)
supervised_factors(after, positive="tumour").round(2)

# %%
# The same table for three components of PCA:

supervised_factors(unsupervised(after, X, y, positive="tumour")).round(2)

# %%
# PCA is the limit for large ξ
# ----------------------------
# ξ weighs the squared error of the reconstruction of X. With larger ξ, the factors come closer to the
# principal components; with smaller ξ, the classifier comes closer to a ridge regression on all genes:

import numpy as np
from scipy.linalg import subspace_angles

Z = StandardScaler().fit_transform(X)
axes = PCA(2, random_state=0).fit(Z).components_
auto = SMFClassifier(2, certify=None).fit(Z, y)
ridge = LogisticRegression(C=1 / (2 * auto.lam_), tol=1e-8, max_iter=10_000).fit(Z, y)

rows = []
for times in (1e-4, 1e-2, 1, 1e2, 1e4, 1e6):
    model = SMFClassifier(2, xi=times * auto.xi_, lam=auto.lam_, certify=None).fit(Z, y)
    rows.append(
        {
            "ξ / auto": times,
            "degrees to PCA": np.degrees(subspace_angles(model.components_.T, axes.T).max()),
            "variance described, %": 100 * model.explained_variance_ratio_.sum(),
            "difference to ridge LR": abs(model.predict_proba(Z) - ridge.predict_proba(Z)).max(),
        }
    )
pd.DataFrame(rows).set_index("ξ / auto").round(3)

# %%
# ξ selects a point between PCA and a classifier, and ``SMFClassifierCV`` chooses it by cross-validation
# (:doc:`/selection`). You can also use covariates (:doc:`/covariates`), and get a proof that no other
# factors have a lower objective, which most joint methods do not have:

print(after[-1].certificate_)
