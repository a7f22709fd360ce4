"""StemCorrupt (Silfverberg et al. 2017; Anastasopoulos and Neubig 2019; the paper's section 2)."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from inflect.augment.alignment import Run, stem_runs
from inflect.errors import UserError

LONG = 5  # stem_rule=inner: runs longer than this keep their first and last character


@dataclass(frozen=True)
class StemCorrupt:
    """Substitutes characters of the stem, the same in lemma and form; affixes stay.

    Each corruptible position is substituted with probability `theta`, by a character drawn uniformly from
    those of all gold lemmas and forms that are not white space; the draw may give the character that was there.
    (Anastasopoulos and Neubig's code leaves the space out too, but adds the characters of the dev set.) With
    `stem_rule` "whole" each position of a stem run is corruptible (the paper); with "inner" runs longer than 5
    keep their first and last character (the authors' code).

    Raises:
        UserError: if a setting is out of range.
    """

    theta: float = 0.5
    stem_rule: str = "whole"
    min_stem: int = 3

    def __post_init__(self) -> None:
        if not 0 <= self.theta <= 1:
            raise UserError(f"corruption.theta={self.theta}: must be a probability, from 0 to 1")
        if self.stem_rule not in ("whole", "inner"):
            raise UserError(f"corruption.stem_rule={self.stem_rule}: must be whole or inner")
        if self.min_stem < 1:
            raise UserError(f"corruption.min_stem={self.min_stem}: must be 1 or more")

    def prepare(self, gold: pd.DataFrame) -> "list[CorruptibleTriple | None]":
        """For each gold triple what its variants are drawn from; None where no stem is found."""
        characters = {char for word in (*gold["lemma"], *gold["form"]) for char in word}
        # White space would split words, and a word of nothing else is no field of a file of triples.
        alphabet = tuple(sorted(char for char in characters if not char.isspace()))
        prepared: list[CorruptibleTriple | None] = []
        for lemma, form in zip(gold["lemma"], gold["form"], strict=True):
            runs = stem_runs(lemma, form, self.min_stem)
            places = tuple(place for run in runs for place in self._places(run))
            prepared.append(
                CorruptibleTriple(lemma, form, places, sum(run.length for run in runs), alphabet, self.theta)
                if runs and alphabet
                else None
            )
        return prepared

    def _places(self, run: Run) -> list[tuple[int, int]]:
        edge = int(self.stem_rule == "inner" and run.length > LONG)
        return [(run.lemma + i, run.form + i) for i in range(edge, run.length - edge)]


@dataclass(frozen=True)
class CorruptibleTriple:
    """A gold triple with its corruptible places: pairs of aligned positions in lemma and form."""

    lemma: str
    form: str
    places: tuple[tuple[int, int], ...]
    stem_length: int
    alphabet: tuple[str, ...]
    theta: float

    def draw(self, generator: np.random.Generator) -> tuple[str, str]:
        """A variant (lemma, form)."""
        lemma, form = list(self.lemma), list(self.form)
        chosen = generator.random(len(self.places)) < self.theta
        letters = generator.integers(len(self.alphabet), size=len(self.places))
        for (i, j), substituted, letter in zip(self.places, chosen, letters, strict=True):
            if substituted:
                lemma[i] = form[j] = self.alphabet[letter]
        return "".join(lemma), "".join(form)
