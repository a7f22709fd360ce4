"""Built-in agglutinative languages of nouns, whose typology is set by keys.

A word is stem + number + possessor + case, as in Turkish. Affixes are written as phonologists write them: a
capital letter is an archiphoneme, a sound whose shape depends on the word. A I U are vowels that are back or
front (a ı u, e i ü), B D G are stops that are voiced or voiceless (b d g, p t k). The suffix DA is thus -da,
-de, -ta or -te.

A seed is a language: it draws the affixes and the stems. The other keys change what they name and nothing
else. With the same seed, a language with harmony and one without have the same affixes, the same stems but
for the backness of their vowels, and the same cells to inflect them for.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from inflect.data.files import corpus
from inflect.data.settings import DataSettings
from inflect.data.splits import Corpus
from inflect.data.triples import triples_table
from inflect.errors import UserError
from inflect.streams import stream

BACK, FRONT = "aıou", "eiöü"  # pairs
VOWELS = BACK + FRONT
VOICELESS = "ptksş"
ONSETS = VOICELESS + "bdgzlmnrvy"
CODAS = VOICELESS + "zlmnr"
BUFFER = "y"

ARCHIVOWELS = "AIU"
AFFIX_SOUNDS = {"S": "BDG", "C": "BDGlmns", "V": ARCHIVOWELS, "F": "klmnrsz", "c": ONSETS, "v": BACK}
AS_BACK = str.maketrans("AIUBDG", "aıubdg")
AS_FRONT = str.maketrans("AIUBDG", "eiübdg")
DEVOICED = str.maketrans("BDG", "ptk")
FRONTED = str.maketrans(BACK, FRONT)

CASES = ("NOM", "ACC", "DAT", "LOC", "ABL", "GEN", "INS", "COM", "PRIV", "EQTV", "TRANS", "BEN")
CASE_SHAPES = {"ACC": ("V", "VF"), "DAT": ("SV", "SVF")}  # they show what allomorphy does
OTHER_CASE_SHAPES = ("V", "VF", "CV", "CVF")
PERSONS = ("PSS1S", "PSS2S", "PSS3S", "PSS1P", "PSS2P", "PSS3P")

MOST_ROWS = 100_000
RANGES = {
    "seed": (0, 2**63 - 1),
    "cases": (1, len(CASES)),
    "persons": (0, len(PERSONS)),
    "irregular": (0, 1),
    "gold_rows": (1, MOST_ROWS),
    "dev_rows": (1, MOST_ROWS),
    "test_rows": (1, MOST_ROWS),
}


class Cell(NamedTuple):
    """A place in the paradigm; `person` is the possessor's, or empty. Labels are UniMorph's."""

    number: str
    case: str
    person: str

    @property
    def msd(self) -> str:
        return ";".join(filter(None, ("N", *self)))


class Lexeme(NamedTuple):
    """The stem of the singular, which is also the lemma, and of the plural: the same in a regular noun."""

    singular: str
    plural: str


@dataclass(frozen=True)
class Grammar:
    """The affixes of a language, in archiphonemes, and the rules that give them their shape."""

    harmony: bool
    allomorphy: bool
    prefixing: bool
    plural: str
    persons: dict[str, str]
    cases: dict[str, str]

    def cells(self) -> list[Cell]:
        """The paradigm."""
        people = ["", *self.persons]
        return [Cell(n, case, person) for n in ("SG", "PL") for case in self.cases for person in people]

    def inflect(self, lexeme: Lexeme, cell: Cell) -> str:
        """The form of a lexeme in a cell: suffixes take their shape one by one, from the stem outwards."""
        plural = self.plural if cell.number == "PL" else ""
        word = stem = lexeme.plural if plural else lexeme.singular
        front = self.harmony and _last_vowel(stem) in FRONT
        number = "" if self.prefixing else plural
        for suffix in filter(None, (number, self.persons.get(cell.person), self.cases[cell.case])):
            word += self._shape(suffix, word, front)
        return plural + word if self.prefixing else word

    def _shape(self, suffix: str, word: str, front: bool) -> str:
        """The suffix as it is after this word: y between vowels, voiceless after voiceless, then harmony."""
        if self.allomorphy and word[-1] in VOWELS and suffix[0] in ARCHIVOWELS:
            suffix = BUFFER + suffix
        if self.allomorphy and word[-1] in VOICELESS:
            suffix = suffix[0].translate(DEVOICED) + suffix[1:]
        return suffix.translate(AS_FRONT if front else AS_BACK)


def _last_vowel(stem: str) -> str:
    return next(sound for sound in reversed(stem) if sound in VOWELS)


@dataclass(frozen=True)
class Artificial:
    """A language and how many triples of it there are.

    Attributes:
        code: the language's name in tables of results.
        name: the same, for readers.
        seed: draws the affixes and the stems.
        harmony: stems have either back or front vowels, and suffix vowels agree with the stem's last vowel;
            without it stems mix them, and suffix vowels are back.
        cases: how many cases there are, 1 to 12; the first is the nominative, without a suffix.
        persons: how many persons of possessors there are, 0 to 6; nouns without possessor are always there.
        allomorphy: a stop at the start of a suffix is voiceless after a voiceless sound, and y stands between
            two vowels that meet; without it suffixes have one shape (but for harmony).
        prefixing: the plural is a prefix, outside the domain of harmony and allomorphy.
        irregular: the share of nouns whose plural has a stem of its own, 0 to 1. Nobody can inflect these
            for an unseen lexeme, so about half of the share is lost to every model.
        gold_rows: how many gold triples; `dev_rows` and `test_rows` likewise. Each has a lexeme of its own.

    Raises:
        UserError: if a number is outside its range.
    """

    code: str
    name: str
    seed: int = 0
    harmony: bool = True
    cases: int = 4
    persons: int = 3
    allomorphy: bool = True
    prefixing: bool = False
    irregular: float = 0.0
    gold_rows: int = 100
    dev_rows: int = 100
    test_rows: int = 500

    def __post_init__(self) -> None:
        # Also the type: `lang.harmony=no` on the command line is the text "no", which Python takes for true.
        for key in ("harmony", "allomorphy", "prefixing"):
            if not isinstance(value := getattr(self, key), bool):
                raise UserError(f"lang.{key}={value}: it must be true or false")
        for key, (low, high) in RANGES.items():
            kind = float if key == "irregular" else int
            if type(value := getattr(self, key)) not in (int, kind) or not low <= value <= high:
                what = "a number" if kind is float else "a whole number"
                raise UserError(f"lang.{key}={value}: it must be {what} from {low} to {high}")

    def load(self, data: DataSettings) -> Corpus:
        """Triples of the grammar; gold, dev and test share no lemma, so that each split is a lemma split."""
        gold, dev, test = self.tables()
        return corpus(data, lambda: gold, lambda: dev, lambda: test, lambda: test)

    def tables(self) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        """Gold, dev and test: each row is a new lexeme in a cell drawn uniformly."""
        grammar, lexemes, generator = self.grammar(), self.lexemes(), self._generator("cells")
        cells = grammar.cells()

        def table(rows: int) -> pd.DataFrame:
            drawn = [(next(lexemes), cells[generator.integers(len(cells))]) for _ in range(rows)]
            return triples_table((lexeme.singular, grammar.inflect(lexeme, cell), cell.msd) for lexeme, cell in drawn)

        # Gold comes last: with another gold_rows, dev and test stay as they are.
        test, dev, gold = table(self.test_rows), table(self.dev_rows), table(self.gold_rows)
        return gold, dev, test

    def grammar(self) -> Grammar:
        """The language's affixes, no two of them alike."""
        generator, taken = self._generator("affixes"), {""}

        def affix(*shapes: str) -> str:
            drawn = ""
            while drawn in taken:
                shape = shapes[generator.integers(len(shapes))]
                drawn = "".join(_one_of(AFFIX_SOUNDS[slot], generator) for slot in shape)
            taken.add(drawn)
            return drawn

        # All are drawn whatever the keys: a fifth case leaves the other four as they are.
        suffix, prefix = affix("CVF"), affix("cv")
        persons = {label: affix("VF" if label.endswith("S") else "VFVF") for label in PERSONS}
        cases = {label: affix(*CASE_SHAPES.get(label, OTHER_CASE_SHAPES)) for label in CASES}
        return Grammar(
            harmony=self.harmony,
            allomorphy=self.allomorphy,
            prefixing=self.prefixing,
            plural=prefix if self.prefixing else suffix,
            persons={label: persons[label] for label in PERSONS[: self.persons]},
            cases={"NOM": ""} | {label: cases[label] for label in CASES[1 : self.cases]},
        )

    def lexemes(self) -> Iterator[Lexeme]:
        """The lexicon, without end; no two stems in it are alike."""
        generator, taken = self._generator("stems"), {""}

        def stem() -> str:
            drawn = ""
            while drawn in taken:
                drawn = "".join(_syllable(generator) for _ in range(generator.integers(2, 5)))
            taken.add(drawn)
            # Both are drawn, so that harmony changes the backness of vowels and nothing else.
            word_is_front, sound_is_front = generator.random() < 0.5, generator.random(len(drawn)) < 0.5
            front = [word_is_front] * len(drawn) if self.harmony else sound_is_front
            return "".join(s.translate(FRONTED) if f else s for s, f in zip(drawn, front, strict=True))

        while True:
            singular, plural = stem(), stem()
            yield Lexeme(singular, plural if generator.random() < self.irregular else singular)

    def _generator(self, name: str) -> np.random.Generator:
        return np.random.default_rng(stream(self.seed, name))


def _syllable(generator: np.random.Generator) -> str:
    """CV or, one time in three, CVC; vowels are back."""
    coda = _one_of(CODAS, generator) if generator.random() < 1 / 3 else ""
    return _one_of(ONSETS, generator) + _one_of(BACK, generator) + coda


def _one_of(sounds: str, generator: np.random.Generator) -> str:
    return sounds[generator.integers(len(sounds))]
