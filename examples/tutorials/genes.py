"""
Genes with covariates: from a table to the paragraph
====================================================

198 breast tumours, 76 genes each. Which genes go with the estrogen receptor, does it matter how old
the patient is and how large the tumour, and what may be written about it? From a file to the
methods paragraph, in the order in which the questions come.
"""

# %%
# The table
# ---------
# The samples are those of Desmedt et al. (2007, GSE7390), as scikit-survival brings them
# (``pip install scikit-survival``). The 76
# genes had been selected in an earlier study, for relapse and not for the receptor. A table on your
# disk may be CSV, Excel, Parquet, a series matrix of GEO or AnnData, either way round
# (:doc:`/files`); here a CSV file stands in for it.

import tempfile
from pathlib import Path

from sksurv.datasets import load_breast_cancer

from superfactor.tables import open_table

folder = Path(tempfile.mkdtemp())
tumours, _ = load_breast_cancer()
tumours.rename(columns=lambda name: name.removeprefix("X")).to_csv(folder / "tumours.csv")

table = open_table(folder / "tumours.csv").frame.set_index("row name")
table.iloc[:3, -6:]

# %%
# Three parts: what is predicted, what stands beside the factors, and what is factorized. Names that
# can be read make tables that can be read.

y = table["er"].map({"positive": "ER+", "negative": "ER-"})
covariates = table[["age", "size"]]
genes = table.filter(like="_at")
print(genes.shape, y.value_counts().to_dict(), f"gaps: {genes.isna().sum().sum()}")

# %%
# Does it predict?
# ----------------
# This comes before any factor is looked at: factors of a model that does not predict say nothing
# about the receptor. In nested cross-validation every tumour is predicted by models that have not
# seen it, weights chosen anew each time, and simpler methods stand on the same folds. One repeat
# keeps this page short; leave ``n_repeats`` out for a paper.

from superfactor import SMFClassifierCV
from superfactor.selection import nested_scores

search = SMFClassifierCV(n_components=2, preprocess="standardize", scoring="neg_log_loss", random_state=0)
nested = nested_scores(search, genes, y, covariates=covariates, n_repeats=1, random_state=0)
print(nested.verdict)

# %%
# The second sentence is the one for a study with covariates: whether genes know more than age and
# size. The third is about other methods: where no difference is shown, what you gain is factors to
# read, not accuracy.
#
# The figures behind it:

import pandas as pd

methods = {"supervised factors": nested.summary, **nested.rivals}
measures = ["balanced_accuracy", "roc_auc", "log_loss"]
figures = {name: [found[m]["mean"] for m in measures] for name, found in methods.items()}
pd.DataFrame(figures, measures).T.round(2)

# %%
# The model
# ---------
# The same search on all tumours. It chooses ξ, the weight of describing the genes, and λ, the
# ridge; the number of factors was said above (two classes need one factor to be told apart, the
# second is for what else varies).

search.fit(genes, y, covariates=covariates)
print(search.best_params_)
print(search.best_estimator_["smf"].certificate_)

# %%
# The last sentence is the certificate: it rules out that the factors below are an accident of where
# the computation started. Whether they predict, it does not say; that was the verdict's part.

# %%
# The factors
# -----------
# Which genes? Factor 1 is all that the classifier uses, and up is ER-, the rarer class.

from superfactor.interpretation import supervised_factors

supervised_factors(search).round(2)

# %%
# The genes at its two ends, beside the first axes of a plain SVD, which does not know the receptor:

from superfactor.plotting import FactorsDisplay

_ = FactorsDisplay.from_estimator(search, genes, y, covariates=covariates)

# %%
# Would these genes come up again? The model is fitted to random parts with 80 % of the tumours.
# Name in the paper those that return most of the time; :doc:`/reading` says what stability does and
# does not show.

from superfactor.interpretation import stability

found = stability(search, genes, y, n_resamples=10, n=4, covariates=covariates, random_state=0)
found.table.query("factor == 1").round(2)

# %%
# The covariates
# --------------
# What do age and size do, at the same genes? An odds ratio of 1 is no effect; a unit is a year, and
# a centimetre.

from superfactor.interpretation import covariate_effects

columns = ["covariate", "output", "against", "estimate", "low", "high"]
covariate_effects(search, genes, y, covariates)[columns].round(2)

# %%
# A reviewer asks about the grade. It is a word, so it becomes one row for each level against the
# most frequent one (:doc:`/covariates`). Look at the levels before you fit: one is misspelled, and
# ``unknown`` is a word that is never taken for the level to compare with.

print(table["grade"].value_counts().to_dict())
graded = covariates.assign(grade=table["grade"].replace("unkown", "unknown"))
again = SMFClassifierCV(**search.best_params_, preprocess="standardize")
again.fit(genes, y, covariates=graded)
covariate_effects(again, genes, y, graded)[columns].round(2)

# %%
# "Adjusted for the factors" is meant literally: the factors were chosen with the same labels, and
# whatever a covariate does through the genes is counted as the genes'.

# %%
# What to write
# -------------
# The paragraph says what was done, in the order in which a methods section says it, with the
# figures of this run and nothing that was not shown.

import textwrap

from superfactor.report import methods_paragraph, write_report

about = dict(covariates=covariates, nested=nested, target="estrogen receptor status")
print(textwrap.fill(methods_paragraph(search, genes, y, **about), 100))

# %%
# Add what it cannot know: how samples were measured, normalised and left out (:doc:`/paper`). For
# your coauthors there is a page, one file that opens in any browser, with figures, tables and this
# paragraph:

page = write_report(folder / "receptor.html", search, genes, y, stability=found, **about)
print(page.name, f"{page.stat().st_size / 1e6:.1f} MB")

# %%
# The same from a shell, without a line of Python (:doc:`/cli`):
#
# .. code-block:: sh
#
#    superfactor fit tumours.csv --target er --covariates age,size --drop grade \
#        --out receptor.skops --report receptor.html
