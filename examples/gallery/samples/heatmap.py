"""
Top genes in all samples
========================

Rows are the genes at both ends of the predictive factor, columns are samples; both are clustered. Use
this to see whether a whole class has a pattern or only some of its samples. The separation of the classes
is no evidence, because the genes were selected with their labels.
"""

import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.datasets import load_prostate
from superfactor.plotting import HeatmapDisplay

data = load_prostate()
genes = pd.DataFrame(data.X, columns=data.features)
model = make_pipeline(StandardScaler(), SMFClassifier(2)).fit(genes, data.y)
HeatmapDisplay.from_estimator(model, genes, data.y)
