"""Tables of triples: read, write, hash.

A table is a DataFrame with the columns lemma, form and msd, all of them Python strings, and the row's id as
its index. Words are never normalised: trailing spaces, U+200E and decomposed letters stay what they are.
"""

import codecs
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from inflect.errors import UserError

COLUMNS = ("lemma", "form", "msd")


def triples_table(rows: Iterable[Sequence[str]]) -> pd.DataFrame:
    """A table of (lemma, form, msd) rows, with row ids from 0."""
    table = pd.DataFrame(list(rows), columns=list(COLUMNS), dtype=object)
    table.index.name = "row"
    return table


def read_triples(path: Path | str, columns: Sequence[str] = COLUMNS) -> pd.DataFrame:
    """Read a UTF-8 file of tab-separated triples; `columns` is the order of lemma, form and msd in its lines.

    Without a form in `columns` (a file to inflect) the forms are empty. Lines end with a newline, or a carriage
    return and a newline, and with nothing else: U+2028 and its like are characters of a word. A byte order mark
    at the start, and lines without any character (UniMorph has them between paradigms), are passed over.

    Raises:
        UserError: with file and line, if the file is missing, empty or not UTF-8, or a line has not as many
            fields as columns, with a visible character each, or has a NUL or a carriage return inside.
    """
    try:
        raw = Path(path).read_bytes().removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise UserError(f"{path}: cannot read the file of triples: {error.strerror}") from error
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        number = raw.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{path}:{number}: byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8"
        ) from error
    rows = []
    # No splitlines(): it also splits at U+2028, U+0085 and other characters that words may contain.
    for number, line in enumerate(text.split("\n"), start=1):
        if line := line.removesuffix("\r"):
            fields = _fields(line, columns, f"{path}:{number}")
            rows.append([fields[columns.index(name)] if name in columns else "" for name in COLUMNS])
    if not rows:
        raise UserError(f"{path}: the file has no triples; a line is {_line_of(columns)}")
    return triples_table(rows)


def _fields(line: str, columns: Sequence[str], place: str) -> list[str]:
    fields = line.split("\t")
    if len(fields) != len(columns):
        raise UserError(
            f"{place}: {len(fields)} tab-separated columns where {len(columns)} are right: {_line_of(columns)}"
        )
    for name, field in zip(columns, fields, strict=True):
        if not field or field.isspace():
            raise UserError(f"{place}: the {name} is empty; a line is {_line_of(columns)}")
        if "\0" in field or "\r" in field:
            raise UserError(f"{place}: the {name} has a NUL or a carriage return inside: {field!r}")
    return fields


def _line_of(columns: Sequence[str]) -> str:
    return " TAB ".join(columns)


def write_triples(table: pd.DataFrame, path: Path | str) -> None:
    """Write the triples as lines `lemma TAB form TAB msd`: `read_triples` gives the same table back."""
    text = "".join(f"{line}\n" for line in _lines(table))
    if text.startswith("\ufeff"):
        text = "\ufeff" + text  # the reader takes one away
    Path(path).write_text(text, encoding="utf-8", newline="")


def sha256(table: pd.DataFrame) -> str:
    """SHA-256 of the rows `lemma TAB form TAB msd`, joined by newlines, in hexadecimal digits."""
    return hashlib.sha256("\n".join(_lines(table)).encode()).hexdigest()


def _lines(table: pd.DataFrame) -> list[str]:
    return ["\t".join(row) for row in table[list(COLUMNS)].itertuples(index=False, name=None)]


def drop_spaces(table: pd.DataFrame) -> pd.DataFrame:
    """The same rows without the spaces (U+0020) in lemma and form, as in the authors' code."""
    rows = zip(table["lemma"], table["form"], table["msd"], strict=True)
    return triples_table((lemma.replace(" ", ""), form.replace(" ", ""), msd) for lemma, form, msd in rows)
