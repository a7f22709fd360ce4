"""Train, test and log several runs as one stack. What a stack makes lies in the store when it returns."""

import hashlib
import json
import logging
import math
import platform
import time
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import pytorch_lightning as pl
import torch
from rapidfuzz.distance import Levenshtein

import inflect
from inflect import progress
from inflect.data.batches import encode
from inflect.data.datamodule import MemberData, StackData
from inflect.data.symbols import Symbols, features
from inflect.data.triples import sha256
from inflect.experiment import tracking
from inflect.experiment.settings import Settings, describe, digest
from inflect.experiment.store import Store
from inflect.model import hardware
from inflect.model.checkpoint import Checkpoint, stack_of
from inflect.model.decoding import decode_tables
from inflect.model.lightning import Inflection
from inflect.model.metrics import FormScores

log = logging.getLogger(__name__)

VERSION = 1  # of the procedures below: raised when a change to the code changes a run's numbers


@dataclass(frozen=True)
class Task:
    """A run whose training rows are known.

    `gold`, `dev` and `test` are tables of triples, `subset` the selected rows of the pool (`none`: no rows).
    The folders in the store hold the pool and the subset; None where there are none.
    """

    settings: Settings
    gold: pd.DataFrame
    dev: pd.DataFrame
    test: pd.DataFrame
    subset: pd.DataFrame
    pool_folder: Path | None = None
    subset_folder: Path | None = None

    @cached_property
    def train(self) -> pd.DataFrame:
        return pd.concat([self.gold, self.subset[list(self.gold.columns)]], ignore_index=True)

    @cached_property
    def data_sha256(self) -> str:
        return digest([sha256(self.gold), sha256(self.dev), sha256(self.test)])

    @property
    def precision(self) -> torch.dtype:
        return hardware.dtype(self.settings.trainer.precision)

    @cached_property
    def stack_key(self) -> str:
        """Tasks with equal keys can train in one stack."""
        settings = self.settings
        return digest([describe(x) for x in (settings.model, settings.optim, settings.trainer)])

    @cached_property
    def model_key(self) -> str:
        """Everything that the weights follow from."""
        rows = [sha256(self.train), sha256(self.dev)]
        return digest([VERSION, self.stack_key, str(self.precision), self.settings.seed, rows])

    @cached_property
    def key(self) -> str:
        """Everything that the record says."""
        return digest([self.model_key, self.data_sha256, self.settings.identity()])

    @property
    def job_type(self) -> str:
        return "train" if len(self.subset) else "base"


def run_stack(tasks: Sequence[Task], store: Store) -> None:
    """Train the tasks that have no model yet, together; test each; log each to its own W&B run; keep records."""
    started = time.perf_counter()
    settings = tasks[0].settings
    with ExitStack() as stack:
        runs = [stack.enter_context(tracking.tracked(task.settings.wandb, _identity(task))) for task in tasks]
        new = [
            index for index, task in enumerate(tasks) if task.settings.rerun or not store.has("model", task.model_key)
        ]
        if new:
            fit([tasks[index] for index in new], store, [runs[index] for index in new])
        for index in sorted(set(range(len(tasks))) - set(new)):
            runs[index].log_history(read_history(store, tasks[index]))
        checkpoints = [Checkpoint.load(store.folder("model", task.model_key) / "checkpoint.pt") for task in tasks]
        model = stack_of(checkpoints, tasks[0].precision).to(hardware.device())
        tests = [task.test for task in tasks]
        encoded = [encode(test, checkpoint.symbols) for test, checkpoint in zip(tests, checkpoints, strict=True)]
        hypotheses = decode_tables(model, encoded, settings.test.beam, "test")
        seconds = time.perf_counter() - started
        for task, run, checkpoint, test, rows in zip(tasks, runs, checkpoints, tests, hypotheses, strict=True):
            predictions = predicted(test, rows, checkpoint.symbols, set(task.gold["msd"]))
            with store.create("result", task.key, replace=task.settings.rerun) as folder:
                predictions.to_csv(folder / "predictions.csv", index_label="row")
                msds = scores(predictions, predictions["msd"].tolist()).rename_axis("msd")
                msds.to_csv(folder / "msd.csv")
                result = record(task, store, checkpoint, predictions, seconds, len(tasks))
                (folder / "result.json").write_text(json.dumps(result, indent=1, ensure_ascii=False), "utf-8")
            run.log_result(result, predictions, msds)
            for kind, path, used in _files(task, store):
                run.log_artifact(kind, path, used)


