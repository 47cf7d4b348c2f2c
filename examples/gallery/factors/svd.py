"""
Beside a plain SVD
==================

Under each factor the axis of a plain SVD that is most like it. Factor 1 has hardly a counterpart
there: what tells tumours from normal tissue is a small part of what varies. The background is what
PCA shows as well.
"""

import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.datasets import load_prostate
from superfactor.plotting import FactorsDisplay

data = load_prostate()
genes = pd.DataFrame(data.X, columns=data.features)
model = make_pipeline(StandardScaler(), SMFClassifier(2)).fit(genes, data.y)
FactorsDisplay.from_estimator(model, genes, data.y, n=5, positive="tumour")
