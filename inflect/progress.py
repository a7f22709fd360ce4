"""Progress bars: on a terminal only, gone when they are done, one line for each process."""

from collections.abc import Iterable
from typing import Any

from tqdm import tqdm

_line = 0


def use_line(number: int) -> None:
    """Draw this process's bars on the terminal's line `number` from now on, counted from 0."""
    global _line
    _line = number


def bar(iterable: Iterable[Any] | None = None, *, what: str, unit: str, total: int | None = None) -> "tqdm[Any]":
    """A bar over `iterable`, or to be updated by hand up to `total`."""
    return tqdm(iterable, desc=what, unit=unit, total=total, position=_line, leave=False, disable=None)
