"""Metrics of several members at once."""

import torch
from torch import Tensor
from torchmetrics import Metric


class MemberMean(Metric):
    """Sum over sum for each member: totals [M] and counts [M] of every batch, divided once at the end."""

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
