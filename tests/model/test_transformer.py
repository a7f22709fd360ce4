"""The stacked Transformer against a twin made of PyTorch's own layers, and against itself in other company."""

import math

import pytest
import torch
from torch import Tensor, nn

from inflect.data.symbols import EOS, PAD, SPECIAL
from inflect.model.loss import per_member, token_losses
from inflect.model.settings import Architecture, Smoothing
from inflect.model.transformer import StackedTransformer, sinusoids

SHAPE = Architecture(layers=2, width=16, feed_forward=24, heads=2, dropout=0.0, attention_dropout=0.0)


class Twin(nn.Module):
    """One member, in `nn.TransformerEncoderLayer` and `nn.TransformerDecoderLayer`."""

    def __init__(self, shape: Architecture, weights: dict[str, Tensor]) -> None:
        super().__init__()
        arguments = {
            "d_model": shape.width,
            "nhead": shape.heads,
            "dim_feedforward": shape.feed_forward,
            "dropout": 0.0,
            "batch_first": True,
            "norm_first": False,
        }
        self.width = shape.width
        self.source = nn.Parameter(weights["source_embedding.weight"].clone())
        self.target = nn.Parameter(weights["target_embedding.weight"].clone())
        self.output = nn.Parameter(weights["output.weight"].clone())
        self.encoder = nn.ModuleList(nn.TransformerEncoderLayer(**arguments) for _ in range(shape.layers))
        self.decoder = nn.ModuleList(nn.TransformerDecoderLayer(**arguments) for _ in range(shape.layers))
        with torch.no_grad():
            for side in ("encoder", "decoder"):
                for index, layer in enumerate(getattr(self, side)):
                    self._fill(layer, weights, f"{side}.{index}", cross=side == "decoder")

    def _fill(self, layer: nn.Module, weights: dict[str, Tensor], name: str, cross: bool) -> None:
        pairs = [("attention", layer.self_attn, layer.norm1)]
        if cross:
            pairs.append(("cross", layer.multihead_attn, layer.norm2))
        for own, attention, norm in pairs:
            both = [f"{name}.{own}.{part}" for part in ("query", "key_value")]
            attention.in_proj_weight.copy_(torch.cat([weights[f"{x}.weight"].T for x in both]))
            attention.in_proj_bias.copy_(torch.cat([weights[f"{x}.bias"][0] for x in both]))
            attention.out_proj.weight.copy_(weights[f"{name}.{own}.output.weight"].T)
            attention.out_proj.bias.copy_(weights[f"{name}.{own}.output.bias"][0])
            norm.weight.copy_(weights[f"{name}.{own}_norm.weight"][0])
            norm.bias.copy_(weights[f"{name}.{own}_norm.bias"][0])
        for part, linear in (("expand", layer.linear1), ("contract", layer.linear2)):
            linear.weight.copy_(weights[f"{name}.feed_forward.{part}.weight"].T)
            linear.bias.copy_(weights[f"{name}.feed_forward.{part}.bias"][0])
        last = layer.norm3 if cross else layer.norm2
        last.weight.copy_(weights[f"{name}.feed_forward_norm.weight"][0])
        last.bias.copy_(weights[f"{name}.feed_forward_norm.bias"][0])

    def forward(self, source: Tensor, previous: Tensor) -> Tensor:
        padding = source.eq(PAD)
        x = self.source[source] * math.sqrt(self.width) + sinusoids(source.shape[1], self.width)
        for layer in self.encoder:
            x = layer(x, src_key_padding_mask=padding)
        length = previous.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool).triu(1)
        y = self.target[previous] * math.sqrt(self.width) + sinusoids(length, self.width)
        for layer in self.decoder:
            y = layer(y, x, tgt_mask=causal, memory_key_padding_mask=padding)
        return y @ self.output


def words(generator: torch.Generator, rows: int, longest: int, symbols: int) -> Tensor:
    """Random ids [rows, longest], each row of its own length, EOS at its end."""
    ids = torch.randint(SPECIAL, symbols, (rows, longest), generator=generator)
    lengths = torch.randint(2, longest + 1, (rows,), generator=generator)
    lengths[0] = longest
    for row, length in enumerate(lengths.tolist()):
        ids[row, length - 1] = EOS
        ids[row, length:] = PAD
    return ids


def previous_of(target: Tensor) -> Tensor:
    return torch.cat([torch.full_like(target[..., :1], EOS), target[..., :-1]], dim=-1)


def losses(model: StackedTransformer, source: Tensor, target: Tensor, smoothing: Smoothing) -> Tensor:
    scores = model(source, previous_of(target))
    sizes = torch.tensor(model.target_sizes)
    return per_member(token_losses(scores, target, sizes, smoothing).smoothed, target)


