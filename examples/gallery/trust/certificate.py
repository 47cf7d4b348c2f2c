"""
What is proven
==============

The objective of each fit, and a lower bound for any other factors. If both lines meet, the fit is proven
to be optimal. With a small ridge they differ: the fit may still be optimal, but this is not proven.
"""

import textwrap

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
ridges = [0.01, 0.03, 0.1, 0.3, 1, 3, 10]
found = [SMFClassifier(2, lam=lam).fit(X, y).certificate_ for lam in ridges]
values, bounds = [c.objective for c in found], [c.lower_bound for c in found]
_, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
ax.semilogx(ridges, values, "o-", label="the fit")
ax.semilogx(ridges, bounds, "v--", label="lower bound")
ax.fill_between(ridges, bounds, values, alpha=0.2, label="not proven")
ax.set(xlabel="λ, ridge", ylabel="objective")
ax.legend()
for certificate in (found[0], found[-1]):
    print(textwrap.fill(str(certificate), 80), end="\n\n")
