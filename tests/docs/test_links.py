"""The built site: its links lead somewhere, and it fetches nothing."""

from html.parser import HTMLParser
from urllib.parse import unquote, urljoin, urlsplit

import pytest


class _Page(HTMLParser):
    """Links, what is loaded, and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.add(found.get("id"))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag == "link" and found.get("href"):
            self.loaded.append(found["href"])
        self.loaded += [found[name] for name in ("src", "data") if found.get(name)]
        for picture in (found.get("srcset") or "").split(","):
            self.loaded += picture.split()[:1]


@pytest.fixture(scope="module")
def pages(site):
    return {
        path.relative_to(site).as_posix(): _Page(path.read_text(encoding="utf-8"))
        for path in site.rglob("*.html")
        if "_static" not in path.parts
    }


def _outside(link):
    return urlsplit(link).scheme != "" or link.startswith("//")


def _dead(link, name, pages, site):
    there = urlsplit(urljoin(name, link) if not link.startswith("#") else name + link)
    path, anchor = unquote(there.path), unquote(there.fragment)
    lost = anchor and path in pages and anchor not in pages[path].anchors
    return lost or not (site / path).is_file()


def test_links_lead_somewhere(site, pages):
    dead = [
        f"{name}: {link}"
        for name, page in pages.items()
        for link in {*page.links, *page.loaded}
        if not _outside(link) and _dead(link, name, pages, site)
    ]
    assert len(pages) > 100
    assert dead == []


def test_nothing_is_loaded_from_elsewhere(site, pages):
    elsewhere = {link for page in pages.values() for link in page.loaded if _outside(link)}
    assert {link for link in elsewhere if not link.startswith("data:")} == set()
