"""
Features that are known already
===============================

Notes on features, from a table or a CSV file, are shown where these features come up. Here they are
genes that biologists know T cells by: both chains of CD8 and the genes of cells that kill are where one
expects them. Take it to see at a glance what is new.
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
known = dict.fromkeys(["GNLY", "NKG7", "GZMB", "GZMH", "PRF1", "GZMA"], "kills")
known |= dict.fromkeys(["CD8A", "CD8B", "CD4"], "its name")
FactorsDisplay.from_estimator(model, n=12, positive="CD8", markers=read_markers(known))
