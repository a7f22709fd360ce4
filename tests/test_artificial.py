"""The built-in languages, checked from the outside: by the letters of their words."""

import os
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from inflect.data.artificial import Artificial
from inflect.data.settings import DataSettings
from inflect.data.splits import authors_code, paper
from inflect.data.triples import sha256
from inflect.errors import UserError

LANGUAGE = Artificial("artificial", "artificial")
EVERY = [
    {},
    {"seed": 1},
    {"harmony": False},
    {"cases": 12, "persons": 6},
    {"cases": 1, "persons": 0},
    {"allomorphy": False},
    {"prefixing": True},
    {"irregular": 0.5},
    {"gold_rows": 7, "dev_rows": 3, "test_rows": 1},
]
FRONT, BACK = set("eiöü"), set("aıou")


def vowels(word: str) -> list[str]:
    return [letter for letter in word if letter in FRONT | BACK]


def everything(language: Artificial) -> pd.DataFrame:
    return pd.concat(language.tables(), ignore_index=True)


@pytest.mark.parametrize("keys", EVERY, ids=str)
def test_tables(keys: dict[str, Any]) -> None:
    language = replace(LANGUAGE, **keys)
    corpus = language.load(DataSettings())
    sizes = [len(table) for table in (corpus.gold, corpus.dev, corpus.test)]
    assert sizes == [language.gold_rows, language.dev_rows, language.test_rows]
    lemmas = [lemma for table in (corpus.gold, corpus.dev, corpus.test) for lemma in table["lemma"]]
    assert len(set(lemmas)) == sum(sizes), "every lexeme is unseen everywhere else"
    assert paper(corpus).equals(corpus.test)
    assert len(authors_code(corpus)) == len(corpus.test)


@pytest.mark.parametrize("keys", EVERY, ids=str)
def test_msds_are_the_paradigm(keys: dict[str, Any]) -> None:
    language = replace(LANGUAGE, **keys)
    msds = [cell.msd for cell in language.grammar().cells()]
    assert len(msds) == len(set(msds)) == 2 * language.cases * (1 + language.persons)
    assert set(everything(language)["msd"]) <= set(msds)
    assert "N;SG;NOM" in msds
    if language.cases >= 3 and language.persons:
        assert "N;PL;DAT;PSS1S" in msds


@pytest.mark.parametrize("keys", EVERY, ids=str)
def test_every_triple_is_the_grammars(keys: dict[str, Any]) -> None:
    language = replace(LANGUAGE, **keys)
    grammar, lexemes = language.grammar(), language.lexemes()
    lexicon = {lexeme.singular: lexeme for lexeme, _ in zip(lexemes, range(2000), strict=False)}
    cells = {cell.msd: cell for cell in grammar.cells()}
    for lemma, form, msd in everything(language).itertuples(index=False, name=None):
        assert form == grammar.inflect(lexicon[lemma], cells[msd])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("allomorphy", [True, False])
def test_suffix_vowels_agree_with_the_last_vowel_of_the_stem(seed: int, allomorphy: bool) -> None:
    for lemma, form in everything(replace(LANGUAGE, seed=seed, allomorphy=allomorphy))[["lemma", "form"]].values:
        assert form.startswith(lemma)
        side = FRONT if vowels(lemma)[-1] in FRONT else BACK
        assert set(vowels(form)) <= side, "and so do the other vowels of the stem"


@pytest.mark.parametrize("seed", range(5))
def test_without_harmony_suffix_vowels_do_not_vary(seed: int) -> None:
    table = everything(replace(LANGUAGE, seed=seed, harmony=False))
    suffixes: dict[str, set[str]] = {}
    for lemma, form, msd in table.itertuples(index=False, name=None):
        suffixes.setdefault(msd, set()).add("".join(vowels(form[len(lemma) :])))
    assert [len(found) for found in suffixes.values()] == [1] * 32
    assert {vowel for found in suffixes.values() for vowel in "".join(found)} <= BACK
    mixed = [lemma for lemma in table["lemma"] if set(lemma) & FRONT and set(lemma) & BACK]
    assert len(mixed) > len(table) / 2