def fit(tasks: Sequence[Task], store: Store, runs: Sequence[tracking.Run]) -> None:
    """Train the tasks as one stack; each one's best weights and history go to the store."""
    first = tasks[0].settings
    symbols = [Symbols.of(task.train) for task in tasks]
    seeds = [task.settings.seed for task in tasks]
    members = [
        MemberData(task.train, task.dev, own, seed) for task, own, seed in zip(tasks, symbols, seeds, strict=True)
    ]
    data = StackData(members, first.optim.batch, first.trainer.max_steps, multiple=first.optim.batch_multiple)
    sizes = [own.source_size for own in symbols], [own.target_size for own in symbols]
    module = Inflection(first.model, *sizes, seeds, first.optim, tasks[0].precision)
    live = _Live([task.settings.name for task in tasks], runs)
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="pytorch_lightning")  # advice on data loading workers
        trainer = pl.Trainer(
            max_steps=first.trainer.max_steps,
            val_check_interval=min(first.trainer.val_interval, first.trainer.max_steps),
            check_val_every_n_epoch=None,
            num_sanity_val_steps=0,
            callbacks=[live],
            devices=1,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(module, data)
        if module.history[0][-1].update < first.trainer.max_steps:
            trainer.validate(module, data, verbose=False)
    for index, task in enumerate(tasks):
        best = min(module.history[index], key=lambda validation: validation.loss)
        about = {
            "name": task.settings.name,
            "seed": task.settings.seed,
            "spaces": task.settings.data.spaces,
            "dev": asdict(best),
        }
        with store.create("model", task.model_key, replace=task.settings.rerun) as folder:
            Checkpoint(module.best[index], symbols[index], first.model, about).save(folder / "checkpoint.pt")
            live.histories[index].to_csv(folder / "history.csv", index=False)


class _Live(pl.Callback):
    """A bar on a terminal, a line per validation elsewhere, and every loss to each member's W&B run."""

    def __init__(self, names: Sequence[str], runs: Sequence[tracking.Run]) -> None:
        self.names, self.runs = names, runs
        self.what = names[0] if len(names) == 1 else f"{len(names)} runs"
        self.histories = [pd.DataFrame() for _ in names]
        self.bar: Any = None

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        self.bar = progress.bar(what=f"train {self.what}", unit="update", total=trainer.max_steps)

    def on_train_batch_end(self, *_: Any) -> None:
        self.bar.update()

    def on_validation_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        assert isinstance(module, Inflection)
        until = module.history[0][-1].update
        updates = range(until - len(module.losses), until)
        losses = torch.stack(module.losses).T.tolist() if module.losses else [[] for _ in self.names]
        module.losses.clear()
        rates = [module.optim.rate(update) for update in updates]
        for index, (run, own) in enumerate(zip(self.runs, losses, strict=True)):
            rows = pd.DataFrame({"update": [u + 1 for u in updates], "train/loss": own, "lr": rates})
            last = module.history[index][-1]
            dev = {"dev/loss": last.loss, "dev/nll": last.nll, "dev/accuracy": last.accuracy}
            rows = rows.merge(pd.DataFrame([{"update": until, **dev}]), on="update", how="outer")
            self.histories[index] = pd.concat([self.histories[index], rows], ignore_index=True)
            run.log_history(rows)
        mean = sum(history[-1].loss for history in module.history) / len(self.names)
        self.bar.set_postfix({"dev loss": f"{mean:.3f}"})
        if self.bar.disable:
            best = sum(min(past.loss for past in history) for history in module.history) / len(self.names)
            text = "%s: update %d, dev loss %.3f, best %.3f"
            log.info(text, self.what, until, mean, best, extra={"runs": self.names})

    def on_train_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        self.bar.close()


def read_history(store: Store, task: Task) -> pd.DataFrame:
    """Training losses, learning rates and dev scores by update, as they were recorded."""
    return pd.read_csv(store.folder("model", task.model_key) / "history.csv")


def predicted(
    test: pd.DataFrame, hypotheses: Sequence[tuple[list[int], float]], symbols: Symbols, gold_msds: set[str]
) -> pd.DataFrame:
    """The test table and, row by row, what the model wrote: prediction, correct, edit distance, score.

    `score` is the hypothesis' mean ln p per symbol. `unknown` marks rows with a character or feature that the
    run's vocabulary lacks; their gold form may be out of reach, and they count like any other.
    """
    forms = [symbols.spell(ids) for ids, _ in hypotheses]
    lemmas, msds, known_forms = set(symbols.lemma), set(symbols.msd), set(symbols.form)
    unknown = [
        not (set(lemma) <= lemmas and set(features(msd)) <= msds and set(form) <= known_forms)
        for lemma, form, msd in zip(test["lemma"], test["form"], test["msd"], strict=True)
    ]
    gold = test["form"].tolist()
    return test.assign(
        prediction=forms,
        correct=[form == right for form, right in zip(forms, gold, strict=True)],
        msd_seen=test["msd"].isin(gold_msds).to_numpy(),
        unknown=unknown,
        edit_distance=[Levenshtein.distance(form, right) for form, right in zip(forms, gold, strict=True)],
        score=[score for _, score in hypotheses],
    )


def scores(predictions: pd.DataFrame, groups: Sequence[str], known: Sequence[str] = ()) -> pd.DataFrame:
    """Rows, accuracy and mean edit distance of each group of rows; `known` groups are there also without rows."""
    names = sorted({*groups, *known})
    metric = FormScores(names)
    metric.update(predictions["prediction"].tolist(), predictions["form"].tolist(), groups)
    columns = {name: value.tolist() for name, value in metric.compute().items()}
    return pd.DataFrame(columns, index=pd.Index(names))


def record(
    task: Task, store: Store, checkpoint: Checkpoint, predictions: pd.DataFrame, seconds: float, members: int
) -> dict[str, Any]:
    """What `result.json` says; shares of no rows are null."""
    settings = task.settings
    identity = settings.identity()
    overall = scores(predictions, ["all"] * len(predictions)).loc["all"]
    seen = predictions["msd_seen"].map({True: "seen", False: "unseen"}).tolist()
    by_seen = scores(predictions, seen, known=("seen", "unseen"))["accuracy"]
    model, result = store.folder("model", task.model_key), store.folder("result", task.key)
    return {
        "name": settings.name,
        "lang": settings.lang.code,
        "strategy": settings.strategy.name,
        "size": settings.size,
        "seed": settings.seed,
        "experiment": settings.experiment,
        "rows_train": len(task.train),
        "updates": settings.trainer.max_steps,
        "dev": {name: checkpoint.about["dev"][name] for name in ("loss", "nll", "accuracy", "update")},
        "test": {
            "rows": len(predictions),
            "rows_unknown": int(predictions["unknown"].sum()),
            "accuracy": overall["accuracy"],
            "accuracy_msd_seen": _share(by_seen["seen"]),
            "accuracy_msd_unseen": _share(by_seen["unseen"]),
            "edit_distance": overall["edit_distance"],
        },
        "sha256": {
            "data": task.data_sha256,
            "pool": task.pool_folder and hashlib.sha256((task.pool_folder / "pool.tsv").read_bytes()).hexdigest(),
            "subset": sha256(task.subset),
            "config": digest(identity),
        },
        "wall_seconds": round(seconds, 2),
        "stack_members": members,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "inflect": inflect.__version__,
            "torch": torch.__version__,
            "pytorch_lightning": version("pytorch-lightning"),
            "python": platform.python_version(),
        },
        "hardware": {
            "device": str(hardware.device()),
            "precision": str(task.precision).removeprefix("torch."),
            "machine": platform.machine(),
            "threads": torch.get_num_threads(),
        },
        "predictions": str(result / "predictions.csv"),
        "checkpoint": str(model / "checkpoint.pt"),
        "history": str(model / "history.csv"),
        "config": identity,
    }


def _share(value: float) -> float | None:
    return None if math.isnan(value) else value


def _identity(task: Task) -> tracking.Identity:
    settings = task.settings
    return tracking.Identity(
        settings.lang.code,
        settings.strategy.name,
        settings.size,
        settings.seed,
        settings.experiment,
        task.job_type,
        settings.identity(),
        task.key,
    )


def _files(task: Task, store: Store) -> list[tuple[str, Path, bool]]:
    """Kind and place of the artifacts of a run, and whether it was made from them."""
    inputs = [("pool", task.pool_folder, True), ("subset", task.subset_folder, True)]
    output = ("checkpoint", store.folder("model", task.model_key) / "checkpoint.pt", False)
    return [(kind, path, used) for kind, path, used in (*inputs, output) if path is not None]
