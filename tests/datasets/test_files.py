"""Which file is taken, what a download has to pass, and what is said when there is none."""

import gzip
import hashlib
import subprocess
import sys

import pytest
import requests

from superfactor.datasets import DataNotFound, files

URL = "https://example.org/folder/a.txt.gz"


def passes(data):
    return None if data == b"right" else "not the right thing"


def one_line(error):
    """The message, which comes without a chain of other people's errors."""
    message = str(error.value)
    assert "\n" not in message
    assert error.value.__cause__ is None
    assert error.value.__context__ is None or error.value.__suppress_context__
    return message


def test_data_dir_wins_over_variable_over_cache(tmp_path, cache, monkeypatch):
    given, named = tmp_path / "given", tmp_path / "named"
    for folder in (given, named):
        folder.mkdir()
    (cache / "a.txt").write_text("cache")
    monkeypatch.setenv(files.VARIABLE, str(named))
    assert files.find(["a.txt"], given) == cache / "a.txt"
    (named / "a.txt").write_text("variable")
    assert files.find(["a.txt"], given) == named / "a.txt"
    (given / "b.txt").write_text("second choice in the first folder")
    assert files.find(["a.txt", "b.txt"], given) == given / "b.txt"
    (given / "a.txt").write_text("given")
    assert files.find(["a.txt", "b.txt"], given) == given / "a.txt"
    assert files.find(["a.txt"]) == named / "a.txt"
    assert files.find(["c.txt"], given) is None


def test_a_variable_without_a_value_is_none(tmp_path, cache, monkeypatch):
    monkeypatch.setenv(files.VARIABLE, "")
    assert list(files.folders()) == [cache]


@pytest.mark.parametrize("by_variable", [False, True], ids=["data_dir", "variable"])
def test_a_folder_that_is_not_there(by_variable, tmp_path, monkeypatch):
    gone = str(tmp_path / "gone")
    if by_variable:
        monkeypatch.setenv(files.VARIABLE, gone)
    with pytest.raises(DataNotFound, match="no such folder") as error:
        files.find(["a.txt"], None if by_variable else gone)
    assert one_line(error).startswith(files.VARIABLE if by_variable else "data_dir")


def test_contents_are_unpacked(tmp_path):
    (tmp_path / "a").write_bytes(b"text")
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"text"))
    assert files.contents(tmp_path / "a") == files.contents(tmp_path / "a.gz") == b"text"


@pytest.mark.parametrize("data", [b"text", gzip.compress(b"text" * 99)[:-9]], ids=["no-gz", "cut"])
def test_a_broken_archive(data, tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="not a complete gzip file") as error:
        files.contents(path)
    assert one_line(error).startswith(str(path))


def test_checksums():
    assert files.checksum(b"hello\n", "sha256") == hashlib.sha256(b"hello\n").hexdigest()
    # What `echo hello | git hash-object --stdin` prints.
    assert files.checksum(b"hello\n", "git") == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_a_download_is_unpacked_for_the_check_and_kept_packed(web, cache):
    web[URL] = gzip.compress(b"right")
    path = files.download(URL, passes, "there")
    assert path == cache / "a.txt.gz"
    assert files.contents(path) == b"right"
    assert [p.name for p in cache.iterdir()] == ["a.txt.gz"]


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (gzip.compress(b"wrong"), "not the right thing"),
        (b"<html>", "not a complete gzip file"),
        (requests.ConnectionError("Max retries exceeded"), "no connection"),
        (requests.Timeout("read timed out"), "no connection"),
        (requests.HTTPError("404 Client Error: Not Found"), "404 Client Error"),
        (OSError(28, "No space left on device"), "No space left"),
    ],
    ids=["wrong-contents", "a-web-page", "offline", "too-slow", "moved", "disk-full"],
)
def test_a_download_that_fails_leaves_nothing(page, reason, web, cache):
    web[URL] = page
    with pytest.raises(DataNotFound, match=reason) as error:
        files.download(URL, passes, "https://example.org/home")
    message = one_line(error)
    for part in ("a.txt.gz", URL, "https://example.org/home", "--data-dir", files.VARIABLE):
        assert part in message
    assert list(cache.iterdir()) == []


def test_without_pooch_files_on_disk_are_read_and_downloads_say_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_can_download", lambda: False)
    (tmp_path / "a.txt").write_text("here")
    assert files.find(["a.txt"], tmp_path) == tmp_path / "a.txt"
    assert list(files.folders()) == []
    with pytest.raises(DataNotFound, match=r"superfactor\[data\]"):
        files.download(URL, passes, "there")


def test_importing_the_room_is_cheap():
    code = (
        "import sys, superfactor.datasets; "
        "print(*sorted({'pandas', 'pooch', 'requests', 'sklearn', 'scipy.sparse'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""
