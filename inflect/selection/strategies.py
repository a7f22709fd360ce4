"""The strategies of the paper's section 4.2 as pure functions: (pool, size, generator) to row ids.

Ids come in the order of selection, each once. A function with a parameter `uncertainty` gets one float per row
of the pool, and its run needs a base model first. A new strategy is one function, here or anywhere, and one
YAML in conf/strategy.

Raises, all of them:
    UserError: if `size` is not between 1 and the pool's size, an uncertainty is not a number, or `alpha` is
        none that floating point can weigh this pool's MSDs with.
"""

import logging
from typing import Any

import numpy as np
import pandas as pd

from inflect.errors import UserError

log = logging.getLogger(__name__)

Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]
Ids = np.ndarray[Any, np.dtype[np.integer[Any]]]


def none(pool: pd.DataFrame, size: int, generator: np.random.Generator) -> Ids:
    """No row: the base model's own training."""
    return pool.index.to_numpy()[:0]


def random(pool: pd.DataFrame, size: int, generator: np.random.Generator) -> Ids:
    """Rows drawn uniformly, without replacement."""
    _check_size(pool, size)
    return generator.choice(pool.index.to_numpy(), size=size, replace=False)


def high_loss(pool: pd.DataFrame, size: int, generator: np.random.Generator, uncertainty: Floats) -> Ids:
    """The most uncertain rows; of equal ones the lower id first."""
    _check_size(pool, size)
    return _descending(pool, uncertainty)[:size]


def low_loss(pool: pd.DataFrame, size: int, generator: np.random.Generator, uncertainty: Floats) -> Ids:
    """The least uncertain rows; of equal ones the lower id first."""
    _check_size(pool, size)
    return _descending(pool, -uncertainty)[:size]


def template(
    pool: pd.DataFrame, size: int, generator: np.random.Generator, *, alpha: float = 0.0, renew: bool = False
) -> Ids:
    """An MSD, then one of its rows at random: UMT for `alpha` 0, EMT for 1. For `renew` see `_by_msd`."""
    _check_size(pool, size)
    return _by_msd(pool, generator.permutation(pool.index.to_numpy()), size, generator, alpha, renew)


def template_loss(
    pool: pd.DataFrame,
    size: int,
    generator: np.random.Generator,
    uncertainty: Floats,
    *,
    alpha: float = 0.0,
    renew: bool = False,
) -> Ids:
    """An MSD, then its most uncertain row that is left: UMT+Loss for `alpha` 0, EMT+Loss for 1."""
    _check_size(pool, size)
    return _by_msd(pool, _descending(pool, uncertainty), size, generator, alpha, renew)


def _by_msd(
    pool: pd.DataFrame, ranked: Ids, size: int, generator: np.random.Generator, alpha: float, renew: bool
) -> Ids:
    """Draw an MSD `size` times and take its first row of `ranked` that is left.

    An MSD T is drawn with q(T) ∝ p(T)^alpha, p its share of the pool; one that has run out leaves the
    distribution. With `renew`, p is its share of the rows that are left (the authors' EMT).
    """
    codes, msds = pd.factorize(pool["msd"].reindex(pd.Index(ranked)))
    left = np.bincount(codes, minlength=len(msds))
    rows_of = np.split(ranked[np.argsort(codes, kind="stable")], left.cumsum()[:-1])
    weights = _weights(left, alpha)
    selected = np.empty(size, dtype=ranked.dtype)
    run_out = 0
    for place, chance in enumerate(generator.random(size)):
        cumulative = weights.cumsum()
        code = int(cumulative.searchsorted(chance * cumulative[-1], side="right"))
        selected[place] = rows_of[code][-left[code]]
        left[code] -= 1
        if left[code] == 0:
            weights[code] = 0
            run_out += 1
        elif renew:
            weights[code] = float(left[code]) ** alpha
    if run_out:
        log.info("%d of %d MSDs ran out of rows; the rest came from the others", run_out, len(msds))
    return selected


def _weights(counts: Ids, alpha: float) -> Floats:
    """q(T) before normalisation: each MSD's count to the power of `alpha`."""
    with np.errstate(over="ignore"):
        weights = counts.astype(float) ** alpha
    if not (np.isfinite(alpha) and np.isfinite(weights.sum()) and weights.all()):
        raise UserError(f"strategy.alpha={alpha}: too far from 0 for this pool; UMT has 0, EMT 1")
    return weights


def _descending(pool: pd.DataFrame, scores: Floats) -> Ids:
    """All row ids by score, highest first; of equal scores the lower id first."""
    ids = pool.index.to_numpy()
    if not np.isfinite(scores).all():
        row = ids[int(np.argmin(np.isfinite(scores)))]
        raise UserError(f"uncertainty of pool row {row} is not a finite number; look at the base model's training")
    return ids[np.lexsort((ids, -np.asarray(scores)))]


def _check_size(pool: pd.DataFrame, size: int) -> None:
    if not 1 <= size <= len(pool):
        raise UserError(f"size={size}: must be from 1 to {len(pool)}, the triples of the pool (pool.size)")
