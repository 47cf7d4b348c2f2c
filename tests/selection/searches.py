"""Small searches to watch and to stop: 3 splits of 4 candidates."""

import numpy as np
from sklearn.model_selection import StratifiedKFold

from superfactor import SMFClassifierCV
from superfactor.outcomes import COVARIATES as COVARIATES
from superfactor.outcomes import Classes

SPLITS, CANDIDATES = 3, 4
SCORES = SPLITS * CANDIDATES


def numbers():
    """X (40, 12) and two classes."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return rng.standard_normal((40, 12)) + 0.8 * y[:, None], y


def make(**options):
    folds = StratifiedKFold(SPLITS, shuffle=True, random_state=1)
    options = {"scoring": "neg_log_loss", "cv": folds} | options
    return SMFClassifierCV([1, 2], xi=0.01, lam=[50.0, 5.0], **options)


def splits_of(search):
    """Scores (splits, candidates) of a search."""
    return np.array([search.cv_results_[f"split{k}_test_score"] for k in range(SPLITS)])


# Names of the methods that labels are compared by.
PCA_LR, RIDGE, FREQUENT = Classes.pca_name, Classes.ridge_name, Classes.guess_name
