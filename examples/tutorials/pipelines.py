"""
In scikit-learn's pipelines
===========================

A factorization is an estimator of scikit-learn. You can use it in a pipeline, and search, cross-validate,
inspect and save it with the tools you know. Covariates are new: columns that enter the classifier but not
the factors.
"""

# %%
# A table with columns of several kinds
# -------------------------------------
# Breast tumours with 76 genes, age, size and grade. The outcome is the estrogen receptor. (The tutorial
# :doc:`genes` interprets these samples; this one shows the tools.)

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
# Genes are scaled, the other columns are passed through. With ``set_output(transform="pandas")`` columns
# keep their names, so that the model finds its covariates by name. The model encodes the categorical
# ``grade`` itself (:doc:`/covariates`); you can also use a ``OneHotEncoder``.

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
# The fitted model has the names of features and covariates:

smf = model[-1]
print(len(smf.component_names_), "columns in the factors; covariates:", *smf.covariate_names_)

# %%
# How well does it predict?
# -------------------------
# ``cross_validate`` fits the whole pipeline in each fold. (``certify=None, search="off"`` omit the
# certificate and the search for other optima, which scores do not need;
# :func:`~superfactor.selection.nested_scores` gives intervals and a verdict.)

import pandas as pd
from sklearn.model_selection import cross_validate

model.set_params(smfclassifier__certify=None, smfclassifier__search="off")
scores = cross_validate(model, X_train, y_train, scoring=["balanced_accuracy", "roc_auc"])
pd.DataFrame(scores).filter(like="test").agg(["mean", "std"]).round(2)

# %%
# Searching
# ---------
# ``GridSearchCV`` accepts any parameter of any step. λ, the ridge, depends on the units of the data;
# "auto" is a first guess in these units, available as ``lam_``. Is it a good one?

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
# No: with so few samples a stronger ridge predicts far better, while the number of factors hardly matters.
# Do not evaluate the method by the scores of a first guess.
#
# ``SMFClassifierCV`` has its own, cheaper grid: eight settings here. Pass the steps before the model as
# ``preprocess``:

from superfactor import SMFClassifierCV

quick = SMFClassifierCV(
    2, preprocess=columns, covariate_columns=["age", "size", "grade"], scoring="neg_log_loss", cv=4
).fit(X_train, y_train)
print(quick.best_params_, round(quick.best_score_, 3))

# %%
# The factors as columns
# ----------------------
# ``transform`` returns the codes of samples on the factors, for further steps.

quick.set_output(transform="pandas").transform(X_test).head(3).round(2)

# %%
# Looking at predictions
# ----------------------
# The displays of scikit-learn accept the search as any classifier, here with held-out tumours:

import matplotlib.pyplot as plt
from sklearn.metrics import ConfusionMatrixDisplay, RocCurveDisplay

fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
ConfusionMatrixDisplay.from_estimator(quick, X_test, y_test, ax=axes[0], colorbar=False)
_ = RocCurveDisplay.from_estimator(quick, X_test, y_test, ax=axes[1], plot_chance_level=True)

# %%
# Which columns matter for a prediction? Permutation importance shuffles one column of the raw table at a
# time and measures the decrease of the score. It ignores factors, and similar genes replace each other, so
# their importance is low. Compare it with the factors, which group such genes.

from sklearn.inspection import permutation_importance

found = permutation_importance(quick, X_test, y_test, scoring="neg_log_loss", n_repeats=2, random_state=0)
importance = pd.Series(found.importances_mean, X_test.columns).sort_values(ascending=False)
importance.head(6).round(3)

# %%
# Saving and loading
# ------------------
# :func:`superfactor.save` writes a search, an estimator or a pipeline without pickle, so you can open the
# file without trusting its source. It refuses steps with your own functions and classes. ``joblib`` saves
# them too; load its files only from trusted sources.

import tempfile
from pathlib import Path

import superfactor

path = Path(tempfile.mkdtemp(), "receptor.skops")
superfactor.save(quick, path, about={"samples": "breast tumours"})
again = superfactor.load(path)
print((again.predict_proba(X_test) == quick.predict_proba(X_test)).all())

# %%
# Predicting new samples
# ----------------------
# Load the model once per process: the first load imports many modules and takes seconds. Rows that differ
# from the training table are handled like this:
#
# - **A missing column** is an error that names it. ``table.reindex(columns=model.feature_names_in_)`` adds it
#   as missing values.
# - **An unknown category** is an error. With ``OneHotEncoder(handle_unknown="ignore")`` in the pipeline, all
#   its indicators are 0.
# - **A missing value** of a feature is completed from the factors of the model, with a warning. This needs a
#   search or ``impute="factors"``; other models refuse it, unless the pipeline has an imputer.
# - **Drift** is not checked.


def outcome_of(change, **columns):
    """Print the prediction for one changed row."""
    try:
        print(change, again.predict_proba(X_test.iloc[:1].assign(**columns)).round(2))
    except ValueError as error:
        print(change, "->", error)


outcome_of("unknown grade:", grade="very poor")
outcome_of("one gene without a value:", **{genes[0]: float("nan")})
outcome_of("one gene in other units:", **{genes[0]: 1000 * X_test[genes[0]]})

# %%
# To detect drift, compare the scores of the factors with those of training, which have mean 0 and variance 1.
# This detects changes along the factors only.

import numpy as np

fitted = again.best_estimator_[-1]


def largest_score(rows):
    """Return the largest score of each sample, in standard deviations."""
    return np.abs((again.transform(rows) - fitted.score_mean_) @ fitted.factor_turn_).max(axis=1)


again.set_output(transform="default")
print("held-out tumours:", largest_score(X_test).max().round(1))
print(
    "in other units:",
    largest_score(X_test.assign(**{name: 2 * X_test[name] for name in genes})).min().round(1),
)

# %%
# Fitting again with new samples
# ------------------------------
# There is no warm start and no ``partial_fit``; ``checkpoint=`` only resumes an interrupted fit of the same
# table. To keep rank and weights without a new search, clone the fitted pipeline. The objective is a sum
# over samples, so λ grows with their number.

from sklearn.base import clone

more = clone(quick.best_estimator_)
more.set_params(smf__lam=quick.best_params_["lam"] * len(table) / len(X_train))
more.fit(table, y)

# %%
# Texts and a category
# --------------------
# A ``ColumnTransformer`` with ``TfidfVectorizer`` returns a sparse matrix, whose columns have no names. Put
# the category first and pass positions; fixed ``categories`` keep them the same in all folds:

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import OneHotEncoder

levels = ["full-time", "part-time"]
columns = make_column_transformer(
    (OneHotEncoder(categories=[levels], handle_unknown="ignore"), ["type"]), (TfidfVectorizer(), "text")
)
jobs = SMFClassifierCV(preprocess=columns, covariate_columns=list(range(len(levels))))

# %%
# Fit ``jobs`` to a table with the columns ``text`` and ``type``. See :doc:`texts` for such factors.
