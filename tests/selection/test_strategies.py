import functools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf
from scipy.stats import chisquare

from inflect.augment.pool import PoolSettings, make_pool
from inflect.augment.stemcorrupt import StemCorrupt
from inflect.data.triples import read_triples
from inflect.errors import UserError
from inflect.selection.describe import compare
from inflect.selection.strategies import high_loss, low_loss, none, random, template, template_loss

ROOT = Path(__file__).parents[2]
STRATEGIES = {
    "random": random,
    "high_loss": high_loss,
    "low_loss": low_loss,
    "umt": functools.partial(template, alpha=0.0),
    "emt": functools.partial(template, alpha=1.0),
    "emt_renew": functools.partial(template, alpha=1.0, renew=True),
    "umt_loss": functools.partial(template_loss, alpha=0.0),
    "emt_loss": functools.partial(template_loss, alpha=1.0),
}
LOSS = ("high_loss", "low_loss", "umt_loss", "emt_loss")


def a_pool(rows: int, shares: dict[str, float], seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    generator = np.random.default_rng(seed)
    msds = generator.choice(list(shares), size=rows, p=list(shares.values()))
    pool = pd.DataFrame({"lemma": "abc", "form": "abcd", "msd": msds, "parent": 0, "stem_length": 3, "edits": 1})
    return pool.rename_axis("row"), generator.normal(size=rows)


SHARES = {"N;SG": 0.6, "N;PL": 0.25, "V;PST": 0.1, "V;PRS": 0.05}


def choose(name: str, pool: pd.DataFrame, size: int, uncertainty: np.ndarray, seed: int = 1) -> np.ndarray:
    arguments = {"uncertainty": uncertainty} if name in LOSS else {}
    return STRATEGIES[name](pool, size, np.random.default_rng(seed), **arguments)


@pytest.mark.parametrize("name", STRATEGIES)
class TestEveryStrategy:
    def test_selects_distinct_rows_of_the_pool(self, name: str) -> None:
        pool, uncertainty = a_pool(300, SHARES)
        pool.index = pool.index * 7 + 3  # ids need not be positions
        rows = choose(name, pool, 120, uncertainty)
        assert len(rows) == len(set(rows.tolist())) == 120
        assert set(rows) <= set(pool.index)

    def test_takes_the_whole_pool_if_asked(self, name: str) -> None:
        pool, uncertainty = a_pool(60, SHARES)
        assert sorted(choose(name, pool, 60, uncertainty)) == list(range(60))

    def test_depends_on_the_generator_alone(self, name: str) -> None:
        pool, uncertainty = a_pool(200, SHARES)
        before = pool.copy(), uncertainty.copy()
        first, second = choose(name, pool, 50, uncertainty), choose(name, pool, 50, uncertainty)
        assert first.tolist() == second.tolist()
        pd.testing.assert_frame_equal(pool, before[0])
        assert (uncertainty == before[1]).all()
        other = choose(name, pool, 50, uncertainty, seed=2)
        assert (first.tolist() == other.tolist()) == (name in ("high_loss", "low_loss"))

    def test_refuses_a_size_that_the_pool_does_not_have(self, name: str) -> None:
        pool, uncertainty = a_pool(20, SHARES)
        for size in (0, -1, 21):
            with pytest.raises(UserError, match=f"^size={size}:.*pool.size"):
                choose(name, pool, size, uncertainty)


@pytest.mark.parametrize("name", LOSS)
class TestEveryStrategyByLoss:
    def test_names_an_item_without_an_uncertainty(self, name: str) -> None:
        pool, uncertainty = a_pool(20, SHARES)
        uncertainty[13] = np.nan
        with pytest.raises(UserError, match="row 13"):
            choose(name, pool, 5, uncertainty)

    def test_breaks_ties_by_row_id(self, name: str) -> None:
        pool, _ = a_pool(100, {"N": 1.0})
        assert choose(name, pool, 40, np.zeros(100)).tolist() == list(range(40))

    def test_does_not_depend_on_the_order_of_the_pool(self, name: str) -> None:
        pool, uncertainty = a_pool(200, SHARES)
        order = np.random.default_rng(5).permutation(200)
        shuffled = choose(name, pool.iloc[order], 60, uncertainty[order])
        assert shuffled.tolist() == choose(name, pool, 60, uncertainty).tolist()


def test_none_selects_nothing() -> None:
    assert len(none(a_pool(5, SHARES)[0], 0, np.random.default_rng(0))) == 0


def test_high_and_low_loss_are_the_two_ends_of_a_sort() -> None:
    pool, uncertainty = a_pool(500, SHARES)
    ranked = sorted(range(500), key=lambda row: -uncertainty[row])
    assert choose("high_loss", pool, 100, uncertainty).tolist() == ranked[:100]
    assert choose("low_loss", pool, 100, uncertainty).tolist() == ranked[::-1][:100]


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_msds_come_with_q_proportional_to_p_to_the_alpha(alpha: float) -> None:
    pool, uncertainty = a_pool(20_000, SHARES)
    p = pool["msd"].value_counts(normalize=True)
    q = p**alpha / (p**alpha).sum()
    for strategy, arguments in ((template, {}), (template_loss, {"uncertainty": uncertainty})):
        rows = strategy(pool, 800, np.random.default_rng(3), alpha=alpha, **arguments)  # no MSD runs out
        counts = pool["msd"].loc[rows].value_counts().reindex(q.index)
        assert chisquare(counts, 800 * q).pvalue > 0.001


def test_within_an_msd_the_most_uncertain_rows_are_taken() -> None:
    pool, uncertainty = a_pool(1000, SHARES)
    for name in ("umt_loss", "emt_loss"):
        rows = choose(name, pool, 200, uncertainty)
        for msd, taken in pool.loc[rows].groupby("msd"):
            own = pool.index[pool["msd"] == msd]
            best = sorted(own, key=lambda row: -uncertainty[row])[: len(taken)]
            assert [row for row in rows if pool["msd"][row] == msd] == best


def test_an_msd_that_runs_out_leaves_the_others(caplog: pytest.LogCaptureFixture) -> None:
    pool, uncertainty = a_pool(1000, {"N": 0.99, "V": 0.01})
    few = int((pool["msd"] == "V").sum())
    with caplog.at_level("INFO"):
        rows = choose("umt_loss", pool, 300, uncertainty)
    assert Counter(pool["msd"].loc[rows]) == {"V": few, "N": 300 - few}
    assert "1 of 2 MSDs ran out" in caplog.text


@pytest.mark.parametrize("alpha", [float("nan"), float("inf"), 400.0, -400.0])
def test_an_alpha_that_gives_no_distribution_is_refused(alpha: float) -> None:
    pool, uncertainty = a_pool(1000, SHARES)
    for strategy, arguments in ((template, {}), (template_loss, {"uncertainty": uncertainty})):
        with pytest.raises(UserError, match=r"^strategy\.alpha="):
            strategy(pool, 10, np.random.default_rng(0), alpha=alpha, **arguments)


def test_with_renewed_shares_emt_is_a_uniform_draw_of_rows() -> None:
    shares = {"A": 0.5, "B": 0.5}
    taken = {False: [], True: []}
    for seed in range(300):
        pool, _ = a_pool(40, shares, seed=0)
        for renew in (False, True):
            rows = template(pool, 30, np.random.default_rng(seed), alpha=1.0, renew=renew)
            taken[renew].append((pool["msd"].loc[rows] == "A").sum())
    size, own = 40, int((a_pool(40, shares, seed=0)[0]["msd"] == "A").sum())
    hypergeometric = 30 * own / size * (1 - own / size) * (size - 30) / (size - 1)
    assert np.var(taken[True]) == pytest.approx(hypergeometric, rel=0.3)
    assert np.var(taken[False]) > 1.5 * hypergeometric


def test_a_pool_of_a_million_rows_works() -> None:
    pool, uncertainty = a_pool(1_000_000, SHARES)
    assert len(set(choose("umt_loss", pool, 2048, uncertainty).tolist())) == 2048


def test_the_comparison_of_subset_and_pool_is_right() -> None:
    pool, uncertainty = a_pool(8, {"A": 0.5, "B": 0.5}, seed=3)
    pool["msd"] = ["A", "A", "A", "A", "B", "B", "B", "B"]
    figures = compare(pool, np.array([0, 1, 4, 5]), uncertainty)
    assert figures.loc["MSDs"].tolist() == [2, 2]
    assert figures.loc["entropy of MSDs (bits)"].tolist() == pytest.approx([1, 1])
    assert figures.loc["share of the most frequent MSD", "subset"] == 0.5
    expected = [uncertainty.mean(), uncertainty[[0, 1, 4, 5]].mean()]
    assert figures.loc["uncertainty, mean"].tolist() == pytest.approx(expected)
    alone = compare(pool.assign(edits=range(8), form="abcde"), np.array([6]), None)
    assert "uncertainty, mean" not in alone.index
    assert alone.loc["edits of the form, mean"].tolist() == [3.5, 6]
    assert alone.loc["form length, mean"].tolist() == [5, 5]
    assert str(alone.loc["entropy of MSDs (bits)", "subset"]) == "0.0"  # not -0.0


@pytest.mark.parametrize(
    ("name", "function", "arguments"),
    [
        ("none", none, {}),
        ("random", random, {}),
        ("high_loss", high_loss, {}),
        ("low_loss", low_loss, {}),
        ("umt", template, {"alpha": 0.0, "renew": False}),
        ("emt", template, {"alpha": 1.0, "renew": False}),
        ("umt_loss", template_loss, {"alpha": 0.0, "renew": False}),
        ("emt_loss", template_loss, {"alpha": 1.0, "renew": False}),
    ],
)
def test_each_name_is_a_file_that_says_what_it_does(name: str, function: object, arguments: dict[str, object]) -> None:
    path = ROOT / "conf" / "strategy" / f"{name}.yaml"
    assert path.read_text(encoding="utf-8").startswith("# ")
    config = OmegaConf.create({"renew_shares": False, "strategy": OmegaConf.load(path)})
    strategy = instantiate(config.strategy)
    assert (strategy.func, strategy.keywords) == (function, arguments)


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("ara", "arabic"),
        ("ben", "bengali"),
        ("fin", "finnish"),
        ("kat", "georgian"),
        ("nav", "navajo"),
        ("spa", "spanish"),
        ("tur", "turkish"),
    ],
)
def test_the_most_frequent_msd_is_as_frequent_as_in_the_papers_figure_6(
    conll2018: Path, reference: Path, code: str, language: str
) -> None:
    """How often it is among 2,048 rows depends on the pool and on how MSDs are drawn, but on no model."""
    facts = json.loads((reference / "facts.json").read_text(encoding="utf-8"))
    _, by_template, at_random = facts["figure6_top_msd_count_in_2048_high_loss__umt_loss__random"][code]
    gold = read_triples(conll2018 / "task1" / "all" / f"{language}-train-low")
    pool = make_pool(gold, StemCorrupt(), PoolSettings())
    for name, published in (("umt_loss", by_template), ("random", at_random)):
        tops = [
            pool["msd"].loc[choose(name, pool, 2048, np.zeros(len(pool)), seed)].value_counts().max()
            for seed in range(10)
        ]
        assert np.mean(tops) == pytest.approx(published, rel=0.2)  # the paper shows one number, seeds vary by a tenth


def test_the_strategy_of_the_docs() -> None:
    page = (ROOT / "docs" / "selection.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    pool, uncertainty = a_pool(300, SHARES)
    rows = namespace["middle_loss"](pool, 30, np.random.default_rng(0), uncertainty, skip=0.1)
    assert rows.tolist() == sorted(range(300), key=lambda row: -uncertainty[row])[30:60]
    with pytest.raises(UserError, match="size=290"):
        namespace["middle_loss"](pool, 290, np.random.default_rng(0), uncertainty, skip=0.1)
