"""The 103 languages of the CoNLL–SIGMORPHON 2018 shared task, task 1: names, files, download.

The package data `sigmorphon2018.tsv` lists ISO 639-3 code, the task's name and English name of each language;
`sigmorphon2018.sha256` has the hashes of the task's official files, in the format of sha256sum.
"""

import functools
import hashlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pandas as pd
from hydra.core.config_store import ConfigStore

from inflect.data.files import corpus
from inflect.data.settings import DataSettings
from inflect.data.splits import Corpus
from inflect.data.triples import read_triples
from inflect.errors import UserError

SOURCE = "https://raw.githubusercontent.com/sigmorphon/conll2018/490e2e0693241f708670d9d1c56803b754fab7cd/"
"""The task's repository, at one commit; what lies below it has the same path below data.root."""

SPLITS = ("train-low", "train-medium", "train-high", "dev", "test")
"""All splits, in the order in which the authors' sample of 1,000 rows comes out."""


@dataclass(frozen=True)
class SharedTask2018:
    """A language by its ISO 639-3 code and its name in the task's files."""

    code: str
    name: str

    def load(self, data: DataSettings) -> Corpus:
        """Gold is train-low; the candidates of a lemma split are all splits, one after another, with repeats.

        Files that are not below `data.folder` are downloaded there.

        Raises:
            UserError: if a file can neither be found nor downloaded, or is not the official one.
        """
        return corpus(
            data,
            gold=lambda: self._read(data, "train-low"),
            dev=lambda: self._read(data, "dev"),
            candidates=lambda: self._read(data, *SPLITS),
            test=lambda: self._read(data, "test"),
        )

    def _read(self, data: DataSettings, *splits: str) -> pd.DataFrame:
        wanted = [path for split in splits for path in hashes() if path.endswith(f"/{self.name}-{split}")]
        assert wanted, f"the registry has no {self.name}"
        tables = [read_triples(path) for path in fetch(wanted, data.folder)]
        return pd.concat(tables, ignore_index=True).rename_axis("row")


@functools.cache
def languages() -> dict[str, str]:
    """The task's name of each language → its ISO 639-3 code."""
    lines = _package_data("sigmorphon2018.tsv")
    return {name: code for code, name, _ in (line.split("\t") for line in lines)}


@functools.cache
def hashes() -> dict[str, str]:
    """Path of each official file, such as task1/all/turkish-dev → its SHA-256."""
    lines = _package_data("sigmorphon2018.sha256")
    return {path: digest for digest, path in (line.split("  ") for line in lines)}


def _package_data(name: str) -> list[str]:
    return files("inflect.data").joinpath(name).read_text(encoding="utf-8").splitlines()


def register_names() -> None:
    """Make lang=turkish another way to say lang=tur, for each language of the task."""
    store = ConfigStore.instance()
    for name, code in languages().items():
        store.store(group="lang", name=name, node={"defaults": [code]})


def fetch(paths: list[str], folder: Path) -> list[Path]:
    """Where the official files lie below `folder`; those that are not there are downloaded first.

    Raises:
        UserError: if a file has the wrong content, or there is no way to get it.
    """
    if missing := [path for path in paths if not _is_there(folder / path, hashes()[path])]:
        _download(missing, folder)
    return [folder / path for path in paths]


def _is_there(place: Path, expected: str) -> bool:
    try:
        found = hashlib.sha256(place.read_bytes()).hexdigest()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise UserError(f"{place}: cannot read the file: {error.strerror}") from error
    if found != expected:
        raise UserError(
            f"{place}: not the task's official file (SHA-256 {found[:12]}…, expected {expected[:12]}…); "
            "remove it to download it again, or read a file of your own by data.train, data.dev or data.test"
        )
    return True


def _download(paths: list[str], folder: Path) -> None:
    # Both take a while to import, and most runs have their files.
    import pooch
    from requests import RequestException
    from tqdm import tqdm

    pooch.get_logger().setLevel("WARNING")
    for path in tqdm(paths, desc=f"download to {folder}", unit="file", disable=None):
        url, place = SOURCE + path, folder / path
        try:
            # pooch writes to a temporary file beside the place and renames it when its hash is right.
            pooch.retrieve(url, known_hash=hashes()[path], fname=place.name, path=place.parent)
        except RequestException as error:
            raise UserError(
                f"{place} does not exist, and {url} cannot be reached ({type(error).__name__}): "
                "set INFLECT_DATA or data.root to a folder that has the task's files (task1/all/...), "
                "or go online once"
            ) from error
        except ValueError as error:
            raise UserError(f"{url}: what was downloaded is not the task's official file; nothing was kept") from error
        except OSError as error:
            raise UserError(f"data.root={folder}: cannot write {place}: {error.strerror or error}") from error
