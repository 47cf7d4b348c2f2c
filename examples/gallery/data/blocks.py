"""
Which table contributes?
========================

Here the mean, error and worst value of each measurement are three tables of the same tumours. Bars show
the share of each table in the factors and in the prediction. Use this with several omics tables to see
whether a table adds anything.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.interpretation import block_shares
from superfactor.preprocessing import BlockScaler

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
kinds = {kind: [name for name in X if kind in name.split()] for kind in ("mean", "error", "worst")}
scaler = StandardScaler().set_output(transform="pandas")
model = make_pipeline(scaler, BlockScaler(kinds), SMFClassifier(2)).fit(X, y)
table = block_shares(model, X).query("factor == 'all'").set_index("block")
table[["share_of_factor", "share_of_prediction"]].plot.bar(rot=0, xlabel="", figsize=(5, 3.5))
table.round(2)
