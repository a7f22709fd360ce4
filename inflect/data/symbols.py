"""The vocabulary of one run, taken from its training triples alone.

Its sizes are fairseq's: four special symbols, of which the fourth is never used, and then rounded up. Symbols that
nothing spells still get their share of label smoothing, so losses are comparable with fairseq's only with them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

PAD, EOS, UNKNOWN = 0, 1, 2
SPECIAL = 4  # ids from here on are characters and features; no data can spell the ids below
MULTIPLE = 8  # sizes are rounded up to a multiple of this


def features(msd: str) -> list[str]:
    """The features of an MSD: split on `;` alone, each kept as it is, spaces too."""
    return msd.split(";")


@dataclass(frozen=True)
class Symbols:
    """Symbols of the source (characters of lemmas, then features of MSDs) and of the target (characters of forms).

    A character and a feature that are spelled alike have different ids.
    """

    lemma: tuple[str, ...]
    msd: tuple[str, ...]
    form: tuple[str, ...]

    @classmethod
    def of(cls, triples: pd.DataFrame) -> "Symbols":
        """The symbols of a training table, in code point order."""
        lemmas = {character for lemma in triples["lemma"] for character in lemma}
        msds = {feature for msd in triples["msd"] for feature in features(msd)}
        forms = {character for form in triples["form"] for character in form}
        return cls(tuple(sorted(lemmas)), tuple(sorted(msds)), tuple(sorted(forms)))

    @property
    def source_size(self) -> int:
        return _rounded(SPECIAL + len(self.lemma) + len(self.msd))

    @property
    def target_size(self) -> int:
        return _rounded(SPECIAL + len(self.form))

    @cached_property
    def _lemma_ids(self) -> dict[str, int]:
        return {character: SPECIAL + i for i, character in enumerate(self.lemma)}

    @cached_property
    def _msd_ids(self) -> dict[str, int]:
        return {feature: SPECIAL + len(self.lemma) + i for i, feature in enumerate(self.msd)}

    @cached_property
    def _form_ids(self) -> dict[str, int]:
        return {character: SPECIAL + i for i, character in enumerate(self.form)}

    def source(self, lemma: str, msd: str) -> list[int]:
        """Ids of the lemma's characters, then one per feature, then EOS."""
        ids = [self._lemma_ids.get(character, UNKNOWN) for character in lemma]
        return [*ids, *(self._msd_ids.get(feature, UNKNOWN) for feature in features(msd)), EOS]

    def target(self, form: str) -> list[int]:
        """Ids of the form's characters, then EOS."""
        return [*(self._form_ids.get(character, UNKNOWN) for character in form), EOS]

    def spell(self, ids: Iterable[int]) -> str:
        """The form whose characters have these ids: PAD and EOS are left out, what nothing spells is U+FFFD."""
        spelled = {SPECIAL + i: character for i, character in enumerate(self.form)}
        return "".join(spelled.get(i, "\ufffd") for i in ids if i not in (PAD, EOS))

    def to_lists(self) -> dict[str, list[str]]:
        """Plain lists for a checkpoint; `Symbols.from_lists` is the inverse."""
        return {"lemma": list(self.lemma), "msd": list(self.msd), "form": list(self.form)}

    @classmethod
    def from_lists(cls, lists: dict[str, Any]) -> "Symbols":
        return cls(tuple(lists["lemma"]), tuple(lists["msd"]), tuple(lists["form"]))


def _rounded(size: int) -> int:
    return -(-size // MULTIPLE) * MULTIPLE
