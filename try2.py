import os
for k in ("OMP_NUM_THREADS","OPENBLAS_NUM_THREADS"): os.environ[k]="1"
import sys; sys.path.insert(0,"/tmp/wt/containers/src") if False else None
import numpy as np, scipy.sparse as sp
from superfactor._new.problem import state
from superfactor.problem import state as old
from superfactor.losses import *
rng=np.random.default_rng(0)
for n,p in [(60,500),(300,40),(500,700),(100,50)]:
    X=rng.standard_normal((n,p))+1; Z=rng.standard_normal((n,2)); w=rng.uniform(.5,2,n)
    for name,loss,y in [("cls",resolve_link("logistic",2),rng.integers(0,3,n)),("num",SquaredError(),X[:,:2]+rng.standard_normal((n,2))+5),("cnt",PoissonLoss(),rng.poisson(3,(n,1)).astype(float)),("flags",FlagsLoss(),rng.integers(0,2,(n,3)).astype(float)),("cox",CoxPartialLikelihood(rng.exponential(size=n),np.ones(n),w),np.ones((n,1)))]:
        for m in ("filter","feature"):
            k=dict(xi="auto",lam="auto",lam_covariates="auto",covariates=Z,sample_weight=w, fit_intercept=name!="cox")
            a=state(m,X,y,loss,**k); b=old(m,X,y,loss,**k)
            d=[np.array(x)/np.array(z)-1 for x,z in zip(a.users_weights,b.users_weights)]
            r=np.abs(a.rows.rho-b.covariate_ridge).max(); s=state(m,sp.csr_array(X),y,loss,**k).users_weights
            print(n,p,name,m,["%.1e"%x for x in d],"%.1e"%r, "%.1e"%(s[1]/a.users_weights[1]-1))
