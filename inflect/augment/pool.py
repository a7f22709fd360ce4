"""The pool: many synthetic triples, made from gold by a corruption."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Protocol

import numpy as np
import pandas as pd
from rapidfuzz.distance import Levenshtein

from inflect.errors import UserError
from inflect.streams import stream


class Variants(Protocol):
    """What a corruption makes of one gold triple: something to draw variants from."""

    @property
    def stem_length(self) -> int:
        """Characters of the form that belong to its stem."""

    def draw(self, generator: np.random.Generator) -> tuple[str, str]:
        """A variant (lemma, form); its MSD is the gold triple's."""


class Corruption(Protocol):
    """A way to invent triples: a frozen dataclass of settings with this method, and a YAML in conf/corruption."""

    def prepare(self, gold: pd.DataFrame) -> Sequence[Variants | None]:
        """For each gold triple its variants, None where it cannot be corrupted."""


@dataclass(frozen=True)
class PoolSettings:
    """`size` synthetic triples by a stream of their own, so that all seeds of a sweep share one pool.

    `procedure`: "draws" takes a corruptible gold triple at random each time (the paper), "passes" goes over them
    in order, one variant each, until there are enough (the authors' code). `msd`: "verbatim" keeps the parent's
    MSD byte for byte, "resplit" splits it at all that is no word character and joins it with `;` (the authors').

    Raises:
        UserError: if a setting is out of range.
    """

    size: int = 10_000
    seed: int = 0
    procedure: str = "draws"
    msd: str = "verbatim"

    def __post_init__(self) -> None:
        if self.size < 1:
            raise UserError(f"pool.size={self.size}: must be 1 or more")
        if self.seed < 0:
            raise UserError(f"pool.seed={self.seed}: must be 0 or more")
        if self.procedure not in ("draws", "passes"):
            raise UserError(f"pool.procedure={self.procedure}: must be draws or passes")
        if self.msd not in ("verbatim", "resplit"):
            raise UserError(f"pool.msd={self.msd}: must be verbatim or resplit")


def make_pool(gold: pd.DataFrame, corruption: Corruption, settings: PoolSettings) -> pd.DataFrame:
    """Synthetic triples with `parent` (row of gold), `stem_length` and `edits` (distance from the parent's form).

    Raises:
        UserError: if no gold triple can be corrupted.
    """
    generator = np.random.default_rng(stream(settings.seed, "pool"))
    prepared = corruption.prepare(gold)
    usable = [(row, variants) for row, variants in zip(gold.index, prepared, strict=True) if variants is not None]
    if not usable:
        what = f"none of the {len(gold)} gold triples has a stem that lemma and form share"
        raise UserError(f"corruption: {what}, so no pool can be made; strategy=none trains on gold alone")
    msds, forms = gold["msd"].to_dict(), gold["form"].to_dict()
    if settings.msd == "resplit":
        msds = {row: resplit(msd) for row, msd in msds.items()}
    rows = []
    for number in _parents(len(usable), settings, generator):
        parent, variants = usable[number]
        lemma, form = variants.draw(generator)
        edits = Levenshtein.distance(forms[parent], form)
        rows.append((lemma, form, msds[parent], parent, variants.stem_length, edits))
    columns = ["lemma", "form", "msd", "parent", "stem_length", "edits"]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[:3], object)).rename_axis("row")


def _parents(usable: int, settings: PoolSettings, generator: np.random.Generator) -> Iterator[int]:
    if settings.procedure == "draws":
        return iter(generator.integers(usable, size=settings.size).tolist())
    passes = chain.from_iterable(repeat(range(usable)))
    return (number for _, number in zip(range(settings.size), passes, strict=False))


def resplit(msd: str) -> str:
    """An MSD as the authors' code writes it: `V;V.PTCP;non{NOM}` becomes `V;V;PTCP;non;NOM`."""
    return ";".join(part for part in re.split(r"\W+", msd) if part) or msd


@dataclass(frozen=True)
class PoolSummary:
    """What a pool contains; counts of triples, but `usable` of `gold` triples that can be corrupted."""

    size: int
    gold: int
    usable: int
    copies: int
    repeats: int
    test_lemmas: int
    combining: int

    def __str__(self) -> str:
        return (
            f"{self.size} triples from {self.usable} of {self.gold} gold triples; {self.copies} gold copies, "
            f"{self.repeats} repeats, {self.test_lemmas} with a lemma of the test set, "
            f"{self.combining} whose form starts with a combining mark"
        )


def describe_pool(pool: pd.DataFrame, gold: pd.DataFrame, test: pd.DataFrame, corruption: Corruption) -> PoolSummary:
    """Count what a reader of the results should know."""
    triples = list(pool[["lemma", "form", "msd"]].itertuples(index=False, name=None))
    known = set(gold[["lemma", "form", "msd"]].itertuples(index=False, name=None))
    test_lemmas = set(test["lemma"])
    return PoolSummary(
        size=len(pool),
        gold=len(gold),
        usable=sum(variants is not None for variants in corruption.prepare(gold)),
        copies=sum(triple in known for triple in triples),
        repeats=len(triples) - len(set(triples)),
        test_lemmas=sum(lemma in test_lemmas for lemma in pool["lemma"]),
        combining=sum(unicodedata.combining(form[0]) != 0 for form in pool["form"]),
    )
