"""The encoder-decoder Transformer of the paper, stacked: several models of one architecture as one.

Post-norm, ReLU, sinusoidal positions, source and target embeddings apart, no weight sharing (the authors'
training script; the paper's Appendix A has the other half). Initialisation, positions, embedding scale and
the bias terms follow fairseq 0.12, which trained the paper's models; `tests/model` holds this module against
a twin made of `torch.nn.Transformer` layers, and `docs/results.md` against fairseq's own runs.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from inflect.data.symbols import PAD
from inflect.model.dropout import Dropout, Masks
from inflect.model.layers import MASKED, Attention, Embedding, FeedForward, LayerNorm, Linear, drop
from inflect.model.settings import Architecture
from inflect.streams import stream


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward, each added to its input and normalised (post-norm)."""

    def __init__(self, members: int, shape: Architecture) -> None:
        super().__init__()
        self.attention = Attention(members, shape.width, shape.heads)
        self.attention_norm = LayerNorm(members, shape.width)
        self.feed_forward = FeedForward(members, shape.width, shape.feed_forward)
        self.feed_forward_norm = LayerNorm(members, shape.width)

    def forward(
        self, x: Tensor, mask: Tensor, rows: int, keep: Sequence[Tensor | None], keep_weights: Tensor | None
    ) -> Tensor:
        keys, values = self.attention.project(x, rows)
        attended = self.attention(x, keys, values, mask, rows, keep_weights)
        x = self.attention_norm(x + drop(attended, keep[0]))
        return self.feed_forward_norm(x + drop(self.feed_forward(x), keep[1]))


class DecoderLayer(nn.Module):
    """As the encoder's, with attention to the source between."""

    def __init__(self, members: int, shape: Architecture) -> None:
        super().__init__()
        self.attention = Attention(members, shape.width, shape.heads)
        self.attention_norm = LayerNorm(members, shape.width)
        self.cross = Attention(members, shape.width, shape.heads)
        self.cross_norm = LayerNorm(members, shape.width)
        self.feed_forward = FeedForward(members, shape.width, shape.feed_forward)
        self.feed_forward_norm = LayerNorm(members, shape.width)

    def forward(
        self,
        x: Tensor,
        history: tuple[Tensor, Tensor],
        source: tuple[Tensor, Tensor],
        history_mask: Tensor,
        source_mask: Tensor,
        rows: int,
        keep: Sequence[Tensor | None] = (None, None, None),
        keep_weights: tuple[Tensor | None, Tensor | None] = (None, None),
    ) -> Tensor:
        """`history` and `source` are keys and values of what was written so far and of the encoder's output."""
        attended = self.attention(x, *history, history_mask, rows, keep_weights[0])
        x = self.attention_norm(x + drop(attended, keep[0]))
        attended = self.cross(x, *source, source_mask, rows, keep_weights[1])
        x = self.cross_norm(x + drop(attended, keep[1]))
        return self.feed_forward_norm(x + drop(self.feed_forward(x), keep[2]))


