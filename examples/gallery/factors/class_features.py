"""
Markers of each class
=====================

For every class the features of which it has more than all others, by a test that knows nothing of the
model, and which the model uses for it. Colours are means of the classes, in standard deviations. Take
it to name what a class is, with two or many of them.
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
