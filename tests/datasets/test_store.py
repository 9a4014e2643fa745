"""Looking files up and fetching them, against a server on the loopback interface."""

import gzip
import hashlib
import lzma
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from sigmastar.core.errors import DataNotFound, InvalidParameter, MissingExtra
from sigmastar.datasets import cache_directory, store
from sigmastar.datasets.store import DataFile, find_file

CONTENT = b"1 2\n1 0\n"
FILE = DataFile("pautomac", "6.pautomac.train", ["owner/repo/commit/6.pautomac.train"])


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        mode, content = self.server.answer
        self.server.asked.append(self.path)
        self.send_response(404 if mode == "missing" else 200)
        announced = len(content) + (100 if mode == "truncated" else 0)
        self.send_header("Content-Length", str(announced))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    web = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    web.answer, web.asked = ("good", CONTENT), []
    thread = Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    monkeypatch.setenv("SIGMASTAR_MIRROR", f"http://127.0.0.1:{web.server_port}/")
    yield web
    web.shutdown()
    web.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """Keep the machine's own data, cache and proxies out of the tests; pin our content."""
    monkeypatch.delenv("SIGMASTAR_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(store, "cache_directory", lambda: tmp_path / "cache")
    pinned = {f"pautomac/{FILE.name}": hashlib.sha256(CONTENT).hexdigest()}
    monkeypatch.setattr(store, "_checksums", lambda: pinned)


def _files(directory):
    return [path for path in directory.rglob("*") if path.is_file()]


def test_download_goes_to_the_cache_and_is_found_there_again(server, tmp_path):
    path = find_file(FILE)
    assert path == tmp_path / "cache" / "pautomac" / "6.pautomac.train.gz"
    assert gzip.decompress(path.read_bytes()) == CONTENT
    assert server.asked == ["/owner/repo/commit/6.pautomac.train"]
    assert find_file(FILE) == path
    assert len(server.asked) == 1


def test_download_goes_to_data_home_if_one_is_given(server, tmp_path):
    home = tmp_path / "new" / "home"
    assert find_file(FILE, home) == home / "pautomac" / "6.pautomac.train.gz"
    assert _files(tmp_path) == [home / "pautomac" / "6.pautomac.train.gz"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (("good", b"other"), r"has SHA-256 d9298a10d1b0.*not the pinned"),
        (("missing", b""), "cannot be downloaded .*404"),
        (("truncated", CONTENT), "cannot be downloaded|SHA-256"),
    ],
)
def test_a_bad_download_names_the_remedy_and_leaves_nothing(server, tmp_path, answer, message):
    server.answer = answer
    with pytest.raises(DataNotFound, match=message) as caught:
        find_file(FILE)
    assert "pass it as data_home or in $SIGMASTAR_DATA" in str(caught.value)
    assert _files(tmp_path) == []


def test_a_refused_connection_names_the_remedy(monkeypatch, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("SIGMASTAR_MIRROR", f"http://127.0.0.1:{port}")
    with pytest.raises(DataNotFound, match=r"cannot be downloaded .*Put the file 6\.pautomac"):
        find_file(FILE)
    assert _files(tmp_path) == []


def test_a_derivation_that_fails_is_a_bad_download(server, tmp_path):
    file = DataFile(FILE.folder, FILE.name, FILE.sources, lambda parts: parts[7])
    with pytest.raises(DataNotFound, match="not what is expected"):
        find_file(file)
    assert _files(tmp_path) == []


def test_parts_are_derived_in_order(server):
    file = DataFile(FILE.folder, FILE.name, ["a", "b"], lambda parts: parts[1])
    assert gzip.decompress(find_file(file).read_bytes()) == CONTENT
    assert server.asked == ["/a", "/b"]


@pytest.mark.parametrize("inner", ["", "pautomac"])
@pytest.mark.parametrize(
    ("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress)]
)
def test_files_may_lie_flat_or_in_a_folder_packed_or_not(tmp_path, inner, suffix, pack):
    directory = tmp_path / inner
    directory.mkdir(exist_ok=True)
    path = directory / f"{FILE.name}{suffix}"
    path.write_bytes(pack(CONTENT))
    assert find_file(FILE, tmp_path) == path


def test_places_are_searched_in_order(monkeypatch, tmp_path):
    places = [tmp_path / name for name in ("home", "variable", "cache")]
    monkeypatch.setenv("SIGMASTAR_DATA", str(places[1]))
    for place in reversed(places):
        place.mkdir()
        (place / FILE.name).write_bytes(CONTENT)
        assert find_file(FILE, places[0]) == place / FILE.name


def test_files_without_a_pinned_source_are_not_downloaded(server):
    with pytest.raises(DataNotFound, match=r"5\.pautomac\.train has no pinned public source"):
        find_file(DataFile("pautomac", "5.pautomac.train", ["a"]))
    assert server.asked == []


def test_an_unwritable_data_home_is_reported(server, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataNotFound, match=r"cannot be written.*Pass a writable data_home"):
        find_file(FILE, tmp_path / "file")


def test_data_home_must_be_a_path():
    with pytest.raises(InvalidParameter, match="data_home must be a directory"):
        find_file(FILE, 3)


def test_downloading_without_pooch_says_what_to_install(monkeypatch, server):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingExtra, match=r"sigmastar\[data\]"):
        find_file(FILE)


@pytest.mark.parametrize(
    ("platform", "variable", "inner"),
    [
        ("linux", "XDG_CACHE_HOME", ""),
        ("win32", "LOCALAPPDATA", ""),
        ("darwin", "HOME", "Library/Caches"),
    ],
)
def test_cache_follows_the_customs_of_the_system(monkeypatch, tmp_path, platform, variable, inner):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv(variable, str(tmp_path))
    assert cache_directory() == tmp_path / inner / "sigmastar"
