import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein
from scipy.stats import chisquare

from inflect.augment.alignment import stem_runs
from inflect.augment.pool import PoolSettings, describe_pool, make_pool, resplit
from inflect.augment.stemcorrupt import StemCorrupt
from inflect.data.triples import read_triples, triples_table, write_triples
from inflect.errors import UserError

GOLD = triples_table(
    [
        ("қазақ", "қазақта", "N;LOC;SG"),
        ("өлім", "өлімнен", "N;ABL;SG"),
        ("tasata", "ette tasanneet", "V;ACT;NEG;PST;IND;2;PL"),
        ("reiterar", "no reiteren", "V;NEG;IMP;3;PL"),
        ("a  bcd", "a  bcde", "N;AT+ESS;SG"),
        ("go", "went", "V;PST"),
        ("abcdefgh", "abcdefghi", "ADJ;ABL; PL"),
        ("nullen", "nullens", "N;PL;MASC;non{NOM}"),
    ]
)


def test_theta_0_gives_each_triple_back_byte_for_byte() -> None:
    pool = make_pool(GOLD, StemCorrupt(theta=0), PoolSettings(size=200))
    for row in pool.itertuples():
        assert (row.lemma, row.form, row.msd) == tuple(GOLD.loc[row.parent])
        assert row.edits == 0


@pytest.mark.parametrize("rule", ["whole", "inner"])
def test_stems_change_alike_in_lemma_and_form_and_affixes_stay(rule: str) -> None:
    pool = make_pool(GOLD, StemCorrupt(theta=1, stem_rule=rule), PoolSettings(size=400))
    alphabet = {char for word in (*GOLD["lemma"], *GOLD["form"]) for char in word} - {" "}
    changed = 0
    for row in pool.itertuples():
        lemma, form = GOLD.loc[row.parent, "lemma"], GOLD.loc[row.parent, "form"]
        runs = stem_runs(lemma, form)
        inside = {}
        for run in runs:
            edge = 1 if rule == "inner" and run.length > 5 else 0
            inside |= {run.lemma + i: run.form + i for i in range(edge, run.length - edge)}
        assert len(row.lemma) == len(lemma)
        assert len(row.form) == len(form)
        for i, j in inside.items():
            assert row.lemma[i] == row.form[j]
            assert row.lemma[i] in alphabet
            changed += row.lemma[i] != lemma[i]
        for i, char in enumerate(lemma):
            assert i in inside or row.lemma[i] == char
        for j, char in enumerate(form):
            assert j in inside.values() or row.form[j] == char
        assert row.stem_length == sum(run.length for run in runs)
        assert row.edits == Levenshtein.distance(form, row.form)
    assert changed > 400


@pytest.mark.parametrize(
    ("rule", "length", "changed"),
    [
        ("whole", 5, [0, 1, 2, 3, 4]),
        ("inner", 5, [0, 1, 2, 3, 4]),
        ("whole", 6, [0, 1, 2, 3, 4, 5]),
        ("inner", 6, [1, 2, 3, 4]),
    ],
)
def test_inner_keeps_the_ends_of_runs_longer_than_5(rule: str, length: int, changed: list[int]) -> None:
    word = "abcdef"[:length]
    pool = make_pool(triples_table([(word, word + "X", "N")]), StemCorrupt(stem_rule=rule), PoolSettings(size=200))
    assert [i for i in range(length) if pool["lemma"].str[i].nunique() > 1] == changed


@pytest.mark.parametrize("theta", [0.25, 0.5, 1.0])
def test_the_share_of_substituted_characters_is_theta(theta: float) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    gold = triples_table([(letters, letters + "X", "N")])
    pool = make_pool(gold, StemCorrupt(theta=theta), PoolSettings(size=400))
    same = np.mean([char == letters[i] for lemma in pool["lemma"] for i, char in enumerate(lemma)])
    assert 1 - same == pytest.approx(theta * (1 - 1 / 27), abs=0.02)  # a draw may give the letter that was there


def test_passes_take_one_variant_of_each_usable_triple_in_turn() -> None:
    pool = make_pool(GOLD, StemCorrupt(), PoolSettings(size=17, procedure="passes"))
    usable = [0, 1, 2, 3, 4, 6, 7]
    assert pool["parent"].tolist() == (usable * 3)[:17]


