"""The typed settings of one run, and the checks that are made before anything runs.

`Settings` is the schema under the YAML in `conf/`: Hydra refuses a key that it lacks and a value of another
type. Groups that name code (lang, strategy, corruption, uncertainty, split) hold a `_target_`; everything else
is plain values. `settings_of` is the only place where a config becomes objects.
"""

import functools
import hashlib
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import MISSING, DictConfig, OmegaConf

from inflect.augment.pool import PoolSettings
from inflect.data.settings import DataSettings
from inflect.data.sigmorphon import register_names
from inflect.errors import UserError
from inflect.experiment.tracking import WandbSettings
from inflect.model.settings import Architecture, OptimSettings
from inflect.selection.strategies import none

PRECISIONS = ("auto", "fp32", "bf16")


@dataclass(frozen=True)
class TrainerSettings:
    """`val_interval` is counted in updates. `precision`: fp32, bf16, or auto (bf16 where the hardware has it)."""

    max_steps: int = 6000
    val_interval: int = 120
    precision: str = "auto"


@dataclass(frozen=True)
class TestSettings:
    """`limit`: test on a sample of that many rows (the same for every run); none means all of them."""

    limit: int | None = None
    beam: int = 5


@dataclass(frozen=True)
class StoreSettings:
    """Where artifacts lie."""

    root: str = "artifacts"


@dataclass(frozen=True)
class StackSettings:
    """`members`: how many runs train together at the most. `processes`: how many such stacks run side by side,
    with how many `threads` each. 0 means what suits the machine.
    """

    members: int = 0
    processes: int = 0
    threads: int = 0


@dataclass(frozen=True)
class Strategy:
    """A selection strategy under the name that the user chose it by."""

    name: str
    select: Callable[..., Any]

    @property
    def needs_uncertainty(self) -> bool:
        """A function with a parameter `uncertainty` gets it, and needs a base model first."""
        return "uncertainty" in inspect.signature(self.select).parameters


