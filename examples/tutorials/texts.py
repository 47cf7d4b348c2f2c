"""
Texts: topics that tell documents apart
=======================================

A thousand documents, thousands of words, almost all cells zero. Which topics tell the kinds of
documents apart, and which words make them up? The documents are the help texts of SciPy's
functions, which every installation has; the label is the part of SciPy that a function belongs to.
"""

# %%
# The documents
# -------------
# The worked examples are cut off: they import the part by name, which would give the answer away.

import importlib
import inspect
import re

import pandas as pd

parts = ["linalg", "ndimage", "optimize", "signal", "special", "stats"]
documents = {}
for part in parts:
    module = importlib.import_module(f"scipy.{part}")
    for name in module.__all__:
        text = inspect.getdoc(getattr(module, name)) or ""
        text = re.split(r"\n(?:Examples|References)\n-+\n", text)[0]
        if len(text) > 300:
            documents[text] = part  # a text that occurs twice counts once

y = pd.Series(documents)
texts = list(y.index)
y.value_counts()

# %%
# From words to a model
# ---------------------
# The table of words is a sparse matrix, and stays one: factors are found through products with it.
# It is not centred, since that would fill every zero. Why six factors: five directions tell six
# classes apart, and one is for what all documents have in common, which centring would have taken
# off.

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from superfactor import SMFClassifier

words = TfidfVectorizer(
    stop_words=[*ENGLISH_STOP_WORDS, *parts, "scipy", "numpy"],
    token_pattern=r"\b[a-zA-Z]{3,}\b",
    min_df=3,
    sublinear_tf=True,
)
model = make_pipeline(words, SMFClassifier(n_components=6)).fit(texts, y)

X = model[:-1].transform(texts)
print(f"{X.shape[0]} documents, {X.shape[1]} words, {X.nnz / np.prod(X.shape):.1%} of cells filled")

# %%
# Which topics?
# -------------
# Factors can be turned without changing the model (:doc:`/interpretation`). The default puts the
# strongest contrasts first, which suits two classes. For topics take ``rotation="varimax"``, which
# turns the factors until each has few large weights: here each speaks for one part. The column of a
# class says by how much one standard deviation of the topic moves its log-odds, against the mean of
# all classes.

from superfactor.interpretation import supervised_factors, top_features

topics = supervised_factors(model, rotation="varimax")
topics.filter(like="coef").round(1)

# %%
# And which words? Those at the high end:

top = top_features(model, n=7, rotation="varimax").query("end == 'high'")
for topic, found in top.groupby("factor"):
    print(topic, topics.loc[topic, "direction"].split(",")[0], "—", ", ".join(found["feature"]))

# %%
# Most are words of the trade. Others are habits of authors: a note that is repeated in every text
# of a part tells it apart just as well. The model cannot know which of the two you are after; the
# list shows it, and ``stop_words`` is where to say so.

# %%
# Is it the best answer there is?
# -------------------------------

print(model[-1].certificate_)

# %%
# Does knowing the label help?
# ----------------------------
# Latent semantic analysis (LSA, a truncated SVD) finds factors of the same table without the
# labels, and a logistic regression reads them. How many does it need to do as well? All are judged
# on documents that they have not seen.

from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score


def accuracy(*steps):
    """Share of right answers, in documents that were not seen."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return cross_val_score(make_pipeline(*steps), X, y, cv=folds).mean()


regression = LogisticRegression(C=100, max_iter=1000)
scores = pd.Series({"6 supervised factors": accuracy(SMFClassifier(6, search="off", certify=None))})
for rank in (6, 20, 60):
    scores[f"LSA, {rank} factors"] = accuracy(TruncatedSVD(rank, random_state=0), regression)
scores["all words"] = accuracy(regression)
(100 * scores).round(1)

# %%
# Six supervised factors predict nearly as well as all words, and can be read. LSA comes as far with
# many times the factors: the gain is in how little there is to read, not in what can be predicted.
# (Words were weighted once, not in each fold. That uses no labels and saves time; where each tenth
# of a per cent counts, give ``accuracy`` the texts and begin its pipeline with ``words``.)
#
# A map of the documents on the first two contrasts of the default rotation:

from superfactor.plotting import SamplesDisplay

_ = SamplesDisplay.from_estimator(model, texts, y, ellipses=False)

# %%
# Real texts with covariates beside them, such as job postings of which some are fraud, are in
# :doc:`/reproduction`; files too large for memory in :doc:`/scaling`; topics without negative words
# (supervised NMF) in the :doc:`guide </guide>`.
