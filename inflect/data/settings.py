"""The settings `data.*`: where files lie and how they are read."""

import os
from dataclasses import dataclass
from pathlib import Path

from inflect.data.triples import COLUMNS
from inflect.errors import UserError


@dataclass(frozen=True)
class DataSettings:
    """Settings of the data.

    Attributes:
        root: the folder with the shared task's files (`task1/all/...`); empty means the environment variable
            INFLECT_DATA or, without it, the user's cache folder.
        train: a file of your own in place of the language's gold triples; `dev` and `test` likewise.
        columns: the order of the columns in train, dev and test.
        spaces: `keep`: a space in a word is a character like others (the paper);
            `drop`: spaces are removed from lemmas and forms (the authors' code).

    Raises:
        UserError: if columns or spaces is none of the known values.
    """

    root: str = ""
    train: str = ""
    dev: str = ""
    test: str = ""
    columns: str = "lemma form msd"
    spaces: str = "keep"

    def __post_init__(self) -> None:
        if sorted(self.columns.split()) != sorted(COLUMNS):
            raise UserError(
                f"data.columns={self.columns!r}: it must be lemma, form and msd in the order of your files,"
                " for example data.columns='lemma msd form'"
            )
        if self.spaces not in ("keep", "drop"):
            raise UserError(f"data.spaces={self.spaces}: it must be keep or drop")

    @property
    def folder(self) -> Path:
        """The folder that `root` means."""
        if root := self.root or os.environ.get("INFLECT_DATA", ""):
            return Path(root).expanduser()
        import pooch  # takes a while, and is needed by those alone who have no folder of their own

        return Path(pooch.os_cache("inflect-morphology"))
