"""Which file is used, how a download is checked, and the message if there is none."""

import gzip
import hashlib

import pytest
import requests

from reproduction.data import DataNotFound, files

URL = "https://example.org/folder/a.txt.gz"


def passes(data):
    return None if data == b"right" else "not the right thing"


def test_data_dir_wins_over_variable_over_cache(tmp_path, cache, monkeypatch):
    given, named = tmp_path / "given", tmp_path / "named"
    for folder in (given, named):
        folder.mkdir()
    monkeypatch.setenv(files.VARIABLE, "")
    assert list(files.folders()) == [cache]
    monkeypatch.setenv(files.VARIABLE, str(named))
    for folder in (cache, named, given):
        (folder / "a.txt").touch()
        assert files.find(["c.txt", "a.txt"], given) == folder / "a.txt"
    assert files.find(["a.txt"]) == named / "a.txt"
    assert files.find(["c.txt"], given) is None
    for options, name in ((("gone",), "data_dir"), ((None,), files.VARIABLE)):
        monkeypatch.setenv(files.VARIABLE, "gone")
        with pytest.raises(DataNotFound, match=f"{name}='gone': no such folder"):
            files.find(["a.txt"], *options)


@pytest.mark.parametrize("data", [b"text", gzip.compress(b"text" * 99)[:-9]], ids=["no-gz", "cut"])
def test_contents_are_unpacked_unless_the_archive_is_broken(data, tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"text"))
    assert files.contents(tmp_path / "a.gz") == b"text"
    (tmp_path / "a.gz").write_bytes(data)
    with pytest.raises(ValueError, match=r"a.gz: not a complete gzip file"):
        files.contents(tmp_path / "a.gz")


def test_checksums():
    assert files.checksum(b"hello\n", "sha256") == hashlib.sha256(b"hello\n").hexdigest()
    # What `echo hello | git hash-object --stdin` prints.
    assert files.checksum(b"hello\n", "git") == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_a_download_is_unpacked_for_the_check_and_kept_packed(web, cache):
    web[URL] = gzip.compress(b"right")
    path = files.download(URL, passes, "there")
    assert path == cache / "a.txt.gz" and files.contents(path) == b"right"
    assert [p.name for p in cache.iterdir()] == ["a.txt.gz"]


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (gzip.compress(b"wrong"), "not the right thing"),
        (b"<html>", "not a complete gzip file"),
        (requests.Timeout("read timed out"), "no connection"),
        (OSError(28, "No space left on device"), "No space left"),
    ],
    ids=["wrong-contents", "a-web-page", "offline", "disk-full"],
)
def test_a_failed_download_leaves_no_file_and_reports_what_to_do(page, reason, web, cache):
    web[URL] = page
    with pytest.raises(DataNotFound, match=reason) as error:
        files.download(URL, passes, "https://example.org/home")
    message = str(error.value)
    assert "\n" not in message
    assert all(part in message for part in (URL, "https://example.org/home", "--data-dir", files.VARIABLE))
    assert list(cache.iterdir()) == []


def test_without_pooch_files_are_read_and_downloads_name_the_missing_library(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_can_download", lambda: False)
    (tmp_path / "a.txt").touch()
    assert files.find(["a.txt"], tmp_path) == tmp_path / "a.txt"
    assert list(files.folders()) == []
    with pytest.raises(DataNotFound, match="pip install pooch"):
        files.download(URL, passes, "there")
