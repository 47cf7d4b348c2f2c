"""The site as `make docs` has built it, and a server that shows it to a browser."""

import functools
import http.server
import threading
from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "build" / "docs" / "html"


@pytest.fixture(scope="session")
def site():
    """Its folder."""
    if not (SITE / "index.html").exists():
        pytest.skip("the site is not built: make docs")
    return SITE


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def address(site):
    """Where a browser finds it."""
    handler = functools.partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
