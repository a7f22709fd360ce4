import math

import numpy as np
import pytest
import torch

from inflect.data.symbols import EOS, Symbols
from inflect.data.triples import triples_table
from inflect.model.checkpoint import Checkpoint, stack_of
from inflect.model.settings import Architecture
from inflect.model.transformer import StackedTransformer
from inflect.selection.uncertainty import hypothesis_score, nll

POOL = triples_table(
    [("abc", "abcs", "N;PL"), ("c", "c", "N;SG"), ("bbbbb", "bbbbbs", "N;PL"), ("zab", "zabs", "N;PL")]
)


@pytest.fixture(scope="module")
def base() -> Checkpoint:
    symbols = Symbols.of(triples_table([("abc", "abcs", "N;PL"), ("a", "a", "N;SG")]))
    shape = Architecture(layers=1, width=16, feed_forward=16, heads=2)
    model = StackedTransformer(shape, [symbols.source_size], [symbols.target_size])
    model.initialise([1])
    return Checkpoint(model.member(0), symbols, shape, {})


def test_nll_is_the_mean_over_target_symbols_eos_included_in_nats(base: Checkpoint) -> None:
    found = nll(base, POOL, torch.float32)
    model = stack_of([base], torch.float32)
    for row, (lemma, form, msd) in enumerate(POOL.itertuples(index=False)):
        source = torch.tensor([[base.symbols.source(lemma, msd)]])
        target = base.symbols.target(form)
        total = 0.0
        for place, symbol in enumerate(target):
            with torch.no_grad():
                scores = model(source, torch.tensor([[[EOS, *target[:place]]]]))[0, 0, -1]
            total -= scores.log_softmax(-1)[symbol].item()
        assert found[row] == pytest.approx(total / len(target), rel=1e-4)


def test_each_item_keeps_its_score_whatever_the_order_of_the_pool(base: Checkpoint) -> None:
    order = [2, 0, 3, 1]
    np.testing.assert_allclose(
        nll(base, POOL.iloc[order], torch.float32), nll(base, POOL, torch.float32)[order], rtol=1e-5
    )


def test_the_authors_score_ignores_the_given_form(base: Checkpoint) -> None:
    first = hypothesis_score(base, POOL, torch.float32)
    second = hypothesis_score(base, POOL.assign(form="ab"), torch.float32)
    np.testing.assert_allclose(first, second)
    assert (first > 0).all()
    # a hypothesis is the best that the beam found: a sure model would have 0, a clueless one log2 of its symbols
    assert (first < math.log2(base.symbols.target_size) + 1).all()
