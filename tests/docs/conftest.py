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
    protocol_version = "HTTP/1.1"  # one connection for many files

    def end_headers(self):
        self.send_header("Cache-Control", "max-age=3600")  # what pages share is asked for once
        super().end_headers()

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


class Window:
    """A page in the browser, what it asked for elsewhere and what went wrong in it."""

    def __init__(self, browser, address):
        # One for all tests: scripts and styles are loaded once.
        self.context = browser.new_context()
        self.page, self.address, self.wrong = self.context.new_page(), address, []
        self.page.set_default_timeout(10_000)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda said: said.type == "error" and self.wrong.append(said.text))
        self.page.on("request", self._asked)

    def _asked(self, request):
        if not request.url.startswith((self.address, "data:")):
            self.wrong.append(request.url)

    def look(self, width, scheme):
        """Take this width, and the reader's colours."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(color_scheme=scheme)
        self.page.wait_for_selector(f"html[data-theme={scheme}]", state="attached")

    def open(self, name):
        self.wrong.clear()
        self.page.goto(self.address + name)
        return self.page


@pytest.fixture(scope="session")
def window(browser, address):
    opened = Window(browser, address)
    yield opened
    opened.context.close()
