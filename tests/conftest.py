"""Settings every test shares: one BLAS thread a worker, and hypothesis without clocks or dice."""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # read when NumPy is first imported, so before anything else

from hypothesis import HealthCheck, settings  # noqa: E402

# The same examples in every run, however slow the machine: a failure is never the weather's.
settings.register_profile(
    "superfactor",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("superfactor")
