"""Alignment of lemma and form, and the stem that it shows.

Among the alignments of least edit distance the one whose equal characters stand most together is taken: an
affix then lies beside the stem, not scattered into it.
"""

from collections.abc import Iterator
from typing import NamedTuple

Column = tuple[str | None, str | None]
"""A column of an alignment: a character of the lemma and one of the form, None where there is a gap."""


class Run(NamedTuple):
    """A run of equal aligned characters: where it starts in lemma and form, and how long it is."""

    lemma: int
    form: int
    length: int


def align(lemma: str, form: str) -> tuple[Column, ...]:
    """The columns of the best alignment; the lemma's characters read down spell the lemma, the form's the form.

    Cost is the edit distance; of equal cost, more pairs of neighbouring matches; of equal number, substitution
    before deletion before insertion, seen from the end.
    """
    rows, columns = len(lemma) + 1, len(form) + 1
    edit = 1 + min(rows, columns)  # one edit outweighs all the neighbours that there can be
    # best[i][j] for the first i and j characters: ending in a match, and ending in anything else
    never = edit * (rows + columns)
    matched = [[never] * columns for _ in range(rows)]
    other = [[never] * columns for _ in range(rows)]
    other[0] = [edit * j for j in range(columns)]
    for i in range(1, rows):
        other[i][0] = edit * i
        for j in range(1, columns):
            before = min(matched[i - 1][j - 1], other[i - 1][j - 1])
            if lemma[i - 1] == form[j - 1]:
                matched[i][j] = min(matched[i - 1][j - 1] - 1, other[i - 1][j - 1])
            best = before + edit
            for previous in (matched[i - 1][j], other[i - 1][j], matched[i][j - 1], other[i][j - 1]):
                best = min(best, previous + edit)
            other[i][j] = best
    return tuple(_trace(lemma, form, matched, other, edit))[::-1]


def _trace(lemma: str, form: str, matched: list[list[int]], other: list[list[int]], edit: int) -> Iterator[Column]:
    """The columns of the best alignment, last first."""
    i, j = len(lemma), len(form)
    in_match = matched[i][j] <= other[i][j]
    while i or j:
        if in_match:
            yield lemma[i - 1], form[j - 1]
            in_match = matched[i][j] == matched[i - 1][j - 1] - 1
            i, j = i - 1, j - 1
            continue
        value = other[i][j] - edit
        steps = [(i - 1, j - 1), (i - 1, j), (i, j - 1)]
        i_next, j_next = next((a, b) for a, b in steps if a >= 0 and b >= 0 and value in (matched[a][b], other[a][b]))
        yield lemma[i - 1] if i_next < i else None, form[j - 1] if j_next < j else None
        i, j = i_next, j_next
        in_match = matched[i][j] == value


def stem_runs(lemma: str, form: str, min_length: int = 3) -> tuple[Run, ...]:
    """The stem: aligned runs of `min_length` or more equal characters (paper, section 2), in order."""
    runs = []
    i = j = length = 0
    for upper, lower in (*align(lemma, form), (None, None)):
        if upper is not None and upper == lower:
            length += 1
        else:
            if length >= min_length:
                runs.append(Run(i - length, j - length, length))
            length = 0
        i += upper is not None
        j += lower is not None
    return tuple(runs)
