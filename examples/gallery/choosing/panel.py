"""
How many genes are enough?
==========================

The genes with the largest weights in the prediction are selected, and a model of these genes only is
fitted. The accuracy is that of samples used in neither step. Use this to plan a test that measures few
genes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.datasets import load_prostate

data = load_prostate()
sizes, scores = [2, 5, 20, 100, 500], []
for size in sizes:
    ranked = SMFClassifier(2, certify=None)
    chosen = SelectFromModel(ranked, threshold=-np.inf, max_features=size)
    model = make_pipeline(StandardScaler(), chosen, SMFClassifier(2, certify=None))
    scores.append(cross_val_score(model, data.X, data.y, cv=5))
_, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
ax.errorbar(sizes, np.mean(scores, axis=1), np.std(scores, axis=1), marker="o", capsize=3)
ax.set(xscale="log", xlabel="genes in the panel", ylabel="accuracy on held-out samples")
