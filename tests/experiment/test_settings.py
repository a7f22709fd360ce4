"""Typed settings: every YAML makes what it names, and what cannot be meant is refused by the name of its key."""

import functools
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.errors import ConfigCompositionException
from omegaconf import DictConfig, OmegaConf, open_dict

from inflect.augment.stemcorrupt import StemCorrupt
from inflect.data import splits
from inflect.errors import UserError
from inflect.experiment.settings import Evaluation, Settings, digest, evaluation_of, register, settings_of
from inflect.selection import strategies, uncertainty

CONF = Path(__file__).parents[2] / "conf"
GROUPS = (
    "corruption",
    "experiment",
    "lang",
    "model",
    "optim",
    "split",
    "strategy",
    "trainer",
    "uncertainty",
    "wandb",
)


@pytest.fixture(scope="module", autouse=True)
def conf() -> Iterator[None]:
    register()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield


def composed(*overrides: str) -> DictConfig:
    return compose("train", overrides=list(overrides), return_hydra_config=True)


@functools.cache
def made(*overrides: str) -> Settings:
    config = composed(*overrides)
    strategy = config.hydra.runtime.choices["strategy"]
    with open_dict(config):
        del config["hydra"]
    return settings_of(config, strategy)


def evaluation(*overrides: str) -> Evaluation:
    return evaluation_of(compose("evaluate", overrides=list(overrides)))


def options() -> list[str]:
    """GROUP=NAME for every file; of the 103 languages, which are alike, a few."""
    languages = {"artificial", "own", "tur", "nob"}
    found = [f"{path.parent.name}={path.stem}" for group in GROUPS for path in sorted((CONF / group).glob("*.yaml"))]
    return [option for option in found if not option.startswith("lang=") or option[5:] in languages]


@pytest.mark.parametrize("option", options())
def test_every_file_composes_and_makes_settings(option: str) -> None:
    assert isinstance(made(option), Settings)


def test_the_groups_are_the_folders() -> None:
    assert {path.name for path in CONF.iterdir() if path.is_dir()} == {*GROUPS, "hydra"}


@pytest.mark.parametrize(
    "key",
    [
        *("lang", "strategy", "size", "seed", "experiment", "data.root", "pool.size", "corruption.theta"),
        *("trainer.max_steps", "trainer.val_interval", "test.limit", "test.beam", "store.root", "wandb.mode", "rerun"),
        *("pool.seed", "data.train", "data.dev", "data.test", "data.columns"),
    ],
)
def test_a_key_that_others_rely_on(key: str) -> None:
    assert OmegaConf.select(composed(), key, default="absent") != "absent"


def test_the_defaults_are_the_paper() -> None:
    settings = made("lang=tur")
    assert settings.experiment == "paper"
    assert settings.identity() == made("lang=tur", "experiment=paper").identity()
    assert settings.uncertainty.func is uncertainty.nll
    assert settings.split.func is splits.paper
    assert settings.data.spaces == "keep"
    assert settings.corruption == StemCorrupt(theta=0.5, stem_rule="whole")
    assert (settings.pool.size, settings.pool.procedure, settings.pool.msd) == (10_000, "draws", "verbatim")
    assert settings.strategy.select.keywords == {"alpha": 0.0, "renew": False}
    assert (settings.trainer.max_steps, settings.test.beam, settings.optim.smoothing.over) == (6000, 5, "others")


def test_the_authors_code_is_one_switch_away() -> None:
    settings = made("lang=tur", "experiment=authors_code")
    assert settings.experiment == "authors_code"
    assert settings.uncertainty.func is uncertainty.hypothesis_score
    assert settings.uncertainty.keywords == {"beam": 5}
    assert settings.split.func is splits.authors_code
    assert settings.split.keywords == {"rows": 1000}
    assert settings.data.spaces == "drop"
    assert settings.corruption == StemCorrupt(theta=0.5, stem_rule="inner")
    assert (settings.pool.size, settings.pool.procedure, settings.pool.msd) == (10_000, "passes", "resplit")
    assert settings.optim.smoothing.over == "others"
    assert settings.optim.smoothing.amount == 0.2


@pytest.mark.parametrize(("strategy", "alpha"), [("umt", 0), ("umt_loss", 0), ("emt", 1), ("emt_loss", 1)])
def test_the_authors_templates_renew_their_shares(strategy: str, alpha: float) -> None:
    settings = made(f"strategy={strategy}", "experiment=authors_code")
    assert settings.strategy.select.keywords == {"alpha": alpha, "renew": True}


