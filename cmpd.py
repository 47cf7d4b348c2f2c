import os, time, warnings, sys
for k in ("OMP_NUM_THREADS","OPENBLAS_NUM_THREADS"): os.environ[k]="1"
os.environ.setdefault("SUPERFACTOR_DATA_DIR","/work/shared/data")
warnings.simplefilter("ignore")
os.sched_setaffinity(0,{0})
import numpy as np
from benchmarks import defaults
from superfactor import SMFClassifier
from superfactor._new import bridge
import superfactor.estimators.base as base
from superfactor.solvers import SOLVERS
old=(SOLVERS["lifted-newton"], base.certify)
bridge.install(); new=(SOLVERS["lifted-newton"], base.certify)
def best(f,k=3):
    t=[]
    for _ in range(k):
        a=time.process_time(); r=f(); t.append(time.process_time()-a)
        if sum(t)>4: break
    return min(t), r
sel=sys.argv[1:] 
for tb in defaults.tables():
    if sel and not any(s in tb.name for s in sel): continue
    for m in ("filter","feature"):
        out=[]
        for s,c in (old,new):
            SOLVERS["lifted-newton"]=s; base.certify=c
            t,r=best(lambda: SMFClassifier(tb.rank,model=m).fit(tb.X,tb.y)); out.append((t,r.objective_,r.certificate_.relative_gap,r.n_iter_))
        (a,f,g,_),(b,h,k,i)=out
        print(f"{tb.name:34s} {m:8s} old {a:.3f} new {b:.3f} ratio {b/a:.2f}  d {(h-f)/f:.1e} gaps {g:.1e} {k:.1e} it {i}",flush=True)
