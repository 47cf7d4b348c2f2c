"""
Genes with covariates: from a table to the paragraph
====================================================

198 breast tumours with 76 genes each. Which genes go with the estrogen receptor? Do the age of the patient
and the size of the tumour matter? This page goes from a file to the methods paragraph of a paper.
"""

# %%
# The table
# ---------
# The samples are those of Desmedt et al. (2007, GSE7390), from scikit-survival (``pip install
# scikit-survival``). The 76 genes were selected in an earlier study for relapse, not for the receptor.
# Your table can be CSV, Excel, Parquet, a series matrix of GEO or AnnData, with samples in rows or columns
# (:doc:`/files`); here it is a CSV file.

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
# Split it into three parts: the outcome, the covariates, and the features that are factorized. Readable
# names make readable tables.

y = table["er"].map({"positive": "ER+", "negative": "ER-"})
covariates = table[["age", "size"]]
genes = table.filter(like="_at")
print(genes.shape, y.value_counts().to_dict(), f"missing: {genes.isna().sum().sum()}")

# %%
# Does it predict?
# ----------------
# Check this before you look at factors: factors of a model that does not predict show nothing about the
# receptor. In nested cross-validation every tumour is predicted by models fitted and tuned without it.
# Simpler methods use the same folds. One repeat keeps this page short; omit ``n_repeats`` for a paper.

from superfactor import SMFClassifierCV
from superfactor.selection import nested_scores

search = SMFClassifierCV(n_components=2, preprocess="standardize", scoring="neg_log_loss", random_state=0)
nested = nested_scores(search, genes, y, covariates=covariates, n_repeats=1, random_state=0)
print(nested.verdict)

# %%
# The second sentence compares the model with the covariates alone. The third compares it with other
# methods: if no difference is shown, you gain factors to interpret, not accuracy.
#
# The scores behind the verdict:

import pandas as pd

methods = {"supervised factors": nested.summary, **nested.baselines}
measures = ["balanced_accuracy", "roc_auc", "log_loss"]
figures = {name: [found[m]["mean"] for m in measures] for name, found in methods.items()}
pd.DataFrame(figures, measures).T.round(2)

# %%
# The model
# ---------
# The same search on all tumours. It chooses ξ, the weight of the reconstruction of the genes, and λ, the
# ridge. The number of factors is given above: one factor distinguishes two classes, the second describes
# other variation.

search.fit(genes, y, covariates=covariates)
print(search.best_params_)
print(search.best_estimator_["smf"].certificate_)

# %%
# The last sentence is the certificate: the factors below are not only a local optimum. It does not show
# whether they predict; the verdict does.

# %%
# The factors
# -----------
# The classifier uses factor 1 only. High scores mean ER-, the rarer class.

from superfactor.interpretation import supervised_factors

supervised_factors(search).round(2)

# %%
# The top genes of the factors, with the axes of a plain SVD, which ignores the receptor:

from superfactor.plotting import FactorsDisplay

_ = FactorsDisplay.from_estimator(search, genes, y, covariates=covariates)

# %%
# Are these genes stable? The model is fitted to random subsets with 80 % of the tumours. Report the genes
# that are found again most of the time; :doc:`/reading` explains what stability shows.

from superfactor.interpretation import stability

found = stability(search, genes, y, n_resamples=10, n=4, covariates=covariates, random_state=0)
found.table.query("factor == 1").round(2)

# %%
# The covariates
# --------------
# The effects of age and size, for fixed factors. An odds ratio of 1 means no effect; units are a year and
# a centimetre.

from superfactor.interpretation import covariate_effects

columns = ["covariate", "output", "against", "estimate", "low", "high"]
covariate_effects(search, genes, y, covariates)[columns].round(2)

# %%
# To add the grade: it is categorical, so it becomes one row for each level against the most frequent one
# (:doc:`/covariates`). Check the levels before you fit: one is misspelled. ``unknown`` is never used as
# the reference level.

print(table["grade"].value_counts().to_dict())
graded = covariates.assign(grade=table["grade"].replace("unkown", "unknown"))
again = SMFClassifierCV(**search.best_params_, preprocess="standardize")
again.fit(genes, y, covariates=graded)
covariate_effects(again, genes, y, graded)[columns].round(2)

# %%
# These effects are adjusted for the factors, which were fitted to the same labels: an effect of a
# covariate through the genes counts as an effect of the genes.

# %%
# What to write
# -------------
# The methods paragraph describes the analysis with the numbers of this run:

import textwrap

from superfactor.report import methods_paragraph, write_report

about = dict(covariates=covariates, nested=nested, target="estrogen receptor status")
print(textwrap.fill(methods_paragraph(search, genes, y, **about), 100))

# %%
# Add how samples were measured, normalised and excluded (:doc:`/paper`). For your coauthors, write a page:
# one file that opens in any browser, with figures, tables and this paragraph.

page = write_report(folder / "receptor.html", search, genes, y, stability=found, **about)
print(page.name, f"{page.stat().st_size / 1e6:.1f} MB")

# %%
# The same from the command line (:doc:`/cli`):
#
# .. code-block:: sh
#
#    superfactor fit tumours.csv --target er --covariates age,size --drop grade \
#        --out receptor.skops --report receptor.html
