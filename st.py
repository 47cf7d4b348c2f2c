import os, sys, time
for k in ("OMP_NUM_THREADS","OPENBLAS_NUM_THREADS"): os.environ[k]="1"
from superfactor._new.bridge import install
install()
import superfactor._new.starts as S, superfactor._new.solve as So
from benchmarks import hard
known=hard.read()["hard"]
orig=S._candidates
for i in (203,266,434,532,931,1372,1680,1792,2142,2240,2366,2380,231,1918):
    g=hard.problem(i,"hard"); out=[]
    for only in (None,0,1,2):
        def cand(inside,size,rng,only=only):
            for j,c in enumerate(orig(inside,size,rng)):
                if only is None or j==only: yield c
        S._candidates=cand
        So.EFFORT["auto"]=1.25 if only is None else 20
        t=time.process_time(); m=hard.fit(g,search="auto"); t=time.process_time()-t
        out.append(f"{(m.objective_-known[str(i)])/abs(known[str(i)]):.0e} ({t:.2f}s)")
    print(i,g.model,g.X.shape,g.rank,int(g.y.max()),f"xi {g.xi:.1e} lam {g.lam:.1e}",out,flush=True)
