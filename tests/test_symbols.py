import pytest

from inflect.data.symbols import EOS, PAD, SPECIAL, UNKNOWN, Symbols, features
from inflect.data.triples import triples_table

TABLE = triples_table([("Norka", "Norkas", "N;PL"), ("είμαστε1", "είμαι", "V;1"), ("<pad>", "</s>", "<unk>;V")])


def test_a_character_and_a_feature_that_are_spelled_alike_are_apart() -> None:
    symbols = Symbols.of(TABLE)
    for lemma, msd in (("N", "N"), ("1", "1")):
        character, feature, end = symbols.source(lemma, msd)
        assert character != feature
        assert end == EOS
        assert UNKNOWN not in (character, feature)


def test_no_data_can_spell_a_special_symbol() -> None:
    symbols = Symbols.of(TABLE)
    for lemma, form, msd in TABLE.itertuples(index=False):
        assert min(symbols.source(lemma, msd)[:-1]) >= SPECIAL
        assert min(symbols.target(form)[:-1]) >= SPECIAL
        assert symbols.spell(symbols.target(form)) == form


def test_the_vocabulary_is_that_of_the_training_triples_and_the_rest_is_unknown() -> None:
    symbols = Symbols.of(triples_table([("ab", "abc", "N;SG")]))
    assert symbols.source("abz", "N;DU") == [
        *symbols.source("ab", "N")[:2],
        UNKNOWN,
        symbols.source("", "N")[0],
        UNKNOWN,
        EOS,
    ]
    assert symbols.target("cz") == [symbols.target("c")[0], UNKNOWN, EOS]
    assert symbols.source_size == symbols.target_size == 8  # 4 special symbols, 4 and 3 of its own, rounded up
    more = Symbols.of(triples_table([("abcde", "abcde", "N;SG")]))
    assert (more.source_size, more.target_size) == (16, 16)
    assert symbols.spell([symbols.target("a")[0], 7, EOS, PAD]) == "a\ufffd"
    assert PAD not in symbols.source("abz", "N;DU")


@pytest.mark.parametrize(
    ("msd", "expected"),
    [
        ("V;REAL;PFV/PRF;4;SG/DU/PL", ["V", "REAL", "PFV/PRF", "4", "SG/DU/PL"]),
        ("N;AT+ESS;SG", ["N", "AT+ESS", "SG"]),
        ("V;V.PTCP;PST", ["V", "V.PTCP", "PST"]),
        ("N;PL;MASC;non{NOM}", ["N", "PL", "MASC", "non{NOM}"]),
        ("ADJ;ABL; PL", ["ADJ", "ABL", " PL"]),
    ],
)
def test_an_msd_is_split_at_semicolons_alone(msd: str, expected: list[str]) -> None:
    assert features(msd) == expected


def test_symbols_come_back_from_plain_lists() -> None:
    symbols = Symbols.of(TABLE)
    assert Symbols.from_lists(symbols.to_lists()) == symbols
