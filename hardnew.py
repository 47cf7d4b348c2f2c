import os, sys, time, warnings
for k in ("OMP_NUM_THREADS","OPENBLAS_NUM_THREADS"): os.environ[k]="1"
from superfactor._new.bridge import install
if sys.argv[1]=="new": install()
from benchmarks import hard
import numpy as np
from concurrent.futures import ProcessPoolExecutor
def run(every, coll="hard"):
    t=time.process_time()
    rows=hard.fits(coll, range(0,hard.COUNTS[coll],every), search="auto")
    s=time.process_time()-t
    b=[r for r in rows if not r["proven"] and r["excess"]>1e-6]
    print(sys.argv[1],coll,"problems",len(rows),"beaten",len(b),"filter",sum(r["model"]=="filter" for r in b),"cpu",round(s,1),"worst",max([r["of supervised"] for r in b],default=0), [ (r["i"],r["model"][:2],r["κ"],f"{r['of supervised']:.1e}") for r in b][:30],flush=True)
run(7); run(3,"ordinary")
