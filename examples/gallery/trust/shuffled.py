"""
Samples with true and shuffled labels
=====================================

The top row has the true labels, the bottom row shuffled ones. On the left are training samples, whose classes
the model separates even with shuffled labels. On the right are out-of-fold scores, the default of all plots
of samples; they separate only the true labels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.datasets import load_prostate
from superfactor.interpretation import held_out_scores
from superfactor.plotting import SamplesDisplay

X, y = load_prostate().X, load_prostate().y
_, axes = plt.subplots(2, 2, figsize=(8, 8), layout="constrained")
for row, labels in zip(axes, (y, np.random.default_rng(0).permutation(y)), strict=True):
    model = make_pipeline(StandardScaler(), SMFClassifier(2)).fit(X, labels)
    held_out = held_out_scores(model, X, labels)
    SamplesDisplay.from_estimator(model, X, labels, samples="training", ax=row[0])
    SamplesDisplay.from_estimator(model, y=labels, held_out=held_out, ax=row[1])
    print(f"held out, the factors explain {held_out.explained:.0%} of the deviance")
axes[0, 0].set_title("true labels")
axes[1, 0].set_title("shuffled labels")
