"""Layers with a leading member dimension.

A stack holds several independent models of one architecture. Each layer keeps the members' weights side by
side and treats every member's rows with that member's weights alone, so a single run is a stack of one.

Dimensions, here and in the rest of `inflect.model`:

    M members   B rows of a batch   S source length   T target length
    D width     F feed-forward      H heads           V symbols         N = rows × length
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

MASKED = -1e4  # a score that softmax turns into exactly 0, in bfloat16 too


class Linear(nn.Module):
    """One affine map per member: [M, N, in] to [M, N, out]."""

    def __init__(self, members: int, inputs: int, outputs: int, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(members, inputs, outputs))
        self.bias = nn.Parameter(torch.empty(members, 1, outputs)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        return torch.bmm(x, self.weight) if self.bias is None else torch.baddbmm(self.bias, x, self.weight)


class LayerNorm(nn.Module):
    """Normalisation over the last dimension with one scale and shift per member: [M, N, D]."""

    def __init__(self, members: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(members, 1, width))
        self.bias = nn.Parameter(torch.zeros(members, 1, width))

    def forward(self, x: Tensor) -> Tensor:
        return torch.addcmul(self.bias, functional.layer_norm(x, x.shape[-1:]), self.weight)


class Embedding(nn.Module):
    """One table per member: symbol ids [M, B, S] to vectors [M, B, S, D]."""

    def __init__(self, members: int, symbols: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(members, symbols, width))

    def forward(self, ids: Tensor) -> Tensor:
        members, symbols, width = self.weight.shape
        first = torch.arange(0, members * symbols, symbols, device=ids.device).view(-1, 1, 1)
        return functional.embedding(ids + first, self.weight.view(-1, width))


class Attention(nn.Module):
    """Multi-head attention; queries come from one sequence, keys and values from the same or another."""

    def __init__(self, members: int, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = Linear(members, width, width)
        self.key_value = Linear(members, width, 2 * width)
        self.output = Linear(members, width, width)

    def project(self, x: Tensor, rows: int) -> tuple[Tensor, Tensor]:
        """Keys and values of `x` [M, rows·L, D], each [M·rows·H, L, D/H]."""
        members, _, width = x.shape
        split = self.key_value(x).view(members * rows, -1, 2, self.heads, width // self.heads)
        keys, values = split.permute(2, 0, 3, 1, 4).contiguous().flatten(1, 2).unbind()
        return keys, values

    def forward(
        self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor, rows: int, keep: Tensor | None = None
    ) -> Tensor:
        """`x` [M, N, D] attends to `keys` and `values` [M·rows·H, L, D/H].

        `mask` [M·rows or 1, 1 or N/rows, L] is added to the scores; `keep` [M·rows·H, N/rows, L] multiplies the
        weights (dropout).
        """
        members, positions, width = x.shape
        batch, length, part = members * rows, positions // rows, width // self.heads
        queries = self.query(x).view(batch, length, self.heads, part).transpose(1, 2).flatten(0, 1)
        mask = mask.unsqueeze(1).expand(batch, self.heads, length, keys.shape[1]).flatten(0, 1)
        scores = torch.baddbmm(mask, queries, keys.transpose(1, 2), alpha=1 / math.sqrt(part))
        weights = torch.softmax(scores, dim=-1)
        if keep is not None:
            weights = weights * keep
        attended = torch.bmm(weights, values).view(batch, self.heads, length, part)
        return self.output(attended.transpose(1, 2).reshape(x.shape))


class FeedForward(nn.Module):
    """Two affine maps with a ReLU between: [M, N, D] to [M, N, D]."""

    def __init__(self, members: int, width: int, inner: int) -> None:
        super().__init__()
        self.expand = Linear(members, width, inner)
        self.contract = Linear(members, inner, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.contract(torch.relu(self.expand(x)))


def drop(x: Tensor, keep: Tensor | None) -> Tensor:
    """Dropout by a mask that was drawn before; none outside training."""
    return x if keep is None else x * keep
