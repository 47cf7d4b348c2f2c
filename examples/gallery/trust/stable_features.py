"""
Which genes are stable?
=======================

The model is fitted to 50 halves of the cells. Blue genes are among the top genes in at least three
quarters of them; at most one of these is expected by chance. Ticks show the same with shuffled labels.
Report the blue genes. The other genes are only correlated with the factor.
"""

import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.datasets import load_t_cells
from superfactor.interpretation import stable_features
from superfactor.plotting import StableFeaturesDisplay

data = load_t_cells()
genes = pd.DataFrame(data.X, columns=data.features)
model = make_pipeline(StandardScaler(), SMFClassifier(2)).fit(genes, data.y)
found = stable_features(model, genes, data.y, n_pairs=25)
StableFeaturesDisplay(found).plot()
print(found.statement)
