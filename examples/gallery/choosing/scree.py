"""
How many factors?
=================

The share of each singular direction of the data. After the elbow, all directions are similar. This first
guess ignores the labels; the square marks the number of factors of this model.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from superfactor import SMFClassifier
from superfactor.plotting import ScreeDisplay

X, y = load_digits(return_X_y=True)
model = SMFClassifier(5, certify=None).fit(X - X.mean(axis=0), y)
_, ax = plt.subplots(figsize=(4.5, 3.2), layout="constrained")
ScreeDisplay.from_estimator(model, X, n_values=30, ax=ax)
