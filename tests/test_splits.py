"""The lemma split in its variants, on tables small enough to check by eye. Real data: test_sigmorphon.py."""

from collections.abc import Callable

import pandas as pd
import pytest

from inflect.data.splits import Corpus, as_given, authors_code, paper
from inflect.data.triples import triples_table
from inflect.errors import UserError

GOLD = [("a", "as", "PL"), ("b", "bs", "PL")]
DEV = [("c", "cs", "PL")]
TEST = [("e", "es", "PL"), ("b", "b", "SG")]
ALL = [*GOLD, ("d", "ds", "PL"), ("d", "ds", "PL"), ("a", "a", "SG"), ("nan", "nans", "PL"), *DEV, *TEST]


def rows(table: pd.DataFrame) -> list[tuple[str, str, str]]:
    assert table.index.equals(pd.RangeIndex(len(table), name="row"))
    return list(table.itertuples(index=False, name=None))


@pytest.fixture
def corpus() -> Corpus:
    return Corpus(*map(triples_table, (GOLD, DEV, ALL, TEST)))


def test_paper_keeps_unique_rows_with_lemmas_outside_gold(corpus: Corpus) -> None:
    assert rows(paper(corpus)) == [ALL[2], ALL[5], *DEV, TEST[0]]


def test_authors_code_keeps_repeats_and_takes_lemmas_of_dev_away(corpus: Corpus) -> None:
    assert sorted(rows(authors_code(corpus))) == sorted([ALL[2], ALL[3], ALL[5], TEST[0]])
    assert rows(authors_code(corpus, rows=2)) == rows(authors_code(corpus))[:2]


def test_as_given_is_the_test_set(corpus: Corpus) -> None:
    assert rows(as_given(corpus)) == TEST


@pytest.mark.parametrize("split", [paper, authors_code])
def test_no_row_left(split: Callable[[Corpus], pd.DataFrame], corpus: Corpus) -> None:
    known = Corpus(corpus.gold, corpus.dev, corpus.gold, corpus.test)
    with pytest.raises(UserError, match="no test row is left"):
        split(known)


def test_a_sample_has_rows(corpus: Corpus) -> None:
    with pytest.raises(UserError, match=r"split\.rows=0: it must be 1 or more"):
        authors_code(corpus, rows=0)
