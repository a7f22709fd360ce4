"""The settings `model.*` and `optim.*`; this module is cheap to import."""

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Architecture:
    """The shape of a model; runs that share it can train in one stack."""

    layers: int = 4
    width: int = 256
    feed_forward: int = 512
    heads: int = 4
    dropout: float = 0.3
    attention_dropout: float = 0.1


@dataclass(frozen=True)
class Smoothing:
    """Label smoothing by `amount`, of which each symbol but the target gets an equal share.

    `over` says who shares: "others" (fairseq, the authors' code: the target keeps 1 - ε, each other symbol of V
    gets ε/(V-1)) or "all" (PyTorch's CrossEntropyLoss: every symbol, the target too, gets ε/V).
    """

    amount: float = 0.2
    over: str = "others"


@dataclass(frozen=True)
class OptimSettings:
    """Adam and its schedule, from the authors' training script; no weight decay, no clipping.

    `batch` triples an update. `batch_multiple`: a last batch of the length-sorted rows whose size this does not
    divide is left out (`inflect.data.batches.length_sorted`).
    """

    lr: float = 1e-3
    warmup: int = 4000
    warmup_from: float = 1e-7
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    batch: int = 16
    batch_multiple: int = 1
    smoothing: Smoothing = field(default_factory=Smoothing)

    def rate(self, update: int) -> float:
        """Learning rate after `update` updates: linear to `lr` at `warmup`, then by inverse square root."""
        if update < self.warmup:
            return self.warmup_from + update * (self.lr - self.warmup_from) / self.warmup
        return self.lr * math.sqrt(max(self.warmup, 1) / max(update, 1))