def test_draws_take_usable_triples_at_random() -> None:
    pool = make_pool(GOLD, StemCorrupt(), PoolSettings(size=7000))
    counts = pool["parent"].value_counts()
    assert sorted(counts.index) == [0, 1, 2, 3, 4, 6, 7]
    assert counts.between(850, 1150).all()


@pytest.mark.parametrize(
    "msd", ["V;REAL;PFV/PRF;4;SG/DU/PL", "N;AT+ESS;SG", "V;V.PTCP;PST", "N;PL;MASC;non{NOM}", "ADJ;ABL; PL"]
)
def test_an_msd_is_its_parents_byte_for_byte(msd: str) -> None:
    gold = triples_table([("abcd", "abcde", msd)])
    assert set(make_pool(gold, StemCorrupt(), PoolSettings(size=20))["msd"]) == {msd}


def test_the_authors_resplit_an_msd_at_all_that_is_no_word_character() -> None:
    assert resplit("N;PL;MASC;non{NOM}") == "N;PL;MASC;non;NOM"
    assert resplit("V;V.PTCP;PST") == "V;V;PTCP;PST"
    gold = triples_table([("abcd", "abcde", "N;AT+ESS;SG")])
    assert set(make_pool(gold, StemCorrupt(), PoolSettings(size=9, msd="resplit"))["msd"]) == {"N;AT;ESS;SG"}


