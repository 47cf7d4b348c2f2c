"""
Comparison with plain SVD
=========================

Below each factor is the most similar axis of a plain SVD. Factor 1 has hardly a counterpart there,
because the difference between tumours and normal tissue is a small part of the variance. PCA shows the
background factor, too.
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
