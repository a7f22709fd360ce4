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
        weight = self.weight.to(x.dtype)
        if self.bias is None:
            return torch.bmm(x, weight)
        return torch.baddbmm(self.bias.to(x.dtype), x, weight)


class LayerNorm(nn.Module):
    """Normalisation over the last dimension with one scale and shift per member: [M, N, D]."""

    def __init__(self, members: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(members, 1, width))
        self.bias = nn.Parameter(torch.zeros(members, 1, width))

    def forward(self, x: Tensor) -> Tensor:
        normal = functional.layer_norm(x, x.shape[-1:])
        return torch.addcmul(self.bias.to(x.dtype), normal, self.weight.to(x.dtype))


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
    """Multi-head attention; queries, keys and values are [M, N, D]."""

    def __init__(self, members: int, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = Linear(members, width, width)
        self.key = Linear(members, width, width)
        self.value = Linear(members, width, width)
        self.output = Linear(members, width, width)

    def split(self, x: Tensor, rows: int) -> Tensor:
        """[M, rows·L, D] to [M·rows, H, L, D/H]."""
        return x.view(x.shape[0] * rows, -1, self.heads, x.shape[-1] // self.heads).transpose(1, 2)

    def project(self, x: Tensor, rows: int) -> tuple[Tensor, Tensor]:
        """The keys and values of `x`, split into heads."""
        return self.split(self.key(x), rows), self.split(self.value(x), rows)

    def forward(
        self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor, rows: int, keep: Tensor | None = None
    ) -> Tensor:
        """`x` [M, N, D] attends to `keys` and `values` [M·rows, H, L, D/H].

        `mask` is added to the scores; `keep` [M·rows, H, N/rows, L] multiplies the weights (dropout).
        """
        queries = self.split(self.query(x), rows)
        scores = torch.matmul(queries, keys.transpose(-1, -2)) / math.sqrt(queries.shape[-1])
        weights = torch.softmax(scores + mask, dim=-1)
        if keep is not None:
            weights = weights * keep
        return self.output(torch.matmul(weights, values).transpose(1, 2).reshape(x.shape))


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
