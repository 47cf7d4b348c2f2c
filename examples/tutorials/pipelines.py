"""
In scikit-learn's pipelines
===========================

A factorization is an estimator like any other: it stands in a pipeline and is searched, cross-
validated, inspected and saved with the tools you have. New are covariates: columns that go to the
classifier and not into the factors.
"""

# %%
# A table with columns of several kinds
# -------------------------------------
# Breast tumours with 76 genes, and age, size and grade beside them; what is predicted is the
# estrogen receptor. (The samples are those of :doc:`genes`, which asks what they say. Here it is
# about the tools.)

from sklearn.model_selection import train_test_split
from sksurv.datasets import load_breast_cancer

table, _ = load_breast_cancer()
table = table[table["grade"] != "unkown"]  # two tumours, spelled like this
y = table.pop("er").astype(str)
genes = [name for name in table if name.endswith("_at")]
X_train, X_test, y_train, y_test = train_test_split(table, y, stratify=y, random_state=0)
X_train.iloc[:3, -5:]

# %%
# One pipeline for all of them
# ----------------------------
# Genes are scaled, the other columns pass as they are. With ``set_output(transform="pandas")``
# columns keep their names from step to step, so that the model finds its covariates by name.
# ``grade`` is words, which it turns into levels itself (:doc:`/covariates`); a ``OneHotEncoder`` of
# your own would do as well.

from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier

columns = make_column_transformer(
    (StandardScaler(), genes), remainder="passthrough", verbose_feature_names_out=False
).set_output(transform="pandas")
model = make_pipeline(columns, SMFClassifier(2, covariate_columns=["age", "size", "grade"]))
model.fit(X_train, y_train)

# %%
# The fitted model knows which column was what:

smf = model[-1]
print(len(smf.component_names_), "columns in the factors; beside them:", *smf.covariate_names_)

# %%
# How well does it do?
# --------------------
# ``cross_validate`` fits everything anew in each fold, the scaler too. (``certify=None,
# search="off"`` leave out the proof and the search for other optima, which no score needs;
# :func:`~superfactor.selection.nested_scores` gives intervals and a verdict.)

import pandas as pd
from sklearn.model_selection import cross_validate

model.set_params(smfclassifier__certify=None, smfclassifier__search="off")
scores = cross_validate(model, X_train, y_train, scoring=["balanced_accuracy", "roc_auc"])
pd.DataFrame(scores).filter(like="test").agg(["mean", "std"]).round(2)

# %%
# Searching
# ---------
# ``GridSearchCV`` takes any parameter of any step. λ, the ridge, depends on the units of the data;
# "auto" is a first guess in these units, which ``lam_`` tells. Is it a good one?

from sklearn.model_selection import GridSearchCV

grid = {
    "smfclassifier__n_components": [1, 2],
    "smfclassifier__lam": [smf.lam_, 10 * smf.lam_, 100 * smf.lam_],
}
search = GridSearchCV(model, grid, scoring="neg_log_loss", cv=4).fit(X_train, y_train)
pd.DataFrame(search.cv_results_).pivot_table(
    "mean_test_score", "param_smfclassifier__n_components", "param_smfclassifier__lam"
).round(3)

# %%
# No: in samples as few as these a stronger ridge predicts far better, while the number of factors
# hardly matters. So do not take the scores of a first guess for what the method can do.
#
# ``SMFClassifierCV`` searches for less, in a grid of its own: eight settings here. What stands
# before the model goes to ``preprocess``:

from superfactor import SMFClassifierCV

quick = SMFClassifierCV(
    2, preprocess=columns, covariate_columns=["age", "size", "grade"], scoring="neg_log_loss", cv=4
).fit(X_train, y_train)
print(quick.best_params_, round(quick.best_score_, 3))

# %%
# The factors as columns
# ----------------------
# ``transform`` gives the values of samples on the factors, for whatever comes next.

quick.set_output(transform="pandas").transform(X_test).head(3).round(2)

# %%
# Looking at predictions
# ----------------------
# scikit-learn's displays take the search as any classifier, here with the tumours that were set
# aside:

import matplotlib.pyplot as plt
from sklearn.metrics import ConfusionMatrixDisplay, RocCurveDisplay

fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
ConfusionMatrixDisplay.from_estimator(quick, X_test, y_test, ax=axes[0], colorbar=False)
_ = RocCurveDisplay.from_estimator(quick, X_test, y_test, ax=axes[1], plot_chance_level=True)

# %%
# Which columns does a prediction hang on? Permutation importance shuffles one column of the raw
# table at a time and looks how far the score falls. It knows nothing of factors, so genes that say
# the same hide one another: each alone can be missed. Read it beside the factors, which put such
# genes together.

from sklearn.inspection import permutation_importance

found = permutation_importance(quick, X_test, y_test, scoring="neg_log_loss", n_repeats=2, random_state=0)
importance = pd.Series(found.importances_mean, X_test.columns).sort_values(ascending=False)
importance.head(6).round(3)

# %%
# Saving and loading
# ------------------
# A skops file holds data and no code, so that it can be opened without trusting who sent it; the
# command line writes and reads the same kind. ``joblib`` and ``pickle`` work too, among people who
# trust each other.

import tempfile
from pathlib import Path

import skops.io

path = Path(tempfile.mkdtemp(), "receptor.skops")
skops.io.dump(quick.best_estimator_, path)
unknown = skops.io.get_untrusted_types(file=path)
print(unknown)

# %%
# These are the types that skops does not know: all are superfactor's own. Having looked at them,
# load:

again = skops.io.load(path, trusted=unknown)
print((again.predict_proba(X_test) == quick.predict_proba(X_test)).all())
