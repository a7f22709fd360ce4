"""A user's own files, alone (`lang=own`) or in place of another language's."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from inflect.data.settings import DataSettings
from inflect.data.splits import Corpus
from inflect.data.triples import drop_spaces, read_triples
from inflect.errors import UserError

Reader = Callable[[], pd.DataFrame]


def corpus(data: DataSettings, gold: Reader, dev: Reader, candidates: Reader, test: Reader) -> Corpus:
    """The corpus of a language whose tables the four functions read.

    data.train, data.dev and data.test win over gold, dev and test; a test file of the user's is also all that
    a lemma split draws from. What they replace is not read. With data.spaces=drop no word has a space.
    """
    gold = _own(data, "train") or gold
    dev = _own(data, "dev") or dev
    candidates = _own(data, "test") or candidates
    test = _own(data, "test") or test
    tables = [read() for read in (gold, dev, candidates, test)]
    return Corpus(*map(drop_spaces, tables)) if data.spaces == "drop" else Corpus(*tables)


def _own(data: DataSettings, part: str) -> Reader | None:
    path = getattr(data, part)
    return (lambda: read_triples(Path(path).expanduser(), data.columns.split())) if path else None


@dataclass(frozen=True)
class OwnFiles:
    """A language that is nothing but data.train, data.dev and data.test; results go by its `code`."""

    code: str
    name: str

    def load(self, data: DataSettings) -> Corpus:
        """Read the three files.

        Raises:
            UserError: if one of them is not set, or is not a file of triples.
        """
        if missing := [f"data.{part}" for part in ("train", "dev", "test") if not getattr(data, part)]:
            raise UserError(f"lang={self.code}: set {', '.join(missing)} to a file of tab-separated {data.columns}")
        return corpus(data, *[_unset] * 4)


def _unset() -> pd.DataFrame:
    raise AssertionError("OwnFiles.load has seen to it that all three files are set")
