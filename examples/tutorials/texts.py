"""
Texts: topics that tell documents apart
=======================================

A thousand documents and thousands of words give a table of mostly zeros. Find the topics that distinguish
kinds of documents, and their words. The documents are the docstrings of SciPy's functions; the label is the
subpackage of a function.
"""

# %%
# The documents
# -------------
# The examples in the docstrings are removed, because they name the subpackage.

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
# The table of words is a sparse matrix and stays sparse: the fit uses only products with it. It is not
# centred, because centring would fill every zero. Six factors: five directions distinguish six classes, and
# one describes what all documents have in common, which centring would remove.

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
# You can rotate factors without changing the model (:doc:`/interpretation`). The default puts the strongest
# contrasts first, which is suitable for two classes. For topics use ``rotation="varimax"``, which gives each
# factor few large weights: here each factor goes with one subpackage. The column of a class shows the change
# of its log-odds per standard deviation of the topic, against the mean of all classes.

from superfactor.interpretation import supervised_factors, top_features

topics = supervised_factors(model, rotation="varimax")
topics.filter(like="coef").round(1)

# %%
# The words at the high end of each topic:

top = top_features(model, n=7, rotation="varimax").query("end == 'high'")
for topic, found in top.groupby("factor"):
    print(topic, topics.loc[topic, "direction"].split(",")[0], "—", ", ".join(found["feature"]))

# %%
# Most are technical terms. Others come from phrases that authors repeat in every text of a subpackage, which
# distinguish it too. Exclude such words with ``stop_words``.

# %%
# Is it the optimum?
# ------------------

print(model[-1].certificate_)

# %%
# Does supervision help?
# ----------------------
# Latent semantic analysis (LSA, a truncated SVD) finds factors of the same table without the labels; then a
# logistic regression is fitted to them. How many factors does it need for the same accuracy? All methods are
# evaluated on held-out documents.

from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score


def accuracy(*steps):
    """Return the accuracy on held-out documents."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return cross_val_score(make_pipeline(*steps), X, y, cv=folds).mean()


regression = LogisticRegression(C=100, max_iter=1000)
scores = pd.Series({"6 supervised factors": accuracy(SMFClassifier(6, search="off", certify=None))})
for rank in (6, 20, 60):
    scores[f"LSA, {rank} factors"] = accuracy(TruncatedSVD(rank, random_state=0), regression)
scores["all words"] = accuracy(regression)
(100 * scores).round(1)

# %%
# Six supervised factors predict nearly as well as all words, and can be interpreted. LSA reaches the same
# accuracy with many more factors: the gain is interpretability, not accuracy. (Words were weighted once, not
# in each fold, which uses no labels and saves time. For an exact evaluation, pass the texts to ``accuracy``
# and start its pipeline with ``words``.)
#
# A plot of the documents by the first two factors of the default rotation:

from superfactor.plotting import SamplesDisplay

_ = SamplesDisplay.from_estimator(model, texts, y, ellipses=False)

# %%
# See :doc:`/reproduction` for texts with covariates (fraudulent job postings), :doc:`/scaling` for files
# larger than memory, and the :doc:`guide </guide>` for topics without negative weights (supervised NMF).
