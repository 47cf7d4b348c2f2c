import sys
from superfactor._new.bridge import install
install()
from benchmarks.trust import problem
p = problem(0, int(sys.argv[1]))
model = p.estimator(search='auto').fit(**p.data())
print(p.parameters, p.X.shape, p.X.dtype, model.certificate_.relative_gap)
