"""
Features and the outcome
========================

Each point is a gene. Horizontally it shows the difference between CD8 and CD4 T cells, vertically what the
gene adds to the log-odds of CD8 if all other genes are fixed. Blue genes differ by a test without the model
(q at most 5 %). Genes with the largest difference need not have the largest weight: similar genes share it.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.datasets import load_t_cells
from superfactor.interpretation import feature_effects

data = load_t_cells()
genes = pd.DataFrame(data.X, columns=data.features)
model = make_pipeline(StandardScaler(), SMFClassifier(2)).fit(genes, data.y)
table = feature_effects(model, genes, data.y, positive="CD8")
_, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
colors = (table["q"] <= 0.05).map({True: "C0", False: "0.75"})
ax.scatter(table["difference_in_sd"], table["coef_per_sd"], c=colors, s=10)
for row in table.nlargest(5, "coef_per_sd").itertuples():
    ax.annotate(row.feature, (row.difference_in_sd, row.coef_per_sd), size=8, ha="right")
ax.set(xlabel="CD8 minus CD4, in standard deviations", ylabel="log-odds per standard deviation")
table.nsmallest(8, "q")[["feature", "mean", "mean_rest", "auc", "q", "correlation"]].round(3)
