"""Readers use only the folders of the test, and no network."""

from pathlib import Path

import pytest
import requests

from reproduction.data import files


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path_factory):
    """An empty user cache; the folder of the variable is forgotten."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setattr(files, "_cache", lambda: folder)
    monkeypatch.delenv(files.VARIABLE, raising=False)
    return folder


@pytest.fixture(autouse=True)
def web(monkeypatch):
    """Addresses with their content, or an error to raise, instead of the network."""
    pages = {}

    class Downloader:
        def __call__(self, url, output, registry):
            page = pages.get(url, requests.ConnectionError("Max retries exceeded"))
            if isinstance(page, Exception):
                Path(output).write_bytes(b"half of the fi")
                raise page
            Path(output).write_bytes(page)

    monkeypatch.setattr("pooch.HTTPDownloader", Downloader)
    return pages
