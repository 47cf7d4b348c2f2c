"""
Age and sex as covariates
=========================

The effect of each covariate on the progression of the disease, for fixed factors: estimate and 95 %
interval. Covariates enter the prediction and are not factorized. If an interval contains 0, no effect is
shown.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from superfactor import SMFRegressor
from superfactor.interpretation import covariate_effects

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
people = X[["age"]].assign(sex=X["sex"].map("group {:.0f}".format))
blood = X.drop(columns=["age", "sex"])
blood = (blood - blood.mean()) / blood.std()
model = SMFRegressor(2).fit(blood, y, covariates=people)
table = covariate_effects(model, blood, y, covariates=people)
middle = table["estimate_per_sd"]
reach = [middle - table["low_per_sd"], table["high_per_sd"] - middle]
_, ax = plt.subplots(figsize=(5, 2), layout="constrained")
ax.errorbar(middle, table["covariate"], xerr=reach, fmt="o", capsize=4)
ax.axvline(0, color="0.5")  # of odds and hazard ratios 1, with ax.set_xscale("log")
ax.set(xlabel="change of the target per standard deviation", ylim=(-0.5, 1.5))
table[["covariate", "estimate", "low", "high"]].round(2)
