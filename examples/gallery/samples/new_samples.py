"""
New samples in the same map
===========================

On the left the samples of the fit, as the model itself puts them, on the right samples it has not
seen. Classes lie further apart where the labels were known: judge a model by the right one.
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
