"""Tables as tensors, and the batches of a stack.

Dimensions: M members, B rows, S source length, T target length, N rows of a table.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from inflect.data.symbols import EOS, PAD, Symbols
from inflect.streams import stream

GRAIN = 4  # lengths are padded to multiples of this: kernels are prepared per shape, and fewer shapes are faster


@dataclass(frozen=True)
class Encoded:
    """A table of triples as ids: `source` [N, S] and `target` [N, T], padded at the end, with true lengths [N]."""

    source: Tensor
    target: Tensor
    source_lengths: Tensor
    target_lengths: Tensor

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True)
class Batch:
    """One batch of every member: `source` [M, B, S], `target` [M, B, T], `rows` [M, B] (-1: no row).

    `sizes` are each member's own (rows, source length, target length), before padding to the others'.
    """

    source: Tensor
    target: Tensor
    rows: Tensor
    sizes: tuple[tuple[int, int, int], ...]
    update: int = 0

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "Batch":
        source, target, rows = (
            tensor.to(device, non_blocking=non_blocking) for tensor in (self.source, self.target, self.rows)
        )
        return Batch(source, target, rows, self.sizes, self.update)

    @property
    def previous(self) -> Tensor:
        """What the decoder has written before each target symbol: the target moved right, EOS first."""
        return torch.cat([torch.full_like(self.target[..., :1], EOS), self.target[..., :-1]], dim=-1)


def pad(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Lists of ids as one tensor [N, longest], and their lengths [N]."""
    lengths = torch.tensor([len(row) for row in rows], dtype=torch.long)
    padded = torch.full((len(rows), int(lengths.max()) if len(rows) else 0), PAD, dtype=torch.long)
    for index, row in enumerate(rows):
        padded[index, : len(row)] = torch.tensor(row, dtype=torch.long)
    return padded, lengths


def encode(triples: pd.DataFrame, symbols: Symbols) -> Encoded:
    """The table's ids by a run's own vocabulary, row by row in the table's order."""
    source = [symbols.source(lemma, msd) for lemma, msd in zip(triples["lemma"], triples["msd"], strict=True)]
    target = [symbols.target(form) for form in triples["form"]]
    (sources, source_lengths), (targets, target_lengths) = pad(source), pad(target)
    return Encoded(sources, targets, source_lengths, target_lengths)


def length_sorted(data: Encoded, size: int, multiple: int = 1) -> list[Tensor]:
    """Row numbers in batches of `size`, rows of similar source and target length together (ties: row order).

    The last batch, that of the longest rows, is left out where its size is not divisible by `multiple` and it is
    not the only one. fairseq 0.12 does so with 8 (its issue 5036): of 100 rows it never trains on the 4 longest.
    """
    order = np.lexsort((data.target_lengths.numpy(), data.source_lengths.numpy()))
    batches = list(torch.from_numpy(order).split(size))
    return batches[:-1] if len(batches) > 1 and len(batches[-1]) % multiple else batches


def batch_order(seed: int, epoch: int, batches: int) -> list[int]:
    """The order of the batches in an epoch, counted from 0: a function of seed and epoch alone."""
    order: list[int] = np.random.default_rng(stream(seed, "batches", epoch)).permutation(batches).tolist()
    return order


def stacked(members: Sequence[Encoded], rows: Sequence[Tensor], update: int = 0) -> Batch:
    """The given rows of each member's table as one batch, padded to the largest member."""
    sizes, sources, targets = [], [], []
    for data, own in zip(members, rows, strict=True):
        source_length = int(data.source_lengths[own].max()) if len(own) else 0
        target_length = int(data.target_lengths[own].max()) if len(own) else 0
        sources.append(data.source[own, :source_length])
        targets.append(data.target[own, :target_length])
        sizes.append((len(own), source_length, target_length))
    largest = max(size[0] for size in sizes)
    source_length, target_length = (_rounded(max(size[axis] for size in sizes)) for axis in (1, 2))
    return Batch(
        _padded(sources, (largest, source_length), PAD),
        _padded(targets, (largest, target_length), PAD),
        _padded([own.unsqueeze(1) for own in rows], (largest, 1), -1).squeeze(2),
        tuple(sizes),
        update,
    )


def _rounded(length: int) -> int:
    return -(-length // GRAIN) * GRAIN


def _padded(tensors: Sequence[Tensor], shape: tuple[int, int], value: int) -> Tensor:
    whole = torch.full((len(tensors), *shape), value, dtype=torch.long)
    for index, tensor in enumerate(tensors):
        whole[index, : tensor.shape[0], : tensor.shape[1]] = tensor
    return whole
