"""
Coming from mixOmics
====================

You know PLS-DA, sPLS-DA and DIABLO from the R package mixOmics. This page translates its functions, and
shows what is different and what is missing.
"""

# %%
# Call by call
# ------------
# .. list-table::
#    :header-rows: 1
#    :widths: 30 70
#
#    * - mixOmics
#      - here
#    * - ``plsda(X, Y, ncomp)``
#      - ``SMFClassifier(n_components).fit(X, y)``
#    * - ``scale = TRUE``
#      - ``StandardScaler`` before it, or ``preprocess="standardize"`` of the search
#    * - ``splsda(…, keepX)``
#      - none; alternatives are below
#    * - ``tune.splsda``
#      - `~superfactor.SMFClassifierCV`: number of factors, ξ and λ by cross-validation
#    * - ``perf``
#      - `~superfactor.selection.nested_scores`: tuning inside the folds, with intervals and baselines
#    * - ``predict(fit, X.new)``
#      - ``model.predict(X_new)``, ``model.predict_proba(X_new)``: probabilities, not distances
#    * - ``auroc``
#      - ``RocCurveDisplay`` of scikit-learn
#    * - ``plotIndiv``
#      - `~superfactor.plotting.SamplesDisplay`, with out-of-fold scores, and ellipses if the model predicts
#    * - ``plotLoadings``
#      - `~superfactor.plotting.FactorsDisplay`
#    * - ``plotVar``
#      - `~superfactor.plotting.CorrelationCircleDisplay`
#    * - ``biplot``
#      - `~superfactor.plotting.BiplotDisplay`
#    * - ``cim``
#      - `~superfactor.plotting.HeatmapDisplay`
#    * - ``selectVar``
#      - `~superfactor.interpretation.top_features`
#    * - ``vip``
#      - ``model.feature_importances_``, with another formula
#    * - ``perf(…)$features$stable``
#      - `~superfactor.interpretation.stability`, or `~superfactor.interpretation.stable_features` with an
#        error bound
#    * - ``withinVariation`` (paired)
#      - `~superfactor.preprocessing.Adjuster` with the patient as confounder
#    * - batches (PLSDA-batch)
#      - `~superfactor.preprocessing.Adjuster` with the batch
#    * - ``block.plsda`` (DIABLO)
#      - `~superfactor.preprocessing.join_blocks` and `~superfactor.preprocessing.BlockScaler`
#    * - ``pls`` with a numeric Y
#      - `~superfactor.SMFRegressor`
#    * - ``impute.nipals``
#      - `~superfactor.preprocessing.LowRankImputer`
#    * - (nothing)
#      - covariates with odds ratios; samples without a label; a certificate

# %%
# Both on the same table
# ----------------------
# 2,000 genes in 102 samples of prostate tissue. PLS-DA is a PLS regression on the indicator of the
# class, available in scikit-learn. It finds directions with the largest *covariance* with the class, one
# after another. Factors of superfactor are found together, for the *likelihood* of the class and the
# reconstruction of X.

import numpy as np
import pandas as pd
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.datasets import load_prostate

data = load_prostate()
X, y = pd.DataFrame(data.X, columns=data.features), data.y
tumour = (y == "tumour").astype(float)

plsda = PLSRegression(n_components=2).fit(X, tumour)
model = make_pipeline(StandardScaler(), SMFClassifier(2)).fit(X, y)

# %%
# ``plotIndiv``: the samples on the first two components. With either method, training samples are better
# separated than new samples. Therefore `~superfactor.plotting.SamplesDisplay` shows out-of-fold scores by
# default. Here it shows training samples for comparison.

import matplotlib.pyplot as plt

from superfactor.plotting import SamplesDisplay

fig, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for kind in np.unique(y):
    axes[0].scatter(*plsda.x_scores_[y == kind].T, label=kind, s=18)
