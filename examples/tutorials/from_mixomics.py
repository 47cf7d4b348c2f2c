"""
Coming from mixOmics
====================

You know PLS-DA, sPLS-DA and DIABLO from the R package mixOmics. Which call here does what you are
used to, what is different, and what is missing?
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
#      - none; what stands in is below
#    * - ``tune.splsda``
#      - `~superfactor.SMFClassifierCV`: number of factors, ξ and λ by cross-validation
#    * - ``perf``
#      - `~superfactor.selection.nested_scores`: the tuning is inside the folds, with intervals and rivals
#    * - ``predict(fit, X.new)``
#      - ``model.predict(X_new)``, ``model.predict_proba(X_new)``: probabilities, not distances
#    * - ``auroc``
#      - ``RocCurveDisplay`` of scikit-learn
#    * - ``plotIndiv``
#      - `~superfactor.plotting.SamplesDisplay`, of held-out samples, with ellipses where it predicts
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
#      - ``model.feature_importances_``, another formula for the same question
#    * - ``perf(…)$features$stable``
#      - `~superfactor.interpretation.stability`; with a bound on false ones
#        `~superfactor.interpretation.stable_features`
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
#      - covariates beside the factors, with odds ratios; samples without a label; a certificate

# %%
# Both on the same table
# ----------------------
# 2,000 genes in 102 samples of prostate tissue. PLS-DA is a PLS regression of the indicator of the
# class, which scikit-learn has; it finds directions whose *covariance* with the class is largest,
# one after the other. The factors here are found together, for the *likelihood* of the class and
# the description of X at once.

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
# ``plotIndiv``: the samples on the first two components. Training samples look better separated than
# new samples will be, in either method. So `~superfactor.plotting.SamplesDisplay` shows each sample where
# a model without it puts it, unless asked for training samples as here.

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
# Do they find the same? The correlation of the samples' values on each pair:

codes = model.transform(X)
pd.DataFrame(
    np.corrcoef(plsda.x_scores_.T, codes.T)[:2, 2:],
    index=["PLS-DA 1", "PLS-DA 2"],
    columns=["SMF 1", "SMF 2"],
).round(2)

# %%
# And do they predict the same? Each sample by a model that has not seen it:

folds = StratifiedKFold(5, shuffle=True, random_state=0)
for rank in (1, 2, 3):
    pls = cross_val_predict(PLSRegression(rank), X, tumour, cv=folds) > 0.5
    smf = cross_val_predict(
        make_pipeline(StandardScaler(), SMFClassifier(rank, certify=None)), X, y, cv=folds
    )
    print(f"{rank} factors: PLS-DA {np.mean(pls == tumour):.1%}, SMF {np.mean(smf == y):.1%}")

# %%
# On these genes PLS-DA needs three components for what is one factor here: its first ones follow
# what varies most, as PCA does. On other tables they are level (:doc:`/reproduction` has three);
# the largest difference is in what you read. In PLS-DA every component has its part in the class,
# here one factor has all of it:

from superfactor.interpretation import supervised_factors

supervised_factors(model, positive="tumour").round(2)

# %%
# ``plotLoadings``, with the plain SVD of the same rank below:

from superfactor.plotting import FactorsDisplay

_ = FactorsDisplay.from_estimator(model, X, y, positive="tumour")

# %%
# ``plotVar``, with the cutoff that you know:

from superfactor.plotting import CorrelationCircleDisplay

_ = CorrelationCircleDisplay.from_estimator(model, positive="tumour", cutoff=0.5)

# %%
# Instead of keepX
# ----------------
# sPLS-DA sets most weights of a component to zero. There is no such penalty here, since the solver
# and its certificate are for problems without one: every gene has a weight. Two things stand in.
#
# *A few genes to name*: those at the ends of the predictive factor that return when samples are
# left out.

from superfactor.interpretation import stability

found = stability(model, X, y, n_resamples=10, n=5, positive="tumour", random_state=0)
found.table.query("factor == 1")[["end", "feature", "weight", "frequency"]].round(2)

# %%
# *A panel*, a model of few genes: choose them by their importance, then fit the factors to these
# alone. The choice belongs into the pipeline, so that each fold makes its own and the accuracy
# stays honest.

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
# Which genes enter is not stable where many say the same; sPLS-DA has that, too. If the panel
# itself is the aim, take a method with a sparse penalty.

# %%
# Several tables
# --------------
# DIABLO (``block.plsda``) finds a component *for each* table and makes them correlate with each
# other, as far as a design matrix says. Here the tables are joined, scaled so that none drowns the
# others, and share *one* set of factors, as in multiple factor analysis:
#
# .. code-block:: python
#
#    joined = join_blocks({"rna": rna, "protein": protein})
#    model = make_pipeline(
#        LowRankImputer(), StandardScaler(), BlockScaler(joined.blocks), SMFClassifier(2)
#    ).fit(joined.table, y[joined.table.index])
#    block_shares(model, joined.table)  # what each table has of each factor
#
# If what you ask is how tables go together, DIABLO asks it and this does not. If you ask what of
# all tables tells the classes apart, and how much each has of it, see :doc:`/blocks`.
