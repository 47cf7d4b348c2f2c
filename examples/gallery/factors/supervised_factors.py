"""
One row per factor
==================

The table for a paper: the share of variance of each factor, and its effect on the classes. With three
classes, two factors are predictive. The third is background: it explains variance, adds nothing to the
prediction of the others, and has no bar.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.interpretation import supervised_factors

X, y = load_wine(return_X_y=True, as_frame=True)
y = y.map("cultivar {}".format)
model = make_pipeline(StandardScaler(), SMFClassifier(3)).fit(X, y)
table = supervised_factors(model)
_, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
table.filter(like="coef").plot.bar(rot=0, ylabel="log-odds per standard deviation", ax=ax)
table.round(2)
