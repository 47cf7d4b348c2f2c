"""
Which factor is which?
======================

Two sets of factors come in orders and signs of their own. They are paired so that partners are most
alike: 1 is the same factor, 0 has nothing in common. Here the labels made one factor that a plain
SVD does not have, and left the others about as they were.
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
