import os, time, warnings, sys
warnings.simplefilter("ignore")
import numpy as np
from benchmarks import hard
from superfactor import SMFClassifier
from superfactor._new import bridge
import superfactor.estimators.base as base
from superfactor.solvers import SOLVERS
import benchmarks.multistart
old=(SOLVERS["lifted-newton"], base.certify)
bridge.install(); new=(SOLVERS["lifted-newton"], base.certify)
tot=[0,0]
for i in range(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])):
    g=hard.problem(i,"hard")
    res=[]
    for j,(s,c) in enumerate((old,new)):
        SOLVERS["lifted-newton"]=s; base.certify=c
        q=0 if g.covariates is None else 1
        e=SMFClassifier(g.rank, model=g.model, xi=g.xi, lam=g.lam, random_state=0, lam_covariates=None)
        t=time.process_time(); e.fit(g.X,g.y,covariates=g.covariates); t=time.process_time()-t
        tot[j]+=t; res.append((e.objective_,e.certificate_.relative_gap,t, e.certificate_.objective-e.certificate_.lower_bound))
    (f0,g0,t0,_),(f1,g1,t1,_)=res
    print(i,g.model,g.X.shape,g.rank,f"{f0:.8g} {f1:.8g} rel {(f1-f0)/max(abs(f0),1e-300):.1e} gaps {g0:.1e} {g1:.1e} t {t0:.3f} {t1:.3f}")
print(tot)
