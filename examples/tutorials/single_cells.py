"""
Single cells, with scanpy
=========================

Blood cells of ten types: find factors that distinguish the types, their genes, and markers of each type,
and predict the types of new cells.
"""

# %%
# Install with ``pip install "superfactor[anndata,plot]" scanpy``. The cells come with scanpy: 700
# mononuclear cells of human blood from 10x Genomics, 765 genes. Nothing is downloaded.

import scanpy as sc

scaled = sc.datasets.pbmc68k_reduced()
scaled.obs["bulk_labels"].value_counts()

# %%
# **Which matrix?** ``scaled.X`` is centred and scaled to unit variance, gene by gene. superfactor needs
# log-normalised counts, which are sparse and non-negative (:doc:`why <../scanpy>`). They are in ``raw``, as
# in many files. If your file has raw counts, run ``sc.pp.normalize_total`` and ``sc.pp.log1p`` first.

adata = scaled.raw.to_adata()
for X in (scaled.X, adata.X):
    filled = (X != 0).mean()
    print(f"from {X.min():.1f} to {X.max():.1f}, {filled:.0%} are not zero")

# %%
# **What are the labels?** They are not from experts: each cell has the type of the sorted cells with the
# most similar expression. The question here is whether a few factors can reproduce this assignment.
#
# Fit and results
# ---------------
# Three cells of ten are held out, with the same share of every type. The fit to the others has ten factors.

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
# color="bulk_labels")`` and ``sc.pp.neighbors(known, use_rep="X_smf")`` use them like ``X_pca``.
# ``varm["SMF"]`` has the correlations of the genes with these scores, and ``varm["SMF_weights"]`` their
# weights. ``uns["smf"]`` has the other results, such as the certificate:

print(known.uns["smf"]["certificate"]["statement"])

# %%
# New cells
# ---------
# ``tl.project`` computes scores and types of new cells. Genes are matched by name.

sfa.tl.project(new, known)
new.obs[["bulk_labels", "smf_predicted", "smf_probability"]].head()

# %%
# **How good is it?** Compare it with PCA of the same matrix and a logistic regression on as many
# components, or on scanpy's usual 50. The balanced accuracy gives all types the same weight, also rare ones.

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
# **Is the difference significant?** Count the cells that only one of two methods predicts correctly. If
# they are few, with similar numbers for both methods, no difference is shown.

right = pd.DataFrame({name: found == truth for name, found in named.items()})
ours = right.pop("superfactor, 10")
only = pd.DataFrame(index=right.columns)
only["only superfactor is right"] = [sum(ours & ~right[name]) for name in right]
only["only the other is right"] = [sum(right[name] & ~ours) for name in right]
only

# %%
# Ten factors reach here what fifty components reach. The gain is interpretability rather than accuracy.
#
# **Which types are confused?** The wrong predictions show that rare T cells are predicted as more frequent
# ones with similar expression, and some dendritic cells as the related monocytes.

wrong = new.obs["smf_predicted"].astype(str).where(~ours)
types = pd.DataFrame(index=new.obs["bulk_labels"].cat.categories)
types["cells"] = truth.value_counts()
types["right"] = ours.groupby(truth).sum()
most = wrong.groupby(truth).agg(lambda names: names.mode().get(0, ""))
types["most frequent error"] = most
types

# %%
# Which genes go with the factors
# -------------------------------
# Every panel is a factor. The grey band shows its coefficients for the types, and the bars are correlations
# of genes with its score.

sfa.pl.factors(known, n=6, max_factors=2)

# %%
# Factor 1 has *LYZ* and *CST3* at its high end, genes of dendritic cells and monocytes, and genes of antigen
# presentation such as *HLA-DRA*, which B cells express too. At the low end are *CD3D* and *CD3E*, which T
# cells express. Factor 2 has genes of B cells at its high end (*CD79A*, *MS4A1*). At the low end are genes of
# killer cells (*NKG7*, *GNLY*), and some that monocytes express too (*TYROBP*, *FCER1G*).
#
# The new cells by their scores on these two factors. (A plot of the training cells shows less, because the
# model used their labels.)

sfa.pl.samples(new, color="bulk_labels", factors=(1, 2), ellipses=False)

# %%
# Markers of the types
# --------------------
# An end of a factor is not a list of markers: several types can be there or in the middle. Markers of a type
# are higher there than in all other cells, and contribute to its prediction. They are stored in the same
# place as the results of scanpy's ``tl.rank_genes_groups``.

sfa.tl.rank_genes_smf(known)
sc.pl.rank_genes_groups(known, n_genes=10, ncols=4, sharey=False)

# %%
# They include known markers: *CD79A* and *MS4A1* of B cells, *GNLY* and *NKG7* of killer cells, *LST1* and
# *FCN1* of monocytes, *FCER1A* of dendritic cells. (*LYZ*, often used as a marker of monocytes, is even
# higher in the cells labelled dendritic here.) A table of one type, with the test of each gene:

sc.get.rank_genes_groups_df(known, group="CD56+ NK").head(8)

# %%
# **Limits of such a list.** Each type is compared with all other cells, most of which are not T cells: the
# first genes of regulatory T cells are those of all T cells. Lists of rare types contain genes that are high
# in few cells by chance. Select genes by p-values adjusted for the number of genes:

counts = known.obs["bulk_labels"].value_counts()
types = pd.DataFrame({"cells": counts})
for name in types.index:
    found = sc.get.rank_genes_groups_df(known, group=name, pval_cutoff=0.01)
    markers = found[found["scores"] > 0]
    types.loc[name, "markers"] = len(markers)
    types.loc[name, "first"] = ", ".join(markers["names"][:4])
types.astype({"markers": int})

# %%
# The p-values are still too small, because the labels come from the expression of these genes.
#
# All results are plain arrays and strings, and are saved in the file: after
# ``known.write_h5ad("known.h5ad")`` you can project new cells later. :doc:`The page on scanpy <../scanpy>`
# shows covariates such as the donor, cells without a label, MuData, and files larger than memory.
