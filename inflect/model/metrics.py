"""Metrics that count several groups at once and divide sum by sum."""

from collections.abc import Sequence

import torch
from rapidfuzz.distance import Levenshtein
from torch import Tensor
from torchmetrics import Metric


class MemberMean(Metric):
    """A mean for each member of a stack: totals [M] and counts [M] of every batch, divided once at the end."""

    full_state_update = False
    total: Tensor
    count: Tensor

    def __init__(self, members: int) -> None:
        super().__init__()
        self.add_state("total", torch.zeros(members, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("count", torch.zeros(members, dtype=torch.float64), dist_reduce_fx="sum")

    def update(self, total: Tensor, count: Tensor) -> None:
        self.total += total
        self.count += count

    def compute(self) -> Tensor:
        return self.total / self.count


class FormScores(Metric):
    """Rows, accuracy and mean edit distance of predicted forms in each group: an MSD, say, or seen and unseen."""

    full_state_update = False
    rows: Tensor
    correct: Tensor
    edits: Tensor

    def __init__(self, groups: Sequence[str]) -> None:
        super().__init__()
        self.groups = {group: number for number, group in enumerate(groups)}
        for state in ("rows", "correct", "edits"):
            self.add_state(state, torch.zeros(len(groups), dtype=torch.long), dist_reduce_fx="sum")

    def update(self, predictions: Sequence[str], gold: Sequence[str], groups: Sequence[str]) -> None:
        place = torch.tensor([self.groups[group] for group in groups], dtype=torch.long)
        edits = torch.tensor([Levenshtein.distance(p, g) for p, g in zip(predictions, gold, strict=True)]).long()
        self.rows.index_add_(0, place, torch.ones_like(place))
        self.correct.index_add_(0, place, edits.eq(0).long())
        self.edits.index_add_(0, place, edits)

    def compute(self) -> dict[str, Tensor]:
        """Tensors [G] in the order of the groups; the means of a group without rows are NaN."""
        return {
            "rows": self.rows,
            "accuracy": self.correct.double() / self.rows,
            "edit_distance": self.edits.double() / self.rows,
        }
