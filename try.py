import os
for k in ("OMP_NUM_THREADS","OPENBLAS_NUM_THREADS"): os.environ[k]="1"
import sys, time
import numpy as np
from superfactor._new.rows import Rows
from superfactor._new.solve import minimise, Search
from superfactor._new.certificate import bounded
from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.solvers import newton
from superfactor.theory import certify
def new(X,y,model,r,xi,lam,w=None):
    k=int(y.max()); Y=np.asfortranarray(np.eye(k+1)[y][:,1:])
    n=len(y); s=2.0**np.floor(np.log2(np.sqrt((X.multiply(X).sum() if hasattr(X,'multiply') else (X**2).sum()))))
    one=np.ones((n,1))
    rows=Rows(X,Y,resolve_link("logistic",k),one,[0.0],weight=None if w is None else w[:,None],loss_weight=one if w is None else w[:,None],scale=s)
    t=time.perf_counter()
    f=minimise(rows,model,r,xi*s*s,lam/s/s if model=="filter" else lam,Search())
    t1=time.perf_counter()-t
    b=bounded(f)
    return f,b,t1,time.perf_counter()-t
def old(X,y,model,r,xi,lam,w=None):
    k=int(y.max())
    t=time.perf_counter()
    p=state(model,X,y,resolve_link("logistic",k),xi=xi,lam=lam,sample_weight=w,rank=r)
    f=newton.solve(p,r); t1=time.perf_counter()-t
    c=certify(p,r,f)
    return f,c,t1,time.perf_counter()-t
if __name__=="__main__":
    rng=np.random.default_rng(0)
    for (n,p,k,r) in [(60,2000,1,2),(100,50,2,3),(400,300,3,4),(1797,64,9,5),(3000,100,1,3)]:
        X=rng.standard_normal((n,p))@np.diag(1/np.arange(1,p+1)**.3); y=(X[:,:k+1]+.5*rng.standard_normal((n,k+1))).argmax(1)
        for model in ("filter","feature"):
            xi=.1*n*np.log(k+1)/(X**2).sum(); lam=1e-3*np.linalg.norm(X,2)**2 if model=="filter" else 1e-3
            if model=="feature": xi*=100
            f,b,t1,t2=new(X,y,model,r,xi,lam); g,c,o1,o2=old(X,y,model,r,xi,lam)
            print((n,p,k,r),model,f"{float(f.at.F):.9f} {g.objective:.9f}  d={(float(f.at.F)-g.objective)/(g.objective-0):.1e} gap {b.relative:.1e} {c.relative_gap:.1e} t {t2:.3f} {o2:.3f} round {b.over(b.rounding):.1e} starts {f.starts}")
