"""
Survival: who relapses early
============================

198 women with breast cancer, 51 of whom had a distant metastasis in up to 25 years of observation.
Which genes go with an early one, what do age and the size of the tumour add, and how far can the
answer be trusted?
"""

# %%
# The table
# ---------
# The patients are those of Desmedt et al. (2007, GSE7390), as scikit-survival brings them
# (``pip install scikit-survival``). The 76
# genes had been selected in an earlier study, on other patients. What is predicted has two parts:
# whether an event was seen, and until when the patient was observed. Who had none is *censored*: her
# time says "not until then".

from sksurv.datasets import load_breast_cancer

patients, y = load_breast_cancer()
y["t.tdm"] /= 365.25  # days to years
table = patients.rename(columns=lambda name: name.removeprefix("X")).drop(columns=["er", "grade"])
print(table.shape, f"{y['e.tdm'].sum()} events", y[:2])

# %%
# `~superfactor.SMFSurvival` takes this array of scikit-survival, and a DataFrame with the columns
# ``event`` and ``time`` as well.

# %%
# A first fit
# -----------
# Age and size stand beside the factors: they enter the hazard as they are. All other columns are
# genes, standardised and factorized. Rank and weights are chosen by cross-validation.

from superfactor import SMFSurvivalCV

model = SMFSurvivalCV(covariate_columns=["age", "size"], random_state=0).fit(table, y)
print(model.best_params_)
print(f"concordance {model.score(table, y):.2f} of patients seen")

# %%
# The score is the concordance: of two patients, how often did the one with the higher risk relapse
# first? 0.5 is chance. But the fit has seen these patients.

# %%
# Does it predict?
# ----------------
# Nested cross-validation makes the whole search anew on four fifths of the patients and judges it by the
# remaining one. Beside it, on the same fifths: tuned Cox regressions, on all columns and on principal
# components, and age and size alone.

from superfactor.selection import nested_scores

nested = nested_scores(model, table, y, n_repeats=2, covariate_names=["age", "size"], random_state=0)
print(nested.verdict)

# %%
# In a table, with Uno's concordance, the integrated Brier score and the calibration:

import pandas as pd

rows = {"supervised factors": nested.summary, **nested.rivals}
pd.DataFrame({name: {key: x["mean"] for key, x in row.items()} for name, row in rows.items()}).T.round(2)

# %%
# The same as curves: patients in three groups by the risk that they were given unseen, and how many
# of each group had no metastasis yet (Kaplan and Meier's estimate).

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
_ = ax.legend(title="predicted unseen", loc="lower left")

# %%
# The model
# ---------
# It was fitted to all patients once more, with a proof:

print(model.best_estimator_[-1].certificate_)

# %%
# That is the certificate: how much better any other factors of this number could fit these patients
# at these weights. Whether they predict, the cross-validation above says. Nor does it
# say that hazards are proportional: the authors of the data found that these genes tell more of the
# first years than of later ones, and a Cox model takes the mean.

# %%
# The factors
# -----------
# They come in the order of what they add to the risk. All of it is in the first one, whose high end
# is an earlier relapse; the second says what else varies in the genes.

from superfactor.interpretation import supervised_factors, top_features

supervised_factors(model).round(2)

# %%
# The genes at its two ends:

top_features(model, n=4).query("factor == 1").round(2)

# %%
# The covariates
# --------------
# A hazard ratio of 1 is no effect. A unit is a year of age and a centimetre of the tumour: the
# scaling is undone. 76 genes are many for 51 events, so the estimates stand beside what factors say of
# patients whom they have not seen (:doc:`/covariates`).

from superfactor.interpretation import covariate_effects

effects = covariate_effects(model, table, y, out_of_fold=True)
effects[["covariate", "kind", "estimate", "low", "high"]].round(2)

# %%
# New patients
# ------------
# The chance of no metastasis until 5 and until 10 years, for three patients whom the model has not
# seen:

half = SMFSurvivalCV(covariate_columns=["age", "size"], random_state=0).fit(table[3:], y[3:])
half.predict_survival_function(table[:3], times=[5, 10]).round(2)

# %%
# What is minimised for times, and why the proof holds for them too, is in :doc:`/method`, section 16.
