import os
for k in ("OMP_NUM_THREADS","OPENBLAS_NUM_THREADS"): os.environ[k]="1"
import numpy as np, scipy.sparse as sp, tempfile, time
from superfactor._new.problem import state
from superfactor._new.answer import solve, solve_path
from superfactor.losses import *
rng=np.random.default_rng(0)
for n,p in [(60,500),(300,40),(300,200)]:
    X=rng.standard_normal((n,p))+.3; Z=rng.standard_normal((n,2)); w=rng.uniform(.5,2,n); y=(X[:,:3]+rng.standard_normal((n,3))).argmax(1)
    loss=resolve_link("logistic",2)
    for m in ("filter","feature"):
        k=dict(xi="auto",lam="auto",lam_covariates="auto",covariates=Z,sample_weight=w)
        pr=state(m,X*100,y,loss,**k)
        a=solve(pr,3); f=a.factors
        # check the objective from the factors
        act=(X*100@f.components@f.beta if m=="filter" else f.codes@f.beta)+Z@f.gamma[:2]+f.gamma[2]
        A=f.components@f.beta if m=="filter" else f.codes@f.beta*np.sqrt(w)[:,None]
        xi,lam=pr.users_weights
        Y=np.eye(3)[y][:,1:]
        F=w@loss.value(act,Y)+xi*(w@((X*100-f.codes@f.components.T)**2).sum(1))+lam*(A**2).sum()+pr.rows.rho@(f.gamma**2).sum(1)
        b=a.bound()
        again=solve(pr,3,start=a.start(m),search="off")
        c=tempfile.mktemp(); one=solve(pr,3,checkpoint=c,max_iter=3); two=solve(pr,3,checkpoint=c)
        path=[x.objective for x in solve_path(pr,3,[(xi,4*lam),(xi,2*lam),(xi,lam)])]
        print(n,p,m,a.objective,f"{F/a.objective-1:.1e}",b.proven,f"{b.relative:.1e}",a.history.objective.__len__(),len(again.history),f"{again.objective/a.objective-1:.1e}", one.converged, len(two.history), f"{two.objective/a.objective-1:.1e}", f"{path[-1]/a.objective-1:.1e}", a.reason)
