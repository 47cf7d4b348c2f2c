"""
Known features
==============

Notes on features, from a table or a CSV file, appear next to the features. Here they mark known genes of
T cells: both chains of CD8 and genes of cytotoxic cells are at the expected end. Use this to see which
features are new.
"""

import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.datasets import load_t_cells
from superfactor.interpretation import read_markers
from superfactor.plotting import FactorsDisplay

data = load_t_cells()
genes = pd.DataFrame(data.X, columns=data.features)
model = make_pipeline(StandardScaler(), SMFClassifier(1)).fit(genes, data.y)
known = dict.fromkeys(["GNLY", "NKG7", "GZMB", "GZMH", "PRF1", "GZMA"], "cytotoxic")
known |= dict.fromkeys(["CD8A", "CD8B", "CD4"], "lineage")
FactorsDisplay.from_estimator(model, n=12, positive="CD8", markers=read_markers(known))
