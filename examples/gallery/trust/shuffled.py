"""
Stable is not yet predictive
============================

With the true labels and with shuffled ones: how alike the predictive factor stays when samples are
left out, and how many unseen samples it gets right. It returns in both. Only accuracy on unseen
samples says that there is something to find.
"""

import numpy as np
import pandas as pd
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.datasets import load_prostate
from superfactor.interpretation import stability

X, y = load_prostate().X, load_prostate().y
shuffled = np.random.default_rng(0).permutation(y)
model, found = make_pipeline(StandardScaler(), SMFClassifier(2)), {}
for name, labels in {"true labels": y, "shuffled labels": shuffled}.items():
    again = stability(model.fit(X, labels), X, labels, n_resamples=20)
    accuracy = cross_val_score(model, X, labels, cv=5).mean()
    found[name] = {"similarity": again.similarity[:, 0].mean(), "accuracy": accuracy}
pd.DataFrame(found).T.plot.bar(rot=0, ylim=(0, 1.2))