@pytest.mark.parametrize("harmony", [True, False])
def test_allomorphy(harmony: bool) -> None:
    """Stops agree in voice with the sound before them and vowels do not meet; without it they need not."""
    on, off = (everything(replace(LANGUAGE, harmony=harmony, allomorphy=switch)) for switch in (True, False))
    assert on["lemma"].equals(off["lemma"])
    assert on["msd"].equals(off["msd"])
    changed = {"devoiced": 0, "buffered": 0}
    for lemma, form, plain in zip(on["lemma"], on["form"], off["form"], strict=True):
        suffixes = plain[len(lemma) - 1 :]
        expected = lemma[-1]
        for before, sound in pairwise(suffixes):
            if before in FRONT | BACK and sound in FRONT | BACK:
                expected += "y"
                changed["buffered"] += 1
            if before in "ptksş" and sound in "bdg":
                sound = {"b": "p", "d": "t", "g": "k"}[sound]
                changed["devoiced"] += 1
            expected += sound
        assert form == lemma[:-1] + expected
    assert min(changed.values()) > 10, "the default language shows both"


def test_prefixing_moves_the_plural_and_nothing_else() -> None:
    suffixing, prefixing = everything(LANGUAGE), everything(replace(LANGUAGE, prefixing=True))
    assert prefixing[["lemma", "msd"]].equals(suffixing[["lemma", "msd"]])
    plural = prefixing["msd"].str.contains("PL")
    assert prefixing[~plural].equals(suffixing[~plural])
    starts = {form[: form.index(lemma)] for lemma, form in prefixing[plural][["lemma", "form"]].values}
    assert len(starts) == 1
    assert "" not in starts


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_irregular_nouns_have_another_stem_in_the_plural(share: float) -> None:
    table = everything(replace(LANGUAGE, irregular=share, test_rows=3000))
    own_stem = np.array([form.startswith(lemma) for lemma, form in table[["lemma", "form"]].values])
    plural = table["msd"].str.contains("PL").to_numpy()
    assert own_stem[~plural].all()
    assert 1 - own_stem[plural].mean() == pytest.approx(share, abs=0.04)


def test_harmony_changes_the_backness_of_vowels_and_nothing_else() -> None:
    neutral = str.maketrans("eiöü", "aıou")
    on, off = everything(LANGUAGE), everything(replace(LANGUAGE, harmony=False))
    for column in ("lemma", "form", "msd"):
        assert [value.translate(neutral) for value in on[column]] == [value.translate(neutral) for value in off[column]]


def test_the_examples_in_the_docs() -> None:
    """They also pin the default language: a change to what a seed draws changes published results."""
    triples = {tuple(row) for row in LANGUAGE.tables()[0].values.tolist()}
    docs = (Path(__file__).parents[1] / "docs" / "data.md").read_text(encoding="utf-8")
    examples = [line.replace("-", "").split() for line in docs.splitlines() if " N;" in line]
    assert len(examples) == 3
    assert {tuple(example) for example in examples} <= triples


def test_more_gold_leaves_dev_and_test_as_they_are() -> None:
    few, many = replace(LANGUAGE, gold_rows=50).tables(), replace(LANGUAGE, gold_rows=200).tables()
    assert few[1].equals(many[1])
    assert few[2].equals(many[2])
    assert few[0].equals(many[0][:50])


def test_a_seed_is_a_language() -> None:
    tables = [everything(replace(LANGUAGE, seed=seed)) for seed in range(5)]
    assert len({sha256(table) for table in tables}) == 5
    endings = {form[-3:] for table in tables for form, msd in table[["form", "msd"]].values if "PL;NOM" in msd}
    assert len(endings) > 5


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_the_same_language_whatever_the_hash_seed(hash_seed: str) -> None:
    code = (
        "from inflect.data.artificial import Artificial; from inflect.data.triples import sha256;"
        "print(*[sha256(table) for table in Artificial('a', 'a', irregular=0.2).tables()])"
    )
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == [sha256(table) for table in replace(LANGUAGE, irregular=0.2).tables()], done.stderr


BAD_VALUES: dict[str, list[Any]] = {
    "seed": [-1, None],
    "cases": [0, 13, 2.5, "4", True],
    "persons": [-1, 7],
    "irregular": [-0.1, 1.1, float("nan")],
    "gold_rows": [0],
    "dev_rows": [0],
    "test_rows": [10**9],
    "harmony": ["no"],
    "allomorphy": [None],
    "prefixing": [1],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, bad in BAD_VALUES.items() for value in bad])
def test_values_out_of_range(key: str, value: Any) -> None:
    with pytest.raises(UserError, match=rf"^lang\.{key}={value}: it must be "):
        replace(LANGUAGE, **{key: value})
