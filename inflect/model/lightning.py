"""The LightningModule: trains a stack of members and keeps each one's best weights by dev loss."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pytorch_lightning as pl
import torch
from pytorch_lightning.utilities.types import OptimizerLRSchedulerConfig
from torch import Tensor

from inflect.data.batches import Batch
from inflect.data.symbols import PAD, UNKNOWN
from inflect.model.loss import per_member, token_losses
from inflect.model.metrics import MemberMean
from inflect.model.optimizer import MasterAdam
from inflect.model.settings import Architecture, OptimSettings
from inflect.model.transformer import StackedTransformer


@dataclass(frozen=True)
class Validation:
    """One member's dev scores after `update` updates; losses in nats per target symbol, EOS included.

    `accuracy` is that of greedy decoding: the share of rows whose every symbol is the argmax given the gold
    symbols before it, which is the same event. A row with an unknown symbol counts as wrong.
    """

    update: int
    loss: float
    nll: float
    accuracy: float


class Inflection(pl.LightningModule):
    """A stack in training. `history[m]` are member m's validations, `best[m]` its weights at the lowest dev loss.

    `losses` holds the training losses [M] since the last validation, one per update (whoever logs them empties
    it); nothing is moved to the host between validations.
    """

    target_sizes: Tensor

    def __init__(
        self,
        shape: Architecture,
        source_sizes: Sequence[int],
        target_sizes: Sequence[int],
        seeds: Sequence[int],
        optim: OptimSettings,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.model = StackedTransformer(shape, source_sizes, target_sizes, dtype)
        self.model.initialise(seeds)
        self.seeds, self.optim = tuple(seeds), optim
        self.dropout = self.model.dropout()
        self.register_buffer("target_sizes", torch.tensor(self.model.target_sizes), persistent=False)
        self.losses: list[Tensor] = []
        self.history: list[list[Validation]] = [[] for _ in seeds]
        self.best: list[dict[str, Tensor]] = [{} for _ in seeds]
        self.dev_loss, self.dev_nll, self.dev_accuracy = (MemberMean(len(seeds)) for _ in range(3))

    def training_step(self, batch: Batch, batch_index: int) -> Tensor:
        masks = self.dropout.draw(self.seeds, batch, self.model.dtype)
        scores = self.model(batch.source, batch.previous, masks)
        losses = per_member(
            token_losses(scores, batch.target, self.target_sizes, self.optim.smoothing).smoothed, batch.target
        )
        self.losses.append(losses.detach())
        return losses.sum()  # no weight is shared, so each member's gradient is that of its own loss

    def validation_step(self, batch: Batch, batch_index: int) -> None:
        scores = self.model(batch.source, batch.previous)
        losses = token_losses(scores, batch.target, self.target_sizes, self.optim.smoothing)
        real = batch.target.ne(PAD)
        symbols = real.sum(dim=(1, 2))
        self.dev_loss.update(losses.smoothed.sum(dim=(1, 2)), symbols)
        self.dev_nll.update(losses.nll.sum(dim=(1, 2)), symbols)
        right = scores.argmax(dim=-1).eq(batch.target) & batch.target.ne(UNKNOWN)
        rows = batch.rows.ge(0)
        self.dev_accuracy.update(((right | ~real).all(dim=2) & rows).sum(dim=1), rows.sum(dim=1))

    def on_validation_epoch_end(self) -> None:
        metrics = (self.dev_loss, self.dev_nll, self.dev_accuracy)
        values = torch.stack([metric.compute().view(-1) for metric in metrics], dim=1).tolist()
        for metric in metrics:
            metric.reset()
        for member, (loss, nll, accuracy) in enumerate(values):
            lowest = min((past.loss for past in self.history[member]), default=math.inf)
            self.history[member].append(Validation(self.global_step, loss, nll, accuracy))
            if loss < lowest:
                self.best[member] = self.model.member(member)

    def configure_optimizers(self) -> OptimizerLRSchedulerConfig:
        betas = (self.optim.beta1, self.optim.beta2)
        optimizer = torch.optim.Adam if self.model.dtype == torch.float32 else MasterAdam
        adam = optimizer(self.model.parameters(), lr=1.0, betas=betas, eps=self.optim.eps, fused=True)
        schedule = torch.optim.lr_scheduler.LambdaLR(adam, self.optim.rate)
        return {"optimizer": adam, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}
