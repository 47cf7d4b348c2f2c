import os, sys
for k in ("OMP_NUM_THREADS","OPENBLAS_NUM_THREADS"): os.environ[k]="1"
os.environ.setdefault("SUPERFACTOR_DATA_DIR","/work/shared/data")
import cProfile, pstats
from benchmarks import defaults
from superfactor._new.problem import state
from superfactor._new.answer import solve
from superfactor.losses import resolve_link
import numpy as np, time
for tb in defaults.tables():
    if sys.argv[1] in tb.name:
        y=np.unique(tb.y,return_inverse=True)[1]
        def f():
            p=state(sys.argv[2],tb.X,y,resolve_link("logistic",tb.rank-1),xi="auto",lam="auto")
            a=solve(p,tb.rank); b=a.bound(); return a,b
        f(); t=time.process_time(); pr=cProfile.Profile(); pr.enable(); a,b=f(); pr.disable()
        print(a.objective,b.relative,a.searched,len(a.history), time.process_time()-t)
        pstats.Stats(pr).sort_stats("cumtime").print_stats(38)