@given(st.integers(0, 2**32), st.integers(1, 60))
def test_same_seed_same_pool(seed: int, size: int) -> None:
    first, second = (make_pool(GOLD, StemCorrupt(), PoolSettings(size=size, seed=seed)) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
    assert len(first) == size


def test_same_pool_whatever_pythonhashseed() -> None:
    code = (
        "from inflect.augment.pool import *; from inflect.augment.stemcorrupt import *;"
        "from inflect.data.triples import *;"
        "gold = triples_table([('qwertyuiop', 'qwertyuiopas', 'N;PL'), ('asdfgh', 'asdfghe', 'N;SG')]);"
        "print(sha256(make_pool(gold, StemCorrupt(), PoolSettings(size=300))))"
    )
    root = Path(__file__).parents[2]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(outputs) == 1


def test_the_summary_counts_what_a_reader_should_know() -> None:
    pool = make_pool(GOLD, StemCorrupt(theta=0), PoolSettings(size=21, procedure="passes"))
    test = triples_table([("өлім", "өлімге", "N;DAT;SG"), ("zzz", "zzzz", "N")])
    summary = describe_pool(pool, GOLD, test, StemCorrupt())
    assert (summary.size, summary.gold, summary.usable) == (21, 8, 7)
    assert (summary.copies, summary.repeats, summary.test_lemmas, summary.combining) == (21, 14, 3, 0)
    marks = triples_table([("\u0301abc", "\u0301abcd", "N")])
    assert (
        describe_pool(
            make_pool(marks, StemCorrupt(theta=0), PoolSettings(size=3)), marks, test, StemCorrupt()
        ).combining
        == 3
    )


@pytest.mark.parametrize(
    ("make", "key"),
    [
        (lambda: StemCorrupt(theta=1.5), "corruption.theta"),
        (lambda: StemCorrupt(theta=-0.1), "corruption.theta"),
        (lambda: StemCorrupt(theta=float("nan")), "corruption.theta"),
        (lambda: StemCorrupt(stem_rule="half"), "corruption.stem_rule"),
        (lambda: StemCorrupt(min_stem=0), "corruption.min_stem"),
        (lambda: PoolSettings(size=0), "pool.size"),
        (lambda: PoolSettings(seed=-1), "pool.seed"),
        (lambda: PoolSettings(procedure="dance"), "pool.procedure"),
        (lambda: PoolSettings(msd="guess"), "pool.msd"),
        (lambda: make_pool(triples_table([("go", "went", "V")]), StemCorrupt(), PoolSettings()), "corruption"),
    ],
)
def test_bad_settings_are_named(make, key: str) -> None:
    with pytest.raises(UserError, match=f"^{key}"):
        make()


LANGUAGES = ["arabic", "bengali", "finnish", "georgian", "navajo", "spanish", "turkish"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_real_gold_comes_back_byte_for_byte_with_theta_0(conll2018: Path, language: str) -> None:
    gold = read_triples(conll2018 / "task1" / "all" / f"{language}-train-low")
    corruption = StemCorrupt(theta=0)
    usable = [variants is not None for variants in corruption.prepare(gold)]
    pool = make_pool(gold, corruption, PoolSettings(size=sum(usable), procedure="passes"))
    assert pool[["lemma", "form", "msd"]].to_numpy().tolist() == gold[usable].to_numpy().tolist()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_pool_of_10_000_takes_less_than_2_seconds(conll2018: Path, language: str) -> None:
    gold = read_triples(conll2018 / "task1" / "all" / f"{language}-train-low")
    start = time.process_time()  # the machine may be busy with something else
    assert len(make_pool(gold, StemCorrupt(), PoolSettings())) == 10_000
    assert time.process_time() - start < 2


def test_every_run_of_a_stem_is_corrupted_and_what_lies_between_stays() -> None:
    gold = triples_table([("abcdXefgh", "abcdYefghs", "N")])
    pool = make_pool(gold, StemCorrupt(theta=1), PoolSettings(size=200))
    assert all(
        lemma[4] == "X" and form[4] == "Y" and form[9] == "s"
        for lemma, form in zip(pool["lemma"], pool["form"], strict=True)
    )
    for at in (0, 1, 2, 3, 5, 6, 7, 8):
        assert pool["lemma"].str[at].tolist() == pool["form"].str[at].tolist()
        assert pool["lemma"].str[at].nunique() > 5
    assert set(pool["stem_length"]) == {8}


def test_substitutes_are_uniform_over_the_characters_of_gold_but_white_space() -> None:
    gold = triples_table([("abcdefgh", "abcdefgh i", "N"), ("x\xa0y", "x\xa0z1-", "N")])
    pool = make_pool(gold, StemCorrupt(theta=1), PoolSettings(size=4000, procedure="passes"))
    counts = Counter("".join(pool["lemma"][pool["parent"] == 0]))
    assert set(counts) == set("abcdefghixyz1-")
    assert chisquare(list(counts.values())).pvalue > 0.001


def test_a_pool_can_be_written_and_read_even_if_gold_has_other_white_space(tmp_path: Path) -> None:
    gold = triples_table([("\xa0x\u3000", "\xa0x\u3000s", "N"), ("a\u2003b", "a\u2003bc", "N")])
    pool = make_pool(gold, StemCorrupt(theta=1), PoolSettings(size=2000))
    write_triples(pool, tmp_path / "pool.tsv")
    pd.testing.assert_frame_equal(read_triples(tmp_path / "pool.tsv"), pool[["lemma", "form", "msd"]])


def test_words_of_one_character_of_300_and_of_marks() -> None:
    gold = triples_table(
        [("a", "a", "N"), ("ab" * 150, "ab" * 150 + "s", "N"), ("e\u0301\u0323o", "e\u0301\u0323on", "V")]
    )
    assert [variants is None for variants in StemCorrupt().prepare(gold)] == [True, False, False]
    assert [variants is None for variants in StemCorrupt(min_stem=1).prepare(gold)] == [False] * 3
    pool = make_pool(gold, StemCorrupt(theta=1), PoolSettings(size=20, procedure="passes"))
    assert [len(form) for form in pool["form"]] == [301, 5] * 10
    assert all(form[-1] == "s" for form in pool["form"][pool["parent"] == 1])


def test_gold_stays_what_it_is_and_another_seed_is_another_pool() -> None:
    before = GOLD.copy()
    first, second = (make_pool(GOLD, StemCorrupt(), PoolSettings(size=50, seed=seed)) for seed in (0, 1))
    pd.testing.assert_frame_equal(GOLD, before)
    assert first["lemma"].tolist() != second["lemma"].tolist()


def test_the_summary_is_one_line_to_log() -> None:
    pool = make_pool(GOLD, StemCorrupt(theta=0), PoolSettings(size=21, procedure="passes"))
    line = str(describe_pool(pool, GOLD, GOLD[:0], StemCorrupt()))
    assert line.startswith(
        "21 triples from 7 of 8 gold triples; 21 gold copies, 14 repeats, 0 with a lemma of the test set"
    )
    assert "\n" not in line


def test_the_corruption_of_the_docs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "augmentation.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    gold = triples_table([("abc", "xabcd", "N;PL"), ("go", "went", "V;PST")])
    pool = make_pool(gold, namespace["ShuffleStem"](), PoolSettings(size=30))
    assert set(pool["parent"]) == {0}
    assert set(pool["msd"]) == {"N;PL"}
    assert len(set(pool["form"])) > 1
    for row in pool.itertuples():
        assert sorted(row.lemma) == sorted("abc")
        assert row.form == f"x{row.lemma}d"
