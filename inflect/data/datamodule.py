"""The LightningDataModule of a stack: each member's gold triples plus its selected synthetic subset."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

from inflect.data.batches import Batch, Encoded, batch_order, encode, length_sorted, stacked
from inflect.data.symbols import Symbols

EVALUATION_BATCH = 256  # rows of each member in a batch without gradients


@dataclass(frozen=True)
class MemberData:
    """What one member trains on (`train`: gold and subset), is validated on, and the seed of its batch order."""

    train: pd.DataFrame
    dev: pd.DataFrame
    symbols: Symbols
    seed: int


class StackData(pl.LightningDataModule):
    """Batches of all members for updates `start`+1 to `updates`.

    A member's batch of an update is a function of its own table, seed and the update, so that training can go
    on from any update and no member depends on another.
    """

    def __init__(
        self, members: Sequence[MemberData], batch: int, updates: int, start: int = 0, multiple: int = 1
    ) -> None:
        super().__init__()
        self.train = [encode(member.train, member.symbols) for member in members]
        self.dev = [encode(member.dev, member.symbols) for member in members]
        self.seeds = [member.seed for member in members]
        self.updates, self.start = updates, start
        self.batches = [length_sorted(encoded, batch, multiple) for encoded in self.train]

    def train_dataloader(self) -> DataLoader[Batch]:
        return _loader(_Updates(self))

    def val_dataloader(self) -> DataLoader[Batch]:
        return _loader(EveryRow(self.dev))


def _loader(data: Dataset[Batch]) -> DataLoader[Batch]:
    """The batches as they are; with a generator of its own, the loader leaves the global random state alone."""
    return DataLoader(data, batch_size=None, generator=torch.Generator())


class _Updates(IterableDataset[Batch]):
    def __init__(self, data: StackData) -> None:
        self.data = data

    def __iter__(self) -> Iterator[Batch]:
        orders: list[tuple[int, list[int]]] = [(-1, [])] * len(self.data.batches)
        for update in range(self.data.start, self.data.updates):
            rows = []
            for member, batches in enumerate(self.data.batches):
                epoch, place = divmod(update, len(batches))
                if orders[member][0] != epoch:
                    orders[member] = (epoch, batch_order(self.data.seeds[member], epoch, len(batches)))
                rows.append(batches[orders[member][1][place]])
            yield stacked(self.data.train, rows, update)


class EveryRow(Dataset[Batch]):
    """Each row of each member's table once, rows of similar length together; `Batch.rows` says which they are."""

    def __init__(self, members: Sequence[Encoded], size: int = EVALUATION_BATCH) -> None:
        self.members = members
        self.batches = [length_sorted(encoded, size) for encoded in members]

    def __len__(self) -> int:
        return max(len(batches) for batches in self.batches)

    def __getitem__(self, index: int) -> Batch:
        if index >= len(self):
            raise IndexError(index)
        none = torch.empty(0, dtype=torch.long)
        rows = [batches[index] if index < len(batches) else none for batches in self.batches]
        return stacked(self.members, rows)
