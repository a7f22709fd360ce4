"""Test sets of unseen lexemes: the lemma split in its variants.

A split is a function from a corpus to a test table, with row ids from 0.
"""

from dataclasses import dataclass

import pandas as pd

from inflect.errors import UserError


@dataclass(frozen=True)
class Corpus:
    """The tables of one language.

    Attributes:
        gold: the human-annotated triples to train on.
        dev: the triples that the best checkpoint is chosen by.
        candidates: the rows that a lemma split draws from; they may hold gold and dev rows too.
        test: the test set as it was published.
    """

    gold: pd.DataFrame
    dev: pd.DataFrame
    candidates: pd.DataFrame
    test: pd.DataFrame


def paper(corpus: Corpus) -> pd.DataFrame:
    """The unique candidates whose lemma is not in gold, in order of first appearance (the paper's wording).

    Raises:
        UserError: if no row is left.
    """
    left = _without_lemmas(corpus.candidates, corpus.gold).drop_duplicates()
    return _numbered(_some(left, "split=paper: each lemma is in gold too"))


def authors_code(corpus: Corpus, rows: int = 1000) -> pd.DataFrame:
    """A sample of the candidates whose lemma is neither in gold nor in dev, repeated rows included.

    As in the authors' code the sample is pandas' for random state 0, in drawn order. Where there are no more
    than `rows` it is all of them, shuffled.

    Raises:
        UserError: if no row is left or asked for.
    """
    if rows < 1:
        raise UserError(f"split.rows={rows}: it must be 1 or more")
    left = _without_lemmas(_without_lemmas(corpus.candidates, corpus.gold), corpus.dev)
    _some(left, "split=authors_code: each lemma is in gold or dev too")
    return _numbered(left.sample(n=min(rows, len(left)), random_state=0))


def as_given(corpus: Corpus) -> pd.DataFrame:
    """The language's own test set, lemmas of gold included."""
    return _numbered(corpus.test)


def _without_lemmas(table: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    lemmas = set(known["lemma"])
    return table[[lemma not in lemmas for lemma in table["lemma"]]]


def _some(table: pd.DataFrame, otherwise: str) -> pd.DataFrame:
    if table.empty:
        raise UserError(f"{otherwise}, so that no test row is left; split=as_given tests on seen lemmas")
    return table


def _numbered(table: pd.DataFrame) -> pd.DataFrame:
    return table.set_index(pd.RangeIndex(len(table), name="row"))
