"""Reading and writing triples: nothing changes on the way, and what is wrong is named with file and line."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inflect.data.triples import drop_spaces, read_triples, sha256, triples_table, write_triples
from inflect.errors import UserError

LINES = Path(__file__).parent / "data"

fields = st.text(
    st.characters(exclude_characters="\t\n\r\0", exclude_categories=["Cs"])
    | st.sampled_from("\u2028\u2029\x85\x0b\x0c\x1c\ufeff\u200e\xa0 \"'#;\\"),
    min_size=1,
).filter(lambda field: not field.isspace())
tables = st.lists(st.tuples(fields, fields, fields), min_size=1).map(triples_table)


def rows(table: pd.DataFrame) -> list[tuple[str, str, str]]:
    return list(table.itertuples(index=False, name=None))


@given(table=tables)
def test_what_is_written_is_read(table: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("triples") / "triples.tsv"
    write_triples(table, path)
    read = read_triples(path)
    pd.testing.assert_frame_equal(read, table)
    assert sha256(read) == sha256(table)


def test_every_field_is_text() -> None:
    """Words that libraries like to take for a missing value, a number, a truth value or a quotation."""
    table = read_triples(LINES / "text.tsv")
    assert rows(table) == [
        ("null", "nulls", "N;PL"),
        ("nan", "nan", "N;SG"),
        ("None", "ødelegg", "V;IMP"),
        ("NA", "NAs", "N;PL"),
        ("86", "86ed", "V;PST"),
        ("1e5", "1_000", "007"),
        ('say "', '"said', "V;PST"),
        ("no", "on", "TRUE"),
        ("# comment", "#", "N/A"),
    ]
    assert {type(field) for row in rows(table) for field in row} == {str}
    assert table.columns.tolist() == ["lemma", "form", "msd"]
    assert table.index.equals(pd.RangeIndex(9, name="row"))


def test_msds_are_carried_as_they_are() -> None:
    msds = ["V;REAL;PFV/PRF;4;SG/DU/PL", "N;AT+ESS;SG", "V;V.PTCP;PST", "N;PL;MASC;non{NOM}", "ADJ;ABL; PL"]
    assert read_triples(LINES / "msds.tsv")["msd"].tolist() == msds


@pytest.mark.parametrize(
    "word",
    [
        "a\u2028b",
        "a\x85b",
        "a\x0bb",
        "a\x1cb",
        "trailing ",
        "two  spaces",
        "\xa0a",
        "a\u200e",
        "i\u0323\u0301",
    ],
    ids=ascii,
)
def test_words_are_not_normalised(word: str, tmp_path: Path) -> None:
    path = tmp_path / "triples.tsv"
    path.write_bytes(f"{word}\t{word}\tN\n".encode())
    assert rows(read_triples(path)) == [(word, word, "N")]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"a\tb\tN\nc\td\tV\n", id="plain"),
        pytest.param(b"a\tb\tN\nc\td\tV", id="no newline at the end"),
        pytest.param(b"a\tb\tN\r\nc\td\tV\r\n", id="CRLF"),
        pytest.param(b"\xef\xbb\xbfa\tb\tN\nc\td\tV\n", id="byte order mark"),
        pytest.param(b"a\tb\tN\n\n\r\nc\td\tV\n\n", id="lines without characters"),
    ],
)
def test_the_ways_a_file_may_be_saved(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "triples.tsv"
    path.write_bytes(content)
    assert rows(read_triples(path)) == [("a", "b", "N"), ("c", "d", "V")]


def test_order_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "triples.tsv"
    path.write_text("lemma\tN;SG\tform\n", encoding="utf-8")
    assert rows(read_triples(path, ("lemma", "msd", "form"))) == [("lemma", "form", "N;SG")]


@pytest.mark.parametrize(
    ("content", "place", "complaint"),
    [
        (b"a\tb\tN\na\tN\n", ":2", "2 tab-separated columns where 3 are right: lemma TAB form TAB msd"),
        (b"a\tb\tN\textra\n", ":1", "4 tab-separated columns"),
        (b"a\tb\tN\n\n\na b N\n", ":4", "1 tab-separated columns"),
        (b"a\tb\tN\na\t\tN\n", ":2", "the form is empty"),
        (b"\tb\tN\n", ":1", "the lemma is empty"),
        (b"a\tb\t\n", ":1", "the msd is empty"),
        (b"a\t \tN\n", ":1", "the form is empty"),
        (b"a\tb\tN\na\xff\tb\tN\n", ":2", "byte 0xff is not UTF-8"),
        ("a\tb\tN\n".encode("utf-16"), ":1", "is not UTF-8"),
        (b"a\tb\tN\na\0\tb\tN\n", ":2", "NUL"),
        (b"a\tb\tN\ra\tb\tN\r", ":1", "5 tab-separated columns"),
        (b"a\rb\tb\tN\n", ":1", "carriage return"),
        (b"", "", "no triples"),
        (b"\xef\xbb\xbf\n\n", "", "no triples"),
    ],
)
def test_bad_files(content: bytes, place: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.tsv"
    path.write_bytes(content)
    with pytest.raises(UserError) as error:
        read_triples(path)
    assert str(error.value).startswith(f"{path}{place}: ")
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["", "missing.tsv", "missing/too.tsv"])
def test_no_file(name: str, tmp_path: Path) -> None:
    """A folder in place of a file, and no file."""
    with pytest.raises(UserError, match=r"cannot read the file of triples: (No such file|Is a directory)"):
        read_triples(tmp_path / name)


def test_hash_is_of_the_lines() -> None:
    table = triples_table([("a", "b", "N"), ("ç", "d", "V")])
    assert sha256(table) == "c7ff628698c6cfabc7e791702203958d4e4e5a2cfc41839740985ec80f281f67"
    assert sha256(table.assign(uncertainty=0.5)) == sha256(table), "other columns do not count"
    assert sha256(table.iloc[::-1]) != sha256(table)


def test_drop_spaces() -> None:
    table = triples_table([("a  b", " c d ", "N; PL"), ("e\xa0f", "g\u2003h", "V")])
    assert rows(drop_spaces(table)) == [("ab", "cd", "N; PL"), ("e\xa0f", "g\u2003h", "V")]
