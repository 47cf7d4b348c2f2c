"""
The top features of a factor
============================

Of 2,000 genes, these have the largest correlations with the factor that separates tumours from normal
tissue: samples with a high score have higher values at the high end and lower values at the low end.
Weights, in grey, show how the score is computed. Use the table to look up the genes.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.datasets import load_prostate
from superfactor.interpretation import top_features

data = load_prostate()
genes = pd.DataFrame(data.X, columns=data.features)
model = make_pipeline(StandardScaler(), SMFClassifier(2)).fit(genes, data.y)
table = top_features(model, n=8, positive="tumour").query("factor == 1")
_, ax = plt.subplots(figsize=(5, 4), layout="constrained")
columns, colors = ["weight", "correlation"], ["0.8", "C0"]
table[::-1].plot.barh(x="feature", y=columns, color=colors, xlabel="", ylabel="", ax=ax)
table.round(2)
