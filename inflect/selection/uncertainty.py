"""How unsure the base model is of each item of the pool: functions (checkpoint, pool, dtype) to floats [pool]."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from inflect import progress
from inflect.data.batches import Batch, encode
from inflect.data.datamodule import EveryRow
from inflect.data.symbols import PAD
from inflect.model import hardware
from inflect.model.checkpoint import Checkpoint, stack_of
from inflect.model.decoding import decode
from inflect.model.transformer import StackedTransformer


def nll(base: Checkpoint, pool: pd.DataFrame, dtype: torch.dtype) -> np.ndarray:
    """Mean negative log-likelihood (nats) per target symbol, EOS included, of each item's own form (paper, 4.2)."""
    values = np.full(len(pool), np.nan)
    for model, batch in _batches(base, pool, dtype, "uncertainty"):
        log_p = torch.log_softmax(model(batch.source, batch.previous), dim=-1)
        real = batch.target.ne(PAD)
        own = -log_p.gather(-1, batch.target.unsqueeze(-1)).squeeze(-1) * real
        _put(values, batch, own.sum(dim=-1) / real.sum(dim=-1))
    return values


def hypothesis_score(base: Checkpoint, pool: pd.DataFrame, dtype: torch.dtype, beam: int = 5) -> np.ndarray:
    """Minus the mean log2 p per symbol of the model's own best hypothesis; the given form is not looked at.

    This is what the authors' code ranks by: the score that fairseq-generate prints.
    """
    values = np.full(len(pool), np.nan)
    for model, batch in _batches(base, pool, dtype, "uncertainty (hypotheses)"):
        _put(values, batch, -decode(model, batch.source, beam).scores / math.log(2))
    return values


def _batches(
    base: Checkpoint, pool: pd.DataFrame, dtype: torch.dtype, what: str
) -> Iterator[tuple[StackedTransformer, Batch]]:
    model = stack_of([base], dtype).to(hardware.device())
    rows = EveryRow([encode(pool, base.symbols)])
    with torch.inference_mode():
        for index in progress.bar(range(len(rows)), what=what, unit="batch"):
            yield model, rows[index].to(hardware.device())


def _put(values: np.ndarray, batch: Batch, scores: Tensor) -> None:
    values[batch.rows[0].cpu().numpy()] = scores[0].double().cpu().numpy()