@dataclass(frozen=True)
class Settings:
    """One run. `lang`, `strategy`, `corruption`, `uncertainty` and `split` are objects made from their groups."""

    lang: Any = MISSING
    strategy: Any = MISSING
    corruption: Any = MISSING
    uncertainty: Any = MISSING
    split: Any = MISSING
    size: int = 512
    seed: int = 0
    experiment: str = "paper"
    renew_shares: bool = False
    data: DataSettings = field(default_factory=DataSettings)
    pool: PoolSettings = field(default_factory=PoolSettings)
    model: Architecture = field(default_factory=Architecture)
    optim: OptimSettings = field(default_factory=OptimSettings)
    trainer: TrainerSettings = field(default_factory=TrainerSettings)
    test: TestSettings = field(default_factory=TestSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    wandb: WandbSettings = field(default_factory=WandbSettings)
    stack: StackSettings = field(default_factory=StackSettings)
    rerun: bool = False
    output: str = ""  # of select.py: where the TSV goes

    @property
    def name(self) -> str:
        """A name that a person can read: language, strategy, size, seed."""
        return f"{self.lang.code}-{self.strategy.name}-{self.size}-s{self.seed}"

    def base(self) -> "Settings":
        """The run on gold alone whose model scores this run's pool; it is also the strategy `none`."""
        return replace(self, strategy=Strategy("none", functools.partial(none)), size=0, rerun=False)

    def identity(self) -> dict[str, Any]:
        """What determines the run's numbers, as plain data: all but where things lie and what is logged."""
        elsewhere = {"store", "wandb", "stack", "rerun", "output"}
        content = {f.name: describe(getattr(self, f.name)) for f in fields(self) if f.name not in elsewhere}
        content["data"] = {"spaces": self.data.spaces}  # files count by what they hold, not by where they lie
        return content


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate.py` does: the table of a store or, with a checkpoint, the inflection of a file."""

    store: StoreSettings = field(default_factory=StoreSettings)
    checkpoint: str = ""
    input: str = ""
    output: str = ""
    columns: str = "lemma msd"
    beam: int = 5
    precision: str = "auto"


def register() -> None:
    """Give Hydra the schemas `settings` and `evaluation`, and the languages' names beside their codes.

    OmegaConf makes a frozen dataclass read-only, which would refuse every override.
    """
    for name, schema in (("settings", Settings), ("evaluation", Evaluation)):
        node = OmegaConf.structured(schema)
        _make_writable(node)
        ConfigStore.instance().store(name=name, node=node)
    register_names()


def _make_writable(node: DictConfig) -> None:
    OmegaConf.set_readonly(node, None)
    for key in node:
        if not OmegaConf.is_missing(node, key) and isinstance(child := node[key], DictConfig):
            _make_writable(child)


def settings_of(config: DictConfig, strategy_name: str) -> Settings:
    """The settings that a composed config stands for, checked."""
    try:
        settings: Settings = instantiate(config, _convert_="object")
    except InstantiationException as error:
        raise error.__cause__ if isinstance(error.__cause__, UserError) else error from None
    settings = replace(settings, strategy=Strategy(strategy_name, settings.strategy))
    if strategy_name == "none":
        settings = replace(settings, size=0)
    check(settings)
    return settings


def evaluation_of(config: DictConfig) -> Evaluation:
    """The settings of `evaluate.py`, checked."""
    settings: Evaluation = instantiate(config, _convert_="object")
    three = {"checkpoint": settings.checkpoint, "input": settings.input, "output": settings.output}
    if any(three.values()) and (missing := [name for name, value in three.items() if not value]):
        keys = " ".join(f"{name}=…" for name in missing)
        raise UserError(f"{keys}: missing; to inflect a file give checkpoint=…, input=… and output=…")
    if not {"lemma", "msd"} <= set(settings.columns.split()) <= {"lemma", "form", "msd"}:
        raise UserError(f"columns={settings.columns!r}: must be lemma and msd, and form if the file has it")
    if settings.beam < 1:
        raise UserError(f"beam={settings.beam}: must be 1 or more")
    if settings.precision not in PRECISIONS:
        raise UserError(f"precision={settings.precision}: must be {' or '.join(PRECISIONS)}")
    return settings


def check(settings: Settings) -> None:
    """Refuse values that have the right type and cannot be meant; objects from `_target_`s check themselves."""
    model, optim, trainer, test = settings.model, settings.optim, settings.trainer, settings.test
    largest = settings.pool.size
    rules: list[tuple[str, Any, bool, str]] = [
        ("seed", settings.seed, settings.seed >= 0, "0 or more"),
        ("size", settings.size, settings.strategy.name == "none" or settings.size >= 1, "1 or more"),
        ("size", settings.size, settings.size <= largest, f"at most pool.size, which is {largest}"),
        ("trainer.max_steps", trainer.max_steps, trainer.max_steps >= 1, "1 or more"),
        ("trainer.val_interval", trainer.val_interval, trainer.val_interval >= 1, "1 or more updates"),
        ("trainer.precision", trainer.precision, trainer.precision in PRECISIONS, " or ".join(PRECISIONS)),
        ("test.beam", test.beam, test.beam >= 1, "1 or more"),
        ("test.limit", test.limit, test.limit is None or test.limit >= 1, "null or 1 or more rows"),
        ("stack.members", settings.stack.members, settings.stack.members >= 0, "0 (automatic) or more"),
        ("stack.processes", settings.stack.processes, settings.stack.processes >= 0, "0 (automatic) or more"),
        ("stack.threads", settings.stack.threads, settings.stack.threads >= 0, "0 (automatic) or more"),
        ("model.layers", model.layers, model.layers >= 1, "1 or more"),
        (
            "model.heads",
            model.heads,
            model.heads >= 1 and model.width % model.heads == 0,
            "a divisor of model.width",
        ),
        ("model.width", model.width, model.width >= 4 and model.width % 2 == 0, "an even number, 4 or more"),
        ("model.dropout", model.dropout, 0 <= model.dropout < 1, "0 or more and less than 1"),
        (
            "model.attention_dropout",
            model.attention_dropout,
            0 <= model.attention_dropout < 1,
            "0 or more and less than 1",
        ),
        ("optim.batch", optim.batch, optim.batch >= 1, "1 or more"),
        ("optim.batch_multiple", optim.batch_multiple, optim.batch_multiple >= 1, "1 or more"),
        ("optim.warmup", optim.warmup, optim.warmup >= 0, "0 or more updates"),
        (
            "optim.smoothing.amount",
            optim.smoothing.amount,
            0 <= optim.smoothing.amount < 1,
            "0 or more and less than 1",
        ),
        (
            "optim.smoothing.over",
            optim.smoothing.over,
            optim.smoothing.over in ("others", "all"),
            "others or all",
        ),
    ]
    for key, value, right, what in rules:
        if not right:
            raise UserError(f"{key}={value}: must be {what}")


def describe(value: Any) -> Any:
    """Plain data that says what a setting is: values, a dataclass with its class, a function with its keywords."""
    if is_dataclass(value) and not isinstance(value, type):
        content = {f.name: describe(getattr(value, f.name)) for f in fields(value)}
        return {"is": f"{type(value).__module__}.{type(value).__qualname__}", **content}
    if isinstance(value, functools.partial):
        return {"is": describe(value.func), **describe(value.keywords)}
    if isinstance(value, dict):
        return {str(key): describe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [describe(item) for item in value]
    if callable(value):
        return f"{value.__module__}.{value.__qualname__}"
    return value


def digest(content: Any) -> str:
    """SHA-256 of plain data, whatever the order of its keys."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
