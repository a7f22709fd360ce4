"""One member's checkpoint: weights without a member dimension, its vocabulary and its architecture.

A checkpoint holds tensors and plain data alone, so it loads with `weights_only=True` and runs no code.
"""

import pickle
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from inflect.data.symbols import Symbols
from inflect.errors import UserError
from inflect.model.settings import Architecture
from inflect.model.transformer import StackedTransformer

FORMAT = 1


@dataclass(frozen=True)
class Checkpoint:
    """`about` is plain data on where the weights come from (name, seed, update, spaces, ...)."""

    weights: Mapping[str, Tensor]
    symbols: Symbols
    shape: Architecture
    about: Mapping[str, Any]

    def save(self, path: Path) -> None:
        torch.save(
            {
                "format": FORMAT,
                "weights": dict(self.weights),
                "symbols": self.symbols.to_lists(),
                "shape": asdict(self.shape),
                "about": dict(self.about),
            },
            path,
        )

    @classmethod
    def load(cls, path: Path) -> "Checkpoint":
        """Raises UserError for a file that is missing or not a checkpoint of this package."""
        if not path.is_file():
            raise UserError(f"checkpoint={path}: no such file")
        if not zipfile.is_zipfile(path):  # torch would take other files for its old format, a bare pickle
            raise UserError(f"checkpoint={path}: not a checkpoint")
        try:
            content = torch.load(path, map_location="cpu", weights_only=True)
        except (OSError, RuntimeError, pickle.UnpicklingError, EOFError) as error:
            raise UserError(f"checkpoint={path}: not a readable checkpoint ({type(error).__name__})") from None
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise UserError(f"checkpoint={path}: not a checkpoint of this package (format {FORMAT})")
        symbols, shape = Symbols.from_lists(content["symbols"]), Architecture(**content["shape"])
        return cls(content["weights"], symbols, shape, content["about"])


def stack_of(checkpoints: Sequence[Checkpoint], dtype: torch.dtype) -> StackedTransformer:
    """A stack for inference; all checkpoints share one architecture."""
    (shape,) = {checkpoint.shape for checkpoint in checkpoints}
    source_sizes = [checkpoint.symbols.source_size for checkpoint in checkpoints]
    target_sizes = [checkpoint.symbols.target_size for checkpoint in checkpoints]
    model = StackedTransformer(shape, source_sizes, target_sizes, dtype)
    for member, checkpoint in enumerate(checkpoints):
        model.load_member(member, checkpoint.weights)
    return model.eval()
