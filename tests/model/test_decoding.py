"""Beam search with a cache against a plain search that reads everything anew at each step."""

import pytest
import torch
from torch import Tensor

from inflect.data.symbols import EOS, PAD, SPECIAL, UNKNOWN
from inflect.model.decoding import decode
from inflect.model.settings import Architecture
from inflect.model.transformer import StackedTransformer

SHAPE = Architecture(layers=2, width=16, feed_forward=24, heads=2)


def a_model(source_sizes: list[int], target_sizes: list[int], seeds: list[int]) -> StackedTransformer:
    """A model with sharp opinions: untrained weights alone would make every symbol about as likely."""
    model = StackedTransformer(SHAPE, source_sizes, target_sizes).eval()
    model.initialise(seeds)
    with torch.no_grad():
        model.output.weight.mul_(6)
    return model


def sources(seed: int, rows: int, longest: int, symbols: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(SPECIAL, symbols, (rows, longest), generator=generator)
    for row in range(1, rows):
        length = int(torch.randint(2, longest + 1, (1,), generator=generator))
        ids[row, length - 1], ids[row, length:] = EOS, PAD
    ids[0, -1] = EOS
    return ids


@torch.no_grad()
def plain_search(model: StackedTransformer, source: Tensor, beam: int, longest: int) -> tuple[list[int], float]:
    """The rules of `decode` for one row [S] of a stack of one, without cache, batch or tensors of beams."""
    beams: list[tuple[float, list[int]]] = [(0.0, [])]
    ended: list[tuple[float, list[int]]] = []
    for step in range(longest + 1):
        candidates = []
        for total, written in beams:
            scores = model(source.view(1, 1, -1), torch.tensor([[[EOS, *written]]]))[0, 0, -1]
            log_p = scores.log_softmax(-1)
            for symbol in range(len(log_p)):
                allowed = symbol not in (PAD, UNKNOWN) and (step < longest or symbol == EOS)
                if allowed:
                    candidates.append((total + log_p[symbol].item(), [*written, symbol]))
        candidates.sort(key=lambda candidate: -candidate[0])
        ended += [(t / (step + 1), w) for t, w in candidates[:beam] if w[-1] == EOS]
        if len(ended) >= beam:
            break
        beams = [candidate for candidate in candidates[: 2 * beam] if candidate[1][-1] != EOS][:beam]
    score, written = max(ended, key=lambda hypothesis: hypothesis[0])
    return written, score


@pytest.mark.parametrize("beam", [1, 2, 5])
def test_the_cached_batched_search_finds_what_a_plain_one_finds(beam: int) -> None:
    model = a_model([12], [9], [1])
    source = sources(4, 12, 6, 12)
    found = decode(model, source.unsqueeze(0), beam=beam, longest=12)
    for row in range(len(source)):
        alone = source[row][source[row].ne(PAD)]
        written, score = plain_search(model, alone, beam, 12)
        ids = found.ids[0, row]
        assert ids[ids.ne(PAD)].tolist() == written
        assert found.scores[0, row].item() == pytest.approx(score, abs=1e-4)


def test_a_beam_of_one_is_greedy() -> None:
    model = a_model([12], [9], [2])
    source = sources(5, 8, 6, 12)
    found = decode(model, source.unsqueeze(0), beam=1, longest=15)
    for row, ids in enumerate(found.ids[0]):
        written: list[int] = []
        while not written or (written[-1] != EOS and len(written) < 16):
            previous = torch.tensor([[[EOS, *written]]])
            scores = model(source[row].view(1, 1, -1), previous)[0, 0, -1].clone()
            scores[[PAD, UNKNOWN]] = -torch.inf
            written.append(EOS if len(written) == 15 else int(scores.argmax()))
        assert ids[ids.ne(PAD)].tolist() == written


def test_members_decode_as_they_do_alone() -> None:
    stack = a_model([12, 20, 12], [9, 30, 9], [1, 7, 3])
    source = torch.full((3, 9, 8), PAD)
    source[0, :, :6], source[1], source[2, :4, :6] = (
        sources(1, 9, 6, 12),
        sources(2, 9, 8, 20),
        sources(3, 4, 6, 12),
    )
    found = decode(stack, source, beam=3, longest=12)
    for member, (rows, length, sizes) in enumerate([(9, 6, (12, 9)), (9, 8, (20, 30)), (4, 6, (12, 9))]):
        alone = StackedTransformer(SHAPE, [sizes[0]], [sizes[1]]).eval()
        alone.load_member(0, stack.member(member))
        own = decode(alone, source[member : member + 1, :rows, :length], beam=3, longest=12)
        width = own.ids.shape[2]
        assert torch.equal(found.ids[member, :rows, :width], own.ids[0])
        torch.testing.assert_close(found.scores[member, :rows], own.scores[0], rtol=1e-4, atol=1e-5)


def test_every_hypothesis_ends_with_eos_within_the_limit() -> None:
    model = a_model([12], [9], [0])
    with torch.no_grad():
        model.output.weight[:, :, EOS] = -model.output.weight[:, :, SPECIAL]  # a model that would rather go on
    found = decode(model, sources(0, 6, 6, 12).unsqueeze(0), beam=2, longest=5)
    for ids in found.ids[0]:
        real = ids[ids.ne(PAD)].tolist()
        assert real[-1] == EOS
        assert EOS not in real[:-1]
        assert len(real) <= 6
