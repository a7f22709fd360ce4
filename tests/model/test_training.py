"""Training: members are independent, the schedule steps per update, and toy languages are learnt."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import pytest
import pytorch_lightning as pl
import torch

from inflect.data.batches import Batch, batch_order, encode, length_sorted
from inflect.data.datamodule import MemberData, StackData
from inflect.data.symbols import Symbols
from inflect.model.decoding import decode_tables
from inflect.model.lightning import Inflection
from inflect.model.settings import Architecture, OptimSettings

SHAPE = Architecture(layers=2, width=32, feed_forward=48, heads=4, dropout=0.3, attention_dropout=0.1)


def a_language(seed: int, rows: int, letters: str, rule: str) -> pd.DataFrame:
    """Lemmas of two to eight letters, inflected by a toy rule: copy, reverse, or suffix by MSD."""
    generator = torch.Generator().manual_seed(seed)
    triples = []
    for _ in range(rows):
        length = int(torch.randint(2, 9, (1,), generator=generator))
        lemma = "".join(letters[i] for i in torch.randint(0, len(letters), (length,), generator=generator).tolist())
        msd = ("N;SG", "N;PL")[int(torch.randint(0, 2, (1,), generator=generator))]
        form = {"copy": lemma, "reverse": lemma[::-1], "suffix": lemma + ("", "ler")["PL" in msd]}[rule]
        triples.append((lemma, form, msd))
    return pd.DataFrame(triples, columns=["lemma", "form", "msd"])


def train(
    members: Sequence[MemberData],
    updates: int,
    optim: OptimSettings,
    shape: Architecture = SHAPE,
    every: int = 10,
) -> tuple[Inflection, torch.Tensor]:
    """The trained module and its training losses [updates, M]."""
    data = StackData(members, optim.batch, updates)
    sizes = [m.symbols.source_size for m in members], [m.symbols.target_size for m in members]
    module = Inflection(shape, *sizes, [m.seed for m in members], optim)
    trainer = pl.Trainer(
        max_steps=updates,
        val_check_interval=every,
        check_val_every_n_epoch=None,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    )
    trainer.fit(module, data)
    return module, torch.stack(module.losses)


def member(seed: int, rows: int, letters: str, rule: str = "suffix") -> MemberData:
    table = a_language(seed, rows, letters, rule)
    return MemberData(table, a_language(seed + 100, 20, letters, rule), Symbols.of(table), seed)


def test_a_member_in_a_stack_of_three_trains_as_it_does_alone() -> None:
    optim = OptimSettings(warmup=20)
    others = member(1, 50, "abcdefghijklmnop"), member(2, 333, "xyzw")
    own = member(7, 130, "abcdefg")
    alone, expected = train([own], 50, optim)
    stack, found = train([others[0], own, others[1]], 50, optim)
    torch.testing.assert_close(found[:, 1], expected[:, 0], rtol=1e-4, atol=0)
    for ours, theirs in zip(stack.history[1], alone.history[0], strict=True):
        assert ours.loss == pytest.approx(theirs.loss, rel=1e-4)
        assert ours.update == theirs.update


def test_runs_of_one_seed_are_equal_and_of_two_seeds_differ() -> None:
    first, second, third = (
        train([replace(member(1, 60, "abcd"), seed=seed)], 12, OptimSettings())[1] for seed in (5, 5, 6)
    )
    assert torch.equal(first, second)
    assert not torch.equal(first, third)


def test_training_and_selection_leave_the_global_random_state_alone() -> None:
    before = torch.random.get_rng_state()
    train([member(1, 40, "abcd")], 3, OptimSettings())
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("rows", [5, 40, 100])
def test_the_schedule_steps_per_update_whatever_the_length_of_an_epoch(rows: int) -> None:
    optim = OptimSettings(warmup=8)
    module, _ = train([member(1, rows, "abcd")], 20, optim)
    rate = module.trainer.optimizers[0].param_groups[0]["lr"]
    assert rate == pytest.approx(1e-3 * (8 / 20) ** 0.5)


def test_the_schedule_is_that_of_the_authors() -> None:
    rate = OptimSettings().rate
    assert rate(0) == 1e-7
    assert rate(2000) == pytest.approx((1e-7 + 1e-3) / 2)
    assert rate(4000) == pytest.approx(1e-3)
    assert rate(6000) == pytest.approx(8.165e-4, rel=1e-4)


@pytest.mark.parametrize("rule", ["copy", "suffix"])
def test_a_toy_language_is_learnt(rule: str) -> None:
    optim = OptimSettings(warmup=100, lr=3e-3)
    shape = replace(SHAPE, dropout=0.0, attention_dropout=0.0)
    own = MemberData(
        a_language(1, 600, "abcd", rule),
        a_language(2, 60, "abcd", rule),
        Symbols(tuple("abcd"), ("N", "PL", "SG"), tuple("abcdelr")),
        0,
    )
    module, _ = train([own], 700, optim, shape, every=100)
    assert module.history[0][-1].accuracy > 0.8
    (found,) = decode_tables(module.model.eval(), [encode(own.dev, own.symbols)], beam=1, what="test")
    right = sum(own.symbols.spell(ids) == form for (ids, _), form in zip(found, own.dev["form"], strict=True))
    assert right / len(own.dev) == pytest.approx(module.history[0][-1].accuracy)


def test_the_dev_accuracy_of_teacher_forcing_is_that_of_greedy_decoding() -> None:
    own = member(3, 300, "abcd")
    shape = replace(SHAPE, dropout=0.0, attention_dropout=0.0)
    module, _ = train([own], 150, OptimSettings(warmup=30, lr=3e-3), shape, every=150)
    (found,) = decode_tables(module.model.eval(), [encode(own.dev, own.symbols)], beam=1, what="test")
    right = sum(own.symbols.spell(ids) == form for (ids, _), form in zip(found, own.dev["form"], strict=True))
    assert 0 < right < len(own.dev)
    assert module.history[0][-1].accuracy == pytest.approx(right / len(own.dev))


def test_batches_hold_every_row_once_an_epoch_sorted_by_length() -> None:
    table = a_language(1, 53, "abcdef", "suffix")
    data = encode(table, Symbols.of(table))
    batches = length_sorted(data, 16)
    assert sorted(torch.cat(batches).tolist()) == list(range(53))
    lengths = data.source_lengths[torch.cat(batches)]
    assert lengths.equal(lengths.sort().values)
    assert [len(batch) for batch in length_sorted(data, 16, multiple=5)] == [16, 16, 16, 5]
    assert [len(batch) for batch in length_sorted(data, 16, multiple=8)] == [16, 16, 16]
    assert [len(batch) for batch in length_sorted(data, 64, multiple=8)] == [53]
    orders = [batch_order(4, epoch, len(batches)) for epoch in range(6)]
    assert all(sorted(order) == list(range(len(batches))) for order in orders)
    assert len({tuple(order) for order in orders}) > 1


def test_a_batch_has_each_members_own_rows() -> None:
    members = [member(1, 20, "abcd"), member(2, 50, "abcdefgh")]
    data = StackData(members, 16, 8)
    seen: list[set[int]] = [set(), set()]
    for update, batch in enumerate(data.train_dataloader()):
        assert isinstance(batch, Batch)
        assert batch.update == update
        for index in range(2):
            rows = batch.rows[index][batch.rows[index] >= 0]
            count, length, _ = batch.sizes[index]
            assert len(rows) == count
            own = data.train[index].source[rows]
            assert torch.equal(batch.source[index, :count, :length], own[:, :length])
            assert not own[:, length:].any()
            if update < 2:
                seen[0] |= set(rows.tolist()) if index == 0 else set()
    assert seen[0] == set(range(20))  # two batches are an epoch of member 0
