"""The shared task's languages: names, official files, download, and lemma splits that others have counted."""

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from inflect.data import sigmorphon
from inflect.data.settings import DataSettings
from inflect.data.sigmorphon import SharedTask2018, hashes, languages
from inflect.data.splits import as_given, authors_code, paper
from inflect.data.triples import drop_spaces, sha256
from inflect.errors import UserError

TURKISH = SharedTask2018("tur", "turkish")

# Code, task's name, unique rows of the lemma split in the paper's wording and by the authors' code, and the
# start of the SHA-256 of the authors' sample: measured outside this package.
COUNTED = [
    ("ara", "arabic", 11433, 7201, "30f9dfee3f2b"),
    ("ben", "bengali", 1941, 839, "2fe096c29107"),
    ("fin", "finnish", 11872, 10560, "108973e3dfdb"),
    ("kat", "georgian", 11555, 8169, "b33c589f4505"),
    ("nav", "navajo", 10063, 2049, "21d419c61a26"),
    ("spa", "spanish", 11659, 8984, "55d8c1c0ea13"),
    ("tur", "turkish", 11494, 7345, "c6d6000c3a24"),
]

# Small languages whose every lemma is in gold, or in gold or dev: no lemma split can be had.
SEEN_IN_GOLD = {"cornish", "greenlandic", "karelian", "kazakh", "mapudungun", "norman", "telugu", "uzbek"}
SEEN_IN_DEV = {"murrinhpatha", "neapolitan", "votic"}


@pytest.mark.parametrize(("code", "name", "unique", "authors_unique", "sample"), COUNTED)
def test_lemma_splits(code: str, name: str, unique: int, authors_unique: int, sample: str, conll2018: Path) -> None:
    corpus = SharedTask2018(code, name).load(DataSettings(root=str(conll2018)))
    assert len(corpus.gold) == 100
    assert len(paper(corpus)) == len(paper(corpus).drop_duplicates()) == unique
    assert len(authors_code(corpus, rows=10**6).drop_duplicates()) == authors_unique
    assert len(authors_code(corpus)) == 1000
    assert sha256(authors_code(corpus)).startswith(sample)
    assert not set(paper(corpus)["lemma"]) & set(corpus.gold["lemma"])


@pytest.mark.parametrize(("code", "name"), [row[:2] for row in COUNTED])
def test_spaces_go_before_or_after_the_split(code: str, name: str, conll2018: Path) -> None:
    """The authors drop them late, data.spaces=drop does it first: the same 1,000 rows."""
    keep, drop = (
        authors_code(SharedTask2018(code, name).load(DataSettings(root=str(conll2018), spaces=spaces)))
        for spaces in ("keep", "drop")
    )
    assert drop.equals(drop_spaces(keep))


@pytest.mark.parametrize("name", sorted(languages()))
def test_every_language_loads(name: str, conll2018: Path) -> None:
    corpus = SharedTask2018(languages()[name], name).load(DataSettings(root=str(conll2018)))
    assert 1 <= len(corpus.gold) <= 100
    assert len(corpus.dev) in (50, 100, 1000)
    assert len(as_given(corpus)) in (50, 100, 1000)
    for split, seen in ((paper, SEEN_IN_GOLD), (authors_code, SEEN_IN_GOLD | SEEN_IN_DEV)):
        if name in seen:
            with pytest.raises(UserError, match="no test row is left"):
                split(corpus)
        else:
            assert not set(split(corpus)["lemma"]) & set(corpus.gold["lemma"])
    fields = {type(field) for column in corpus.candidates for field in corpus.candidates[column]}
    assert fields == {str}


def test_words_keep_what_unicode_would_fold(conll2018: Path) -> None:
    """Characters that a cleaning step would lose: each is in an official file."""
    data = DataSettings(root=str(conll2018))
    german = SharedTask2018("gml", "middle-low-german").load(data).candidates
    khaling = SharedTask2018("klr", "khaling").load(data).candidates
    assert german["form"].str.contains("\xa0").any() or german["lemma"].str.contains("\xa0").any()
    assert khaling["form"].str.contains("\u0304|\u0302|\u0301|\u0300").any()


def test_the_table_of_languages() -> None:
    assert len(languages()) == len(set(languages().values())) == 103
    assert {(code, name) for code, name, *_ in COUNTED} <= {(code, name) for name, code in languages().items()}
    of_files = {path.rsplit("/", 1)[1].removesuffix("-dev") for path in hashes() if path.endswith("-dev")}
    assert of_files == set(languages())
    assert not [path for path in hashes() if "covered" in path]