class StackedTransformer(nn.Module):
    """`members` models side by side; vocabularies are padded to the largest, and padding is masked.

    `source_sizes` and `target_sizes` are each member's own numbers of symbols, special symbols included.
    `dtype` is that of the weights and of the computation; scores are float32 whatever it is.
    """

    symbols_mask: Tensor

    def __init__(
        self,
        shape: Architecture,
        source_sizes: Sequence[int],
        target_sizes: Sequence[int],
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        members = len(source_sizes)
        self.shape, self.dtype = shape, dtype
        self.source_sizes, self.target_sizes = tuple(source_sizes), tuple(target_sizes)
        self.source_embedding = Embedding(members, max(source_sizes), shape.width)
        self.target_embedding = Embedding(members, max(target_sizes), shape.width)
        self.encoder = nn.ModuleList(EncoderLayer(members, shape) for _ in range(shape.layers))
        self.decoder = nn.ModuleList(DecoderLayer(members, shape) for _ in range(shape.layers))
        self.output = Linear(members, shape.width, max(target_sizes), bias=False)
        absent = torch.arange(max(target_sizes)) >= torch.tensor(self.target_sizes).unsqueeze(1)
        self.register_buffer("symbols_mask", MASKED * absent.float().unsqueeze(1), persistent=False)
        self.to(dtype)

    @property
    def members(self) -> int:
        return len(self.source_sizes)

    def dropout(self) -> Dropout:
        shape = self.shape
        return Dropout(shape.dropout, shape.attention_dropout, shape.layers, shape.heads, shape.width)

    def forward(self, source: Tensor, previous: Tensor, masks: Masks | None = None) -> Tensor:
        """Scores [M, B, T, V] (float32) of each next symbol, for `source` [M, B, S] and `previous` [M, B, T].

        `previous` is the target moved right by one, with EOS first, as in fairseq.
        """
        encoded, source_mask = self.encode(source, masks)
        rows, length = source.shape[1], previous.shape[2]
        causal = torch.full((1, length, length), MASKED, dtype=self.dtype, device=source.device).triu(1)
        x = self.embed(self.target_embedding, previous, first=0)
        x = drop(x, None if masks is None else masks.target[0])
        for index, layer in enumerate(self.decoder):
            assert isinstance(layer, DecoderLayer)
            keep = (None,) * 3 if masks is None else masks.target[1 + 3 * index : 4 + 3 * index].unbind()
            weights = (None, None) if masks is None else (masks.decoder[index], masks.cross[index])
            history = layer.attention.project(x, rows)
            x = layer(x, history, layer.cross.project(encoded, rows), causal, source_mask, rows, keep, weights)
        return self.scores(x).view(*previous.shape, -1)

    def encode(self, source: Tensor, masks: Masks | None = None) -> tuple[Tensor, Tensor]:
        """Encoder output [M, B·S, D] of `source` [M, B, S], and the mask [M·B, 1, S] of its padding."""
        members, rows, length = source.shape
        padding = (source == PAD).view(members * rows, 1, length)
        mask = torch.zeros(padding.shape, dtype=self.dtype, device=source.device).masked_fill(padding, MASKED)
        x = drop(self.embed(self.source_embedding, source, first=0), None if masks is None else masks.source[0])
        for index, layer in enumerate(self.encoder):
            keep = (None,) * 2 if masks is None else masks.source[1 + 2 * index : 3 + 2 * index].unbind()
            x = layer(x, mask, rows, keep, None if masks is None else masks.encoder[index])
        return x, mask

    def embed(self, table: Embedding, ids: Tensor, first: int) -> Tensor:
        """Vectors [M, N, D] of `ids` [M, B, L] whose first column stands at position `first`."""
        width = self.shape.width
        positions = sinusoids(first + ids.shape[2], width).to(ids.device)[first:]
        return (table(ids) * math.sqrt(width) + positions).flatten(1, 2).to(self.dtype)

    def scores(self, x: Tensor) -> Tensor:
        """[M, N, D] to scores [M, N, V]; symbols that a member does not have get `MASKED`."""
        return self.output(x).float() + self.symbols_mask

    def initialise(self, seeds: Sequence[int]) -> None:
        """Give each member the weights of its own seed, as fairseq does, whatever the stack around it."""
        for member, seed in enumerate(seeds):
            word = int(stream(seed, "weights").generate_state(1, np.uint64)[0])
            generator = torch.Generator().manual_seed(word)
            alone = StackedTransformer(self.shape, [self.source_sizes[member]], [self.target_sizes[member]])
            _initialise(alone, generator)
            self.load_member(member, alone.member(0))

    def member(self, index: int) -> dict[str, Tensor]:
        """A float32 copy of one member's weights, without the member dimension and without padding."""
        state = {name: value[index] for name, value in self.named_parameters()}
        source, target = self.source_sizes[index], self.target_sizes[index]
        state["source_embedding.weight"] = state["source_embedding.weight"][:source]
        state["target_embedding.weight"] = state["target_embedding.weight"][:target]
        state["output.weight"] = state["output.weight"][:, :target]
        return {name: value.detach().float().clone() for name, value in state.items()}

    @torch.no_grad()
    def load_member(self, index: int, state: Mapping[str, Tensor]) -> None:
        """The inverse of `member`; padding becomes zero."""
        for name, parameter in self.named_parameters():
            own = parameter[index].zero_()
            own[tuple(slice(length) for length in state[name].shape)] = state[name]


def sinusoids(length: int, width: int) -> Tensor:
    """Position vectors [length, width]: sines, then cosines; the first position is 2, as in fairseq."""
    half = width // 2
    rates = torch.exp(torch.arange(half) * (-math.log(10_000) / (half - 1)))
    angles = (torch.arange(length) + 2).unsqueeze(1) * rates
    return torch.cat([angles.sin(), angles.cos()], dim=1)


@torch.no_grad()
def _initialise(model: StackedTransformer, generator: torch.Generator) -> None:
    """fairseq's initial weights for a stack of one.

    Embeddings and output: normal, sd 1/√D. Attention: Xavier uniform, with gain 1/√2 for query, key and value.
    Feed-forward: uniform ±1/√inputs, its biases too, and those of query, key and value; output biases zero.

    What has the size of a vocabulary comes last, so that runs of one seed share the weights of all layers.
    """
    for module in model.modules():
        if isinstance(module, Attention):
            for linear in (module.query, module.key_value, module.output):
                width = linear.weight.shape[1]
                gain = 1.0 if linear is module.output else 1 / math.sqrt(2)
                bound = gain * math.sqrt(6 / (2 * width))
                linear.weight.uniform_(-bound, bound, generator=generator)
                assert linear.bias is not None
                if linear is module.output:
                    linear.bias.zero_()
                else:
                    linear.bias.uniform_(-(width**-0.5), width**-0.5, generator=generator)
        elif isinstance(module, FeedForward):
            for linear in (module.expand, module.contract):
                bound = linear.weight.shape[1] ** -0.5
                assert linear.bias is not None
                linear.weight.uniform_(-bound, bound, generator=generator)
                linear.bias.uniform_(-bound, bound, generator=generator)
    for table in (model.source_embedding, model.target_embedding):
        table.weight.normal_(0, model.shape.width**-0.5, generator=generator)
        table.weight[:, PAD] = 0
    model.output.weight.normal_(0, model.shape.width**-0.5, generator=generator)