@pytest.mark.parametrize(
    ("override", "restored"),
    [
        ("uncertainty=nll", lambda settings: settings.uncertainty.func is uncertainty.nll),
        ("split=paper", lambda settings: settings.split.func is splits.paper),
        ("data.spaces=keep", lambda settings: settings.data.spaces == "keep"),
        ("corruption.stem_rule=whole", lambda settings: settings.corruption.stem_rule == "whole"),
        ("pool.procedure=draws", lambda settings: settings.pool.procedure == "draws"),
        ("pool.msd=verbatim", lambda settings: settings.pool.msd == "verbatim"),
        ("renew_shares=false", lambda settings: not settings.strategy.select.keywords["renew"]),
        ("optim.smoothing.over=all", lambda settings: settings.optim.smoothing.over == "all"),
    ],
)
def test_each_switch_of_the_authors_code_is_a_key_of_its_own(override: str, restored: Any) -> None:
    assert restored(made("experiment=authors_code", override))


def test_the_model_is_that_of_the_authors_script() -> None:
    model, optim = made().model, made().optim
    assert (model.layers, model.width, model.feed_forward, model.heads) == (4, 256, 512, 4)
    assert (model.dropout, model.attention_dropout) == (0.3, 0.1)
    assert (optim.beta1, optim.beta2, optim.eps, optim.batch) == (0.9, 0.999, 1e-8, 16)
    assert optim.rate(0) == pytest.approx(1e-7)
    assert optim.rate(4000) == pytest.approx(1e-3)
    assert optim.rate(6000) == pytest.approx(8.165e-4, rel=1e-4)


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("size=0", "size=0"),
        ("size=10001", "size=10001"),
        ("seed=-1", "seed=-1"),
        ("trainer.max_steps=0", "trainer.max_steps=0"),
        ("trainer.val_interval=0", "trainer.val_interval=0"),
        ("trainer.precision=fp64", "trainer.precision=fp64"),
        ("test.beam=0", "test.beam=0"),
        ("test.limit=0", "test.limit=0"),
        ("stack.members=-1", "stack.members=-1"),
        ("stack.processes=-1", "stack.processes=-1"),
        ("stack.threads=-1", "stack.threads=-1"),
        ("model.layers=0", "model.layers=0"),
        ("model.heads=3", "model.heads=3"),
        ("model.heads=0", "model.heads=0"),
        ("model.dropout=1", "model.dropout=1"),
        ("model.attention_dropout=-0.1", "model.attention_dropout=-0.1"),
        ("optim.batch=0", "optim.batch=0"),
        ("optim.warmup=-1", "optim.warmup=-1"),
        ("optim.smoothing.amount=1", "optim.smoothing.amount=1"),
        ("optim.smoothing.over=some", "optim.smoothing.over=some"),
        ("pool.size=0", "pool.size=0"),
        ("pool.seed=-1", "pool.seed=-1"),
        ("pool.procedure=dice", "pool.procedure=dice"),
        ("pool.msd=none", "pool.msd=none"),
        ("corruption.theta=1.5", "corruption.theta=1.5"),
        ("corruption.theta=-0.1", "corruption.theta=-0.1"),
        ("corruption.stem_rule=outer", "corruption.stem_rule=outer"),
        ("corruption.min_stem=0", "corruption.min_stem=0"),
        ("data.columns='lemma form'", "data.columns="),
        ("data.spaces=trim", "data.spaces=trim"),
        ("lang.cases=0", "lang.cases=0"),
        ("lang.gold_rows=0", "lang.gold_rows=0"),
        ("lang.harmony=perhaps", "lang.harmony=perhaps"),
        ("wandb.mode=sometimes", "wandb.mode=sometimes"),
        ("wandb.table_rows=-1", "wandb.table_rows=-1"),
    ],
)
def test_a_value_that_cannot_be_meant_is_refused_by_its_key(override: str, key: str) -> None:
    with pytest.raises(UserError) as caught:
        made(override)
    message = str(caught.value)
    assert message.startswith(key)
    assert "\n" not in message


