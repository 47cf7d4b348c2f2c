"""
Top genes in all samples
========================

Rows are the genes at the two ends of the predictive factor, columns the samples, and both stand
beside those they are like. Take it to see whether the whole class has a pattern or only some of its
samples. That classes come apart here proves nothing: the genes were chosen with their labels.
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
