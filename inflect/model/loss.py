"""Label-smoothed cross-entropy, member by member."""

from dataclasses import dataclass

import torch
from torch import Tensor

from inflect.data.symbols import PAD
from inflect.model.settings import Smoothing


@dataclass(frozen=True)
class TokenLosses:
    """Per target position [M, B, T], 0 at padding, in nats: the smoothed loss and the negative log-likelihood."""

    smoothed: Tensor
    nll: Tensor


def token_losses(scores: Tensor, target: Tensor, target_sizes: Tensor, smoothing: Smoothing) -> TokenLosses:
    """Losses of `target` [M, B, T] under `scores` [M, B, T, V]; `target_sizes` [M] are the members' own V."""
    log_p = torch.log_softmax(scores, dim=-1)
    size = target_sizes.view(-1, 1, 1).to(log_p.dtype)
    own = torch.arange(scores.shape[-1], device=scores.device) < target_sizes.view(-1, 1, 1, 1)
    nll = -log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    everything = -(log_p * own).sum(dim=-1)
    spread = (everything - nll) / (size - 1) if smoothing.over == "others" else everything / size
    smoothed = (1 - smoothing.amount) * nll + smoothing.amount * spread
    real = target.ne(PAD)
    return TokenLosses(smoothed * real, nll * real)


def per_member(values: Tensor, target: Tensor) -> Tensor:
    """Mean of `values` [M, B, T] over each member's target symbols, EOS included: [M]."""
    return values.sum(dim=(1, 2)) / target.ne(PAD).sum(dim=(1, 2)).clamp(min=1)
