"""
Markers of each class
=====================

For each class, features that are higher than in all other classes, by a test that does not use the model,
and that the model uses for the class. Colours are means of the classes, in standard deviations. Use this
to characterize two or many classes.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.interpretation import class_features

X, y = load_wine(return_X_y=True, as_frame=True)
y = y.map("cultivar {}".format)
model = make_pipeline(StandardScaler(), SMFClassifier(2)).fit(X, y)
table = class_features(model, X, y, n=3)
means = ((X - X.mean()) / X.std()).groupby(y).mean()[table["feature"].unique()]
_, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
image = ax.imshow(means.T, cmap="RdBu_r", vmin=-1.5, vmax=1.5, aspect="auto")
ax.set_xticks(range(3), means.index)
ax.set_yticks(range(means.shape[1]), means.columns)
plt.colorbar(image, label="mean, in standard deviations")
table[["class", "feature", "mean", "mean_rest", "auc"]].round(2)