@pytest.mark.parametrize(
    ("overrides", "key"),
    [
        (["checkpoint=model.pt"], "input"),
        (["input=words.tsv", "output=forms.tsv"], "checkpoint"),
        (["columns='lemma form'"], "columns="),
        (["beam=0"], "beam=0"),
        (["precision=fp8"], "precision=fp8"),
    ],
)
def test_evaluation_refuses_likewise(overrides: list[str], key: str) -> None:
    with pytest.raises(UserError, match=key):
        evaluation(*overrides)


@pytest.mark.parametrize("override", ["size=many", "trainer.steps=3", "rerun=perhaps", "model.layers=1.5"])
def test_a_key_that_does_not_exist_or_another_type_is_refused_when_composed(override: str) -> None:
    with pytest.raises(ConfigCompositionException):
        composed(override)


def test_no_strategy_selects_nothing_whatever_the_size() -> None:
    assert made("strategy=none", "size=99999").identity() == made("strategy=none", "size=0").identity()


@pytest.mark.parametrize("strategy", ["random", "umt", "emt", "high_loss", "low_loss", "umt_loss", "emt_loss"])
def test_a_base_model_is_the_run_without_selection(strategy: str) -> None:
    base = made(f"strategy={strategy}", "size=7", "seed=3").base()
    assert base.identity() == made("strategy=none", "seed=3").identity()


@pytest.mark.parametrize("name", ["none", "random", "umt", "emt", "high_loss", "low_loss", "umt_loss", "emt_loss"])
def test_a_strategy_says_whether_it_needs_a_base_model(name: str) -> None:
    assert made(f"strategy={name}").strategy.needs_uncertainty == name.endswith("_loss")


def test_a_strategy_of_ones_own_is_a_function() -> None:
    settings = made("strategy._target_=inflect.selection.strategies.random", "strategy=none")
    assert settings.strategy.select.func is strategies.random


@pytest.mark.parametrize(
    "override",
    [
        "store.root=elsewhere",
        "wandb.mode=disabled",
        "wandb.project=other",
        "stack.members=3",
        "stack.processes=1",
        "stack.threads=1",
        "rerun=true",
        "data.root=elsewhere",
        "data.train=elsewhere.tsv",
        "data.columns='lemma msd form'",
    ],
)
def test_identity_is_blind_to_where_things_lie(override: str) -> None:
    assert made(override).identity() == made().identity()


@pytest.mark.parametrize(
    "override",
    [
        "lang=tur",
        "lang.seed=1",
        "lang.irregular=0.5",
        "strategy=umt",
        "strategy.alpha=0.5",
        "corruption.theta=0.4",
        "corruption.stem_rule=inner",
        "corruption.min_stem=4",
        "uncertainty=hypothesis_score",
        "split=as_given",
        "size=511",
        "seed=1",
        "experiment=authors_code",
        "renew_shares=true",
        "data.spaces=drop",
        "pool.size=9999",
        "pool.seed=1",
        "pool.procedure=passes",
        "pool.msd=resplit",
        "model.layers=3",
        "model.dropout=0.2",
        "optim.lr=0.002",
        "optim.smoothing.amount=0.1",
        "optim.batch=8",
        "trainer.max_steps=5999",
        "trainer.val_interval=121",
        "trainer.precision=fp32",
        "test.limit=10",
        "test.beam=4",
    ],
)
def test_identity_sees_what_numbers_follow_from(override: str) -> None:
    assert digest(made(override).identity()) != digest(made().identity())


def test_a_digest_does_not_depend_on_the_order_of_keys() -> None:
    content = {"a": 1, "b": {"c": [1, 2], "d": "ı"}, "e": None}
    turned = {"e": None, "b": {"d": "ı", "c": [1, 2]}, "a": 1}
    assert digest(content) == digest(turned)
    assert digest(content) != digest({**content, "b": {"c": [2, 1], "d": "ı"}})


def test_the_order_of_overrides_does_not_matter() -> None:
    overrides = ["lang=tur", "size=9", "pool.size=99", "test.beam=2", "model=small", "trainer=quick"]
    shuffled = random.Random(0).sample(overrides, len(overrides))
    assert digest(made(*overrides).identity()) == digest(made(*shuffled).identity())


def test_a_name_says_language_strategy_size_and_seed() -> None:
    settings = made("lang=turkish", "strategy=emt", "size=8", "seed=2")
    assert settings.name == "tur-emt-8-s2"
    assert replace(settings, seed=3).name == "tur-emt-8-s3"


def test_a_width_must_be_even() -> None:
    with pytest.raises(UserError, match=r"^model\.width=5: "):
        made("model.width=5", "model.heads=1")
