"""Settings of all tests: one BLAS thread per worker, and deterministic hypothesis examples."""

import gc
import os
import shutil
import sys

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # read when NumPy is first imported, so before anything else

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

# The same examples in every run on any machine, so that failures are reproducible.
settings.register_profile(
    "superfactor",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("superfactor")

# Signals, named pipes and shell scripts of Unix.
if sys.platform == "win32":
    collect_ignore = [
        "cli/test_output.py",
        "distributed",
        "selection/test_interruption.py",
        "solvers/newton/test_checkpoint.py",
        "solvers/test_interruption.py",
        "test_setup.py",
    ]


def pytest_collection_modifyitems(items):
    """Run the longest tests first, so that no worker is left alone with them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection_finish(session):
    """Leave out of garbage collections what is imported by now: they take a fifth of the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium, one for all tests: playwright runs only once in a process."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()
