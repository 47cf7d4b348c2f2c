"""
Training samples and new samples
================================

Left: training samples with their scores from the model. Right: new samples. Classes are better separated
in training samples, because the model used their labels. The right plot shows the performance.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.datasets import load_prostate
from superfactor.plotting import SamplesDisplay

data = load_prostate()
X, X_new, y, y_new = train_test_split(data.X, data.y, stratify=data.y, test_size=0.4, random_state=0)
model = make_pipeline(StandardScaler(), SMFClassifier(2)).fit(X, y)
_, axes = plt.subplots(1, 2, figsize=(8, 4.2), sharex=True, sharey=True, layout="constrained")
SamplesDisplay.from_estimator(model, X, y, samples="training", ax=axes[0])
SamplesDisplay.from_estimator(model, X_new, y_new, samples="new", ax=axes[1])
