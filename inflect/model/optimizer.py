"""Adam for weights of less than float32."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor


class MasterAdam(torch.optim.Adam):
    """Adam on float32 copies of the weights; each step writes the rounded copies back.

    A step is often smaller than a bfloat16 weight can change, so the sum of steps must be kept in float32. The
    casts of all weights are one call each way, not one per layer and pass.
    """

    def __init__(self, weights: Iterable[Tensor], **arguments: Any) -> None:
        self.weights = list(weights)
        masters = [weight.detach().float() for weight in self.weights]
        super().__init__(masters, **arguments)
        for master in masters:
            master.grad = torch.zeros_like(master)
        self.masters = masters

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = None if closure is None else closure()
        with torch.no_grad():
            torch._foreach_copy_(_gradients(self.masters), _gradients(self.weights))
            super().step()
            torch._foreach_copy_(self.weights, self.masters)
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        for weight in self.weights:
            weight.grad = None


def _gradients(tensors: list[Tensor]) -> list[Tensor]:
    return [tensor.grad for tensor in tensors if tensor.grad is not None]
