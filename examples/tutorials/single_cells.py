"""
Single cells, with scanpy
=========================

Blood cells of ten types: which genes go with the factors that tell types apart, which genes mark each
type, and can new cells be named?
"""

# %%
# Install with ``pip install "superfactor[anndata,plot]" scanpy``. The cells come with scanpy: 700
# mononuclear cells of human blood from 10x Genomics, 765 genes. Nothing is downloaded.

import scanpy as sc

scaled = sc.datasets.pbmc68k_reduced()
scaled.obs["bulk_labels"].value_counts()

# %%
# **Which matrix?** ``scaled.X`` is centred and scaled to unit variance, gene by gene. superfactor
# wants log-normalised counts, which are sparse and never below zero (:doc:`why <../scanpy>`). They
# are kept in ``raw``, as in many files. If yours has raw counts, ``sc.pp.normalize_total`` and
# ``sc.pp.log1p`` come first.

adata = scaled.raw.to_adata()
for X in (scaled.X, adata.X):
    filled = (X != 0).mean()
    print(f"from {X.min():.1f} to {X.max():.1f}, {filled:.0%} are not zero")

# %%
# **What are the labels?** Nobody looked at these cells. Each was given the type of the sorted cells
# whose expression it resembles most. So the question here is whether a few factors can stand for
# that comparison.
#
# A fit, and where its results are
# --------------------------------
# Three cells of ten are set aside, with the same share of every type. The others are fitted: ten
# factors, in seconds.

from sklearn.model_selection import train_test_split

import superfactor.anndata as sfa

known, new = train_test_split(
    adata.obs_names, test_size=0.3, stratify=adata.obs["bulk_labels"], random_state=0
)
known, new = adata[known].copy(), adata[new].copy()

sfa.tl.smf(known, label="bulk_labels", n_components=10)
list(known.obs), list(known.obsm), list(known.varm), list(known.uns)

# %%
# ``obsm["X_smf"]`` has the scores of the cells. ``sc.pl.embedding(known, basis="smf",
# color="bulk_labels")`` and ``sc.pp.neighbors(known, use_rep="X_smf")`` take them, as they take
# ``X_pca``. ``varm["SMF"]`` has the correlations of the genes with these scores, and
# ``varm["SMF_weights"]`` their weights in them. ``uns["smf"]`` has the rest, among it the
# certificate:

print(known.uns["smf"]["certificate"]["statement"])

# %%
# New cells
# ---------
# ``tl.project`` gives cells that the fit has never seen their scores and types. Genes are found by
# their names.

sfa.tl.project(new, known)
new.obs[["bulk_labels", "smf_predicted", "smf_probability"]].head()

# %%
# **How good is that?** Beside it stands what one would do without superfactor: PCA of the same
# matrix, and a logistic regression on as many components, or on scanpy's usual 50. The balanced
# accuracy counts every type alike, also the rare ones.

import pandas as pd
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.pipeline import make_pipeline

truth = new.obs["bulk_labels"].astype(str)
named = {"superfactor, 10": new.obs["smf_predicted"].astype(str)}
for size in (10, 50):
    classifier = LogisticRegression(max_iter=1000)
    other = make_pipeline(PCA(size, random_state=0), classifier)
    other.fit(known.X.toarray(), known.obs["bulk_labels"].astype(str))
    named[f"PCA + LR, {size}"] = other.predict(new.X.toarray())

scores = pd.DataFrame(index=named)
for name, found in named.items():
    scores.loc[name, "accuracy"] = accuracy_score(truth, found)
    scores.loc[name, "balanced"] = balanced_accuracy_score(truth, found)
scores.round(2)

# %%
# **Is the difference real?** Count the cells that only one of two methods names rightly. If these
# are few, and about as many on either side, no winner can be told.

right = pd.DataFrame({name: found == truth for name, found in named.items()})
ours = right.pop("superfactor, 10")
only = pd.DataFrame(index=right.columns)
only["superfactor alone is right"] = [sum(ours & ~right[name]) for name in right]
only["it alone is right"] = [sum(right[name] & ~ours) for name in right]
only

# %%
# Ten factors do here what fifty components do. What is gained is less accuracy than fewer numbers,
# which can be read.
#
# **Which types are mixed up?** Look at what the wrong ones are called: rare T cells are taken for
# the commoner ones, which express much the same, and some dendritic cells for monocytes, their
# relatives.

wrong = new.obs["smf_predicted"].astype(str).where(~ours)
types = pd.DataFrame(index=new.obs["bulk_labels"].cat.categories)
types["cells"] = truth.value_counts()
types["right"] = ours.groupby(truth).sum()
most = wrong.groupby(truth).agg(lambda names: names.mode().get(0, ""))
types["the others mostly called"] = most
types

# %%
# Which genes go with the factors
# -------------------------------
# Every panel is a factor. The grey band has the types that it speaks for or against, and the bars
# are correlations of genes with its score.

sfa.pl.factors(known, n=6, max_factors=2)

# %%
# Factor 1 has *LYZ* and *CST3* at its high end, genes of dendritic cells and monocytes, and those of
# antigen presentation (*HLA-DRA* and its like), which B cells have as well. At the low end is what
# T cells have and those have not, *CD3D* and *CD3E*. Factor 2 has the genes of B cells at its high
# end (*CD79A*, *MS4A1*). At the low end are those of killer cells (*NKG7*, *GNLY*), and some that
# monocytes have as well (*TYROBP*, *FCER1G*).
#
# The new cells by their scores on these two. (Of the cells of the fit such a picture says less:
# the model has seen their labels.)

sfa.pl.samples(new, color="bulk_labels", factors=(1, 2), ellipses=False)

# %%
# Which genes mark the types
# --------------------------
# An end of a factor is no list of markers: monocytes, B cells and others can be in the middle. So
# ask type by type: which genes are higher there than in all other cells, and carry the
# prediction of the type? The answer stands where scanpy's own ``tl.rank_genes_groups`` puts it.

sfa.tl.rank_genes_smf(known)
sc.pl.rank_genes_groups(known, n_genes=10, ncols=4, sharey=False)

# %%
# The textbook's markers are there: *CD79A* and *MS4A1* of B cells, *GNLY* and *NKG7* of killer
# cells, *LST1* and *FCN1* of monocytes, *FCER1A* of dendritic cells. (*LYZ*, often called a marker of
# monocytes, is higher still in what is called dendritic here.) A table of one type, with the test
# of each gene by itself:

sc.get.rank_genes_groups_df(known, group="CD56+ NK").head(8)

# %%
# **What such a list does not say.** Each type is compared with all other cells, most of which are
# no T cells: the first genes of regulatory T cells are those of T cells altogether. Rare types
# have lists too, of genes that a handful of cells had by chance. Ask for those that survive a test
# of that many genes:

counts = known.obs["bulk_labels"].value_counts()
types = pd.DataFrame({"cells": counts})
for name in types.index:
    found = sc.get.rank_genes_groups_df(known, group=name, pval_cutoff=0.01)
    markers = found[found["scores"] > 0]
    types.loc[name, "markers"] = len(markers)
    types.loc[name, "first"] = ", ".join(markers["names"][:4])
types.astype({"markers": int})

# %%
# The p-values are too small all the same: the labels were made of the expression of these genes.
#
# All results are plain arrays and words, and stay in the file: after
# ``known.write_h5ad("known.h5ad")`` new cells can be projected next year. :doc:`The page on scanpy
# <../scanpy>` has covariates such as the donor, cells without a label, MuData, and files that are
# larger than memory.
