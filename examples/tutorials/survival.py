"""
Survival: who relapses early
============================

198 women with breast cancer, 51 of whom had a distant metastasis in up to 25 years of observation. Find genes
that go with an early metastasis and the effects of age and tumour size, and evaluate the prediction.
"""

# %%
# The table
# ---------
# The patients are those of Desmedt et al. (2007, GSE7390), from scikit-survival (``pip install
# scikit-survival``). The 76 genes were selected in an earlier study, on other patients. The outcome has two
# parts: whether an event was observed, and the time of observation. Patients without an event are
# *censored*: they had no event until that time.

from sksurv.datasets import load_breast_cancer

patients, y = load_breast_cancer()
y["t.tdm"] /= 365.25  # days to years
table = patients.rename(columns=lambda name: name.removeprefix("X")).drop(columns=["er", "grade"])
print(table.shape, f"{y['e.tdm'].sum()} events", y[:2])

# %%
# `~superfactor.SMFSurvival` accepts this array of scikit-survival, or a DataFrame with the columns ``event``
# and ``time``.

# %%
# A first fit
# -----------
# Age and size are covariates: they enter the hazard directly. All other columns are genes, standardised and
# factorized. Cross-validation chooses rank, ξ and λ.

from superfactor import SMFSurvivalCV

model = SMFSurvivalCV(covariate_columns=["age", "size"], random_state=0).fit(table, y)
print(model.best_params_)
print(f"concordance {model.score(table, y):.2f} of training patients")

# %%
# The score is the concordance: the share of pairs of patients in which the one with the higher risk relapsed
# first. 0.5 is chance. It is optimistic, because the model was fitted to these patients.

# %%
# Does it predict?
# ----------------
# Nested cross-validation repeats the whole search on four fifths of the patients and evaluates it on the last
# fifth. The baselines, on the same folds, are tuned Cox regressions on all columns and on principal
# components, and age and size alone.

from superfactor.selection import nested_scores

nested = nested_scores(model, table, y, n_repeats=2, covariate_names=["age", "size"], random_state=0)
print(nested.verdict)

# %%
# The scores, with Uno's concordance, the integrated Brier score and the calibration:

import pandas as pd

rows = {"supervised factors": nested.summary, **nested.baselines}
pd.DataFrame({name: {key: x["mean"] for key, x in row.items()} for name, row in rows.items()}).T.round(2)

# %%
# The same as Kaplan–Meier curves: patients in three groups by out-of-fold risk, and the share of each group
# without metastasis.

import matplotlib.pyplot as plt
from sksurv.nonparametric import kaplan_meier_estimator

risk = nested.predictions[:, 0]
group = pd.qcut(risk, 3, labels=["low", "middle", "high"])

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name in group.categories:
    own = y[group == name]
    years, share = kaplan_meier_estimator(own["e.tdm"], own["t.tdm"])
    label = f"{name} risk: {own['e.tdm'].sum()} of {len(own)} relapsed"
    ax.step([0, *years], [1, *share], where="post", label=label)
ax.set(xlabel="years since diagnosis", ylabel="share without distant metastasis")
ax.set(xlim=(0, 15), ylim=(0, 1))
_ = ax.legend(title="out of fold", loc="lower left")

# %%
# The model
# ---------
# The final model is fitted to all patients, with a certificate:

print(model.best_estimator_[-1].certificate_)

# %%
# The certificate bounds how much better any other factors of this rank could fit these patients at this ξ
# and λ. It does not show that they predict; the cross-validation above does. Nor does it show that hazards
# are proportional: the authors of the data found that these genes predict the first years better than later
# ones, and a Cox model averages over time.

# %%
# The factors
# -----------
# Factors are ordered by their effect on the risk. The first one contains the whole effect; high scores go
# with an earlier relapse. The second describes other variation of the genes.

from superfactor.interpretation import supervised_factors, top_features

supervised_factors(model).round(2)

# %%
# The top genes of factor 1:

top_features(model, n=4).query("factor == 1").round(2)

# %%
# The covariates
# --------------
# A hazard ratio of 1 means no effect. Units are a year of age and a centimetre of the tumour. 76 genes are
# many for 51 events, so the estimates are adjusted for out-of-fold factors (:doc:`/covariates`).

from superfactor.interpretation import covariate_effects

effects = covariate_effects(model, table, y, out_of_fold=True)
effects[["covariate", "kind", "estimate", "low", "high"]].round(2)

# %%
# New patients
# ------------
# The probability of no metastasis until 5 and 10 years, for three patients who are not in the training data:

half = SMFSurvivalCV(covariate_columns=["age", "size"], random_state=0).fit(table[3:], y[3:])
half.predict_survival_function(table[:3], times=[5, 10]).round(2)

# %%
# :doc:`/method`, section 16, has the objective for survival times and its certificate.