axes[0].set(title="PLS-DA", xlabel="component 1", ylabel="component 2")
axes[0].legend()
SamplesDisplay.from_estimator(model, X, y, positive="tumour", samples="training", ax=axes[1])
_ = axes[1].set_title("SMF")

# %%
# Are the components similar? The correlations between the scores:

codes = model.transform(X)
pd.DataFrame(
    np.corrcoef(plsda.x_scores_.T, codes.T)[:2, 2:],
    index=["PLS-DA 1", "PLS-DA 2"],
    columns=["SMF 1", "SMF 2"],
).round(2)

# %%
# Are the predictions similar? Each sample is predicted by a model fitted without it:

folds = StratifiedKFold(5, shuffle=True, random_state=0)
for rank in (1, 2, 3):
    pls = cross_val_predict(PLSRegression(rank), X, tumour, cv=folds) > 0.5
    smf = cross_val_predict(
        make_pipeline(StandardScaler(), SMFClassifier(rank, certify=None)), X, y, cv=folds
    )
    print(f"{rank} factors: PLS-DA {np.mean(pls == tumour):.1%}, SMF {np.mean(smf == y):.1%}")

# %%
# On these genes PLS-DA needs three components to reach the accuracy of one factor, because its first
# components follow the largest variation, as PCA does. On other tables both are equal
# (:doc:`/reproduction` has three). The main difference is the interpretation: in PLS-DA every component
# contributes to the prediction, here one factor contains all of it:

from superfactor.interpretation import supervised_factors

supervised_factors(model, positive="tumour").round(2)

# %%
# ``plotLoadings``, with the plain SVD of the same rank below:

from superfactor.plotting import FactorsDisplay

_ = FactorsDisplay.from_estimator(model, X, y, positive="tumour")

# %%
# ``plotVar``, with its cutoff:

from superfactor.plotting import CorrelationCircleDisplay

_ = CorrelationCircleDisplay.from_estimator(model, positive="tumour", cutoff=0.5)

# %%
# Instead of keepX
# ----------------
# sPLS-DA sets most weights of a component to zero. superfactor has no such penalty, because the solver
# and its certificate do not support it: every gene has a weight. There are two alternatives.
#
# *A list of genes*: top features of the predictive factor that are stable if samples are left out.

from superfactor.interpretation import stability

found = stability(model, X, y, n_resamples=10, n=5, positive="tumour", random_state=0)
found.table.query("factor == 1")[["end", "feature", "weight", "frequency"]].round(2)

# %%
# *A panel*, a model of few genes: select genes by their importance, then fit the factors to these genes
# only. Put the selection into the pipeline, so that each fold repeats it and the accuracy is not
# optimistic.

from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import cross_val_score

for size in (5, 20, 100):
    panel = make_pipeline(
        StandardScaler(),
        SelectFromModel(SMFClassifier(2, certify=None), max_features=size, threshold=-np.inf),
        SMFClassifier(2, certify=None),
    )
    print(f"{size:3} genes: {cross_val_score(panel, X, y, cv=folds).mean():.1%}")

# %%
# The selection is not stable if many genes are similar, as in sPLS-DA. If the panel itself is the goal,
# use a method with a sparse penalty.

# %%
# Several tables
# --------------
# DIABLO (``block.plsda``) finds components *for each* table that correlate with each other, as set in a
# design matrix. In superfactor the tables are joined, scaled so that none dominates, and share *one* set
# of factors, as in multiple factor analysis:
#
# .. code-block:: python
#
#    joined = join_blocks({"rna": rna, "protein": protein})
#    model = make_pipeline(
#        LowRankImputer(), StandardScaler(), BlockScaler(joined.blocks), SMFClassifier(2)
#    ).fit(joined.table, y[joined.table.index])
#    block_shares(model, joined.table)  # the share of each table in each factor
#
# To study how tables are related, use DIABLO. To find what separates the classes in all tables, and the
# share of each table, see :doc:`/blocks`.