@pytest.mark.parametrize("over", ["others", "all"])
def test_loss_and_gradient_are_those_of_a_twin_made_of_torch_layers(over: str) -> None:
    generator = torch.Generator().manual_seed(1)
    model = StackedTransformer(SHAPE, [11], [9])
    model.initialise([3])
    twin = Twin(SHAPE, model.member(0))
    source, target = words(generator, 5, 7, 11), words(generator, 5, 6, 9)
    ours = losses(model, source.unsqueeze(0), target.unsqueeze(0), Smoothing(0.2, over))
    ours.sum().backward()

    scores = twin(source, previous_of(target))
    size, amount = 9, 0.2
    if over == "all":
        expected = nn.functional.cross_entropy(
            scores.flatten(0, 1), target.flatten(), ignore_index=PAD, label_smoothing=amount
        )
    else:
        wanted = torch.full((*target.shape, size), amount / (size - 1))
        wanted.scatter_(-1, target.unsqueeze(-1), 1 - amount)
        per_symbol = -(wanted * scores.log_softmax(-1)).sum(-1)[target.ne(PAD)]
        expected = per_symbol.mean()
    expected.backward()
    torch.testing.assert_close(ours[0], expected)
    for name, other in (("source_embedding", twin.source), ("target_embedding", twin.target)):
        torch.testing.assert_close(model.get_parameter(f"{name}.weight").grad[0], other.grad)
    first = twin.encoder[0].linear1
    torch.testing.assert_close(model.get_parameter("encoder.0.feed_forward.expand.weight").grad[0].T, first.weight.grad)
    torch.testing.assert_close(
        model.get_parameter("decoder.1.cross.key_value.weight").grad[0].T,
        twin.decoder[1].multihead_attn.in_proj_weight.grad[SHAPE.width :],
    )
    torch.testing.assert_close(
        model.get_parameter("decoder.0.attention.query.bias").grad[0, 0],
        twin.decoder[0].self_attn.in_proj_bias.grad.chunk(3)[0],
    )


def test_padding_of_rows_lengths_and_vocabulary_changes_nothing() -> None:
    generator = torch.Generator().manual_seed(2)
    alone = StackedTransformer(SHAPE, [11], [9])
    alone.initialise([5])
    source, target = words(generator, 4, 7, 11), words(generator, 4, 6, 9)
    stack = StackedTransformer(SHAPE, [20, 11], [30, 9])
    stack.initialise([8, 5])
    wide_source = torch.full((2, 6, 12), PAD)
    wide_target = torch.full((2, 6, 10), PAD)
    wide_source[0], wide_target[0] = words(generator, 6, 12, 20), words(generator, 6, 10, 30)
    wide_source[1, :4, :7], wide_target[1, :4, :6] = source, target
    expected = losses(alone, source.unsqueeze(0), target.unsqueeze(0), Smoothing())
    found = losses(stack, wide_source, wide_target, Smoothing())
    torch.testing.assert_close(found[1], expected[0], rtol=1e-5, atol=1e-6)
    expected.sum().backward()
    found.sum().backward()
    for name, parameter in alone.named_parameters():
        own = stack.get_parameter(name).grad[1][tuple(slice(length) for length in parameter.shape[1:])]
        torch.testing.assert_close(own, parameter.grad[0], rtol=1e-4, atol=1e-6)


def test_a_member_has_the_weights_of_its_seed_whatever_the_stack() -> None:
    alone, stack = StackedTransformer(SHAPE, [11], [9]), StackedTransformer(SHAPE, [20, 11, 7], [30, 9, 9])
    alone.initialise([4])
    stack.initialise([1, 4, 4])
    for name, value in alone.member(0).items():
        assert torch.equal(stack.member(1)[name], value), name
    layer = "encoder.0.attention.query.weight"
    assert not torch.equal(stack.member(0)[layer], stack.member(1)[layer])
    assert torch.equal(stack.member(2)[layer], stack.member(1)[layer])  # another vocabulary, the same layers


def test_later_target_symbols_do_not_reach_back() -> None:
    generator = torch.Generator().manual_seed(3)
    model = StackedTransformer(SHAPE, [11], [9])
    model.initialise([0])
    source, previous = words(generator, 3, 7, 11)[None], previous_of(words(generator, 3, 6, 9))[None]
    changed = previous.clone()
    changed[..., 4:] = SPECIAL
    before, after = model(source, previous), model(source, changed)
    assert torch.equal(before[:, :, :4], after[:, :, :4])
    assert not torch.equal(before[:, :, 4:], after[:, :, 4:])


def test_initial_weights_have_the_spread_that_fairseq_gives_them() -> None:
    model = StackedTransformer(Architecture(), [60], [40])
    model.initialise([0])
    weights = model.member(0)
    width, inner = 256, 512
    uniform = math.sqrt(1 / 3)  # sd of a uniform distribution on ±1
    expected = {
        "source_embedding.weight": width**-0.5,
        "output.weight": width**-0.5,
        "encoder.0.attention.query.weight": uniform * math.sqrt(6 / (2 * width)) / math.sqrt(2),
        "decoder.3.cross.key_value.weight": uniform * math.sqrt(6 / (2 * width)) / math.sqrt(2),
        "decoder.3.cross.output.weight": uniform * math.sqrt(6 / (2 * width)),
        "encoder.2.feed_forward.expand.weight": uniform * width**-0.5,
        "encoder.2.feed_forward.contract.weight": uniform * inner**-0.5,
        "encoder.1.attention.key_value.bias": uniform * width**-0.5,
    }
    for name, sd in expected.items():
        assert weights[name].std().item() == pytest.approx(sd, rel=0.1), name
    assert not weights["source_embedding.weight"][PAD].any()
    assert not weights["encoder.0.attention.output.bias"].any()
    assert weights["encoder.0.attention_norm.weight"].eq(1).all()


def test_positions_start_at_two_with_sines_before_cosines() -> None:
    table = sinusoids(4, 6)
    for position in range(4):
        for place in range(3):
            angle = (position + 2) / 10_000 ** (place / 2)
            assert table[position, place].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 3 + place].item() == pytest.approx(math.cos(angle), abs=1e-6)