class Server:
    """A web server on this machine with files at the official paths; it remembers what it was asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.asked = folder, list[str]()
        asked = self.asked

        class Handler(SimpleHTTPRequestHandler):
            def log_request(self, code: object = "", size: object = "") -> None:
                asked.append(self.path.lstrip("/"))

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}/"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server of a small Turkish; the package takes it for the task's repository."""
    server = Server(tmp_path / "served")
    registry = {}
    for split in sigmorphon.SPLITS:
        path = f"task1/all/turkish-{split}"
        content = f"lemma-{split}\tform\tN\n".encode()
        (server.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (server.folder / path).write_bytes(content)
        registry[path] = hashlib.sha256(content).hexdigest()
    monkeypatch.setattr(sigmorphon, "SOURCE", server.url)
    monkeypatch.setattr(sigmorphon, "hashes", lambda: registry)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield server
    server.http.shutdown()
    server.http.server_close()


def files_below(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_download_on_first_use(server: Server, tmp_path: Path) -> None:
    root = tmp_path / "root"
    corpus = TURKISH.load(DataSettings(root=str(root)))
    assert corpus.candidates["lemma"].tolist() == [f"lemma-{split}" for split in sigmorphon.SPLITS]
    assert corpus.gold["lemma"].tolist() == ["lemma-train-low"]
    assert sorted(server.asked) == files_below(root) == files_below(server.folder)
    TURKISH.load(DataSettings(root=str(root)))
    assert len(server.asked) == len(sigmorphon.SPLITS), "what is there is not downloaded again"


def test_folder_from_the_environment(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFLECT_DATA", str(tmp_path / "environment"))
    TURKISH.load(DataSettings())
    assert files_below(tmp_path / "environment") == files_below(server.folder)
    monkeypatch.delenv("INFLECT_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert DataSettings().folder.name == "inflect-morphology"


def test_only_what_is_needed_is_downloaded(server: Server, tmp_path: Path) -> None:
    own = tmp_path / "own.tsv"
    own.write_text("a\tas\tPL\n", encoding="utf-8")
    root = tmp_path / "root"
    corpus = TURKISH.load(DataSettings(root=str(root), train=str(own), test=str(own)))
    assert server.asked == files_below(root) == ["task1/all/turkish-dev"]
    assert corpus.gold["lemma"].tolist() == corpus.candidates["lemma"].tolist() == ["a"]


def test_a_file_that_changed_on_the_server(server: Server, tmp_path: Path) -> None:
    path = server.folder / "task1/all/turkish-dev"
    path.write_bytes(b"another\tform\tN\n")
    with pytest.raises(UserError, match=r"turkish-dev: .*not the task's official file; nothing was kept"):
        TURKISH.load(DataSettings(root=str(tmp_path / "root")))
    assert "task1/all/turkish-dev" not in files_below(tmp_path / "root")


def test_a_file_that_is_not_on_the_server(server: Server, tmp_path: Path) -> None:
    (server.folder / "task1/all/turkish-train-low").unlink()
    with pytest.raises(UserError, match=r"turkish-train-low cannot be reached \(HTTPError\)"):
        TURKISH.load(DataSettings(root=str(tmp_path / "root")))
    assert files_below(tmp_path / "root") == []


def test_a_file_that_was_edited(server: Server, tmp_path: Path) -> None:
    """It is neither used nor overwritten."""
    place = tmp_path / "root/task1/all/turkish-dev"
    place.parent.mkdir(parents=True)
    place.write_text("mine\tform\tN\n", encoding="utf-8")
    with pytest.raises(UserError, match="turkish-dev: not the task's official file"):
        TURKISH.load(DataSettings(root=str(tmp_path / "root")))
    assert place.read_text(encoding="utf-8") == "mine\tform\tN\n"


def test_no_network_and_no_file(server: Server, tmp_path: Path) -> None:
    server.http.shutdown()
    server.http.server_close()
    with pytest.raises(UserError) as error:
        TURKISH.load(DataSettings(root=str(tmp_path / "root")))
    message = str(error.value)
    assert "\n" not in message
    assert str(tmp_path / "root/task1/all/turkish-train-low") in message
    assert "INFLECT_DATA" in message
    assert "data.root" in message
    assert "go online once" in message
    assert files_below(tmp_path / "root") == []


def test_a_folder_that_cannot_be_written(server: Server, tmp_path: Path) -> None:
    (tmp_path / "root").write_text("a file", encoding="utf-8")
    with pytest.raises(UserError, match=r"data\.root=|cannot read the file"):
        TURKISH.load(DataSettings(root=str(tmp_path / "root")))
