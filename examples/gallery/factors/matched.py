"""
Which factor is which?
======================

Each set of factors has its own order and signs. Here they are matched so that partners are most similar:
1 means the same factor, 0 nothing in common. The labels create one factor that a plain SVD does not have,
and change the others little.
"""

import matplotlib.pyplot as plt
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.datasets import load_prostate
from superfactor.interpretation import factor_view, matched, unsupervised

data = load_prostate()
model = make_pipeline(StandardScaler(), SMFClassifier(5)).fit(data.X, data.y)
pairs = matched(factor_view(model), unsupervised(model, data.X, data.y))
names = [f"factor {j + 1}\nSVD {k}" for j, k in zip(pairs.beside, pairs.number, strict=True)]
_, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
ax.bar(names, pairs.similarity)
ax.set_ylabel("similarity")
