"""Dropout masks of a whole update, each member's from its own stream of random bytes.

A member's masks depend on its seed, the update and its own batch, never on the stack around it. All masks of
an update come from one draw of bytes, because a draw per layer costs a fifth of a step on a CPU.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import torch
from torch import Tensor

from inflect.data.batches import Batch
from inflect.streams import stream


@dataclass(frozen=True)
class Masks:
    """Multipliers: 0 where a value is dropped, 1 / (1 - p) where it is kept.

    `source` [9, M, B·S, D] and `target` [13, M, B·T, D] for 4+4 layers: embedding, then each sublayer's output.
    `encoder` [L, M·B·H, S, S], `decoder` [L, M·B·H, T, T], `cross` [L, M·B·H, T, S]: attention weights.
    """

    source: Tensor
    target: Tensor
    encoder: Tensor
    decoder: Tensor
    cross: Tensor


@dataclass(frozen=True)
class Dropout:
    """Probabilities for vectors and attention weights, and the architecture's sizes.

    A probability is met to the nearest 1/256, and the scale is exact for the probability that is met.
    """

    vectors: float
    attention: float
    layers: int
    heads: int
    width: int

    def _shapes(self, rows: int, source: int, target: int) -> tuple[tuple[int, ...], ...]:
        return (
            (1 + 2 * self.layers, rows, source, self.width),
            (1 + 3 * self.layers, rows, target, self.width),
            (self.layers, rows, self.heads, source, source),
            (self.layers, rows, self.heads, target, target),
            (self.layers, rows, self.heads, target, source),
        )

    def draw(self, seeds: Sequence[int], batch: Batch, dtype: torch.dtype) -> Masks:
        """Masks for the update that `batch` is of: the same for a member whatever its batch is padded to."""
        (members, rows, length), target_length = batch.source.shape, batch.target.shape[2]
        stacked = [
            torch.zeros((shape[0], members, *shape[1:]), dtype=torch.uint8)
            for shape in self._shapes(rows, length, target_length)
        ]
        for member, (seed, size) in enumerate(zip(seeds, batch.sizes, strict=True)):
            shapes = self._shapes(*size)
            count = sum(prod(shape) for shape in shapes)
            source_of_bytes = np.random.SFC64(stream(seed, "dropout", batch.update))
            drawn = torch.from_numpy(source_of_bytes.random_raw(-(-count // 8)).view(np.uint8))
            for whole, shape in zip(stacked, shapes, strict=True):
                own, drawn = drawn[: prod(shape)].view(shape), drawn[prod(shape) :]
                whole[:, member][tuple(slice(length) for length in shape)] = own
        source, target, encoder, decoder, cross = (whole.to(batch.source.device) for whole in stacked)
        return Masks(
            source=_multiplier(source, self.vectors, dtype).flatten(2, 3),
            target=_multiplier(target, self.vectors, dtype).flatten(2, 3),
            encoder=_multiplier(encoder, self.attention, dtype).flatten(1, 3),
            decoder=_multiplier(decoder, self.attention, dtype).flatten(1, 3),
            cross=_multiplier(cross, self.attention, dtype).flatten(1, 3),
        )


def _multiplier(drawn: Tensor, probability: float, dtype: torch.dtype) -> Tensor:
    """Bytes to multipliers: a byte below 256·p drops."""
    dropped = round(256 * probability)
    zero, scale = torch.tensor([0.0, 256 / (256 - dropped)], dtype=dtype, device=drawn.device)
    return torch.where(drawn < dropped, zero, scale)
