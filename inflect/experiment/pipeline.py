"""Many runs or one: gold → pool → base model → uncertainty → subset → training → test, each made once.

`run` takes all jobs of a sweep. What several of them need (a pool, a base model, its uncertainties) is made for
the first and found in the store by the others, and runs that can train together do.
"""

import csv
import functools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from inflect.augment.pool import describe_pool, make_pool
from inflect.data.settings import DataSettings
from inflect.data.splits import Corpus
from inflect.data.triples import sha256, write_triples
from inflect.experiment import tracking
from inflect.experiment.engines import divide, reason, run_stacks, traceback_of
from inflect.experiment.settings import Settings, describe, digest
from inflect.experiment.store import Store
from inflect.experiment.training import VERSION, Task
from inflect.model.checkpoint import Checkpoint
from inflect.streams import stream

log = logging.getLogger(__name__)

LIMIT_SEED = 0  # of the sample that `test.limit` takes: every run is tested on the same rows


@dataclass(frozen=True)
class Outcome:
    """What became of a job: the folder in the store with its record, or what went wrong; its base model's folder."""

    settings: Settings
    folder: Path | None
    base: Path | None
    error: str = ""


@dataclass(frozen=True)
class Selection:
    """A subset as row ids of the pool, in order of selection, and what it was selected by (None: not needed)."""

    pool: pd.DataFrame
    pool_folder: Path
    uncertainty: "np.ndarray[Any, Any] | None"
    rows: "np.ndarray[Any, Any]"
    folder: Path


def run(jobs: Sequence[Settings]) -> list[Outcome]:
    """Run all jobs, sharing what they share; one that fails stops no other. Finished runs are not run again.

    Two phases: what needs no model yet, together with the base models of the rest; then the rest.

    Raises:
        UserError: if a store cannot be written, before anything runs.
    """
    for root in {settings.store.root for settings in jobs}:
        Store.open(root)
    errors: dict[int, str] = {}
    tasks: dict[int, Task] = {}
    bases: dict[int, Task] = {}

    def attempt(make: Callable[[Settings], Task], made: dict[int, Task], index: int) -> None:
        try:
            made[index] = make(jobs[index])
        except Exception as error:
            trouble, details = reason(error), traceback_of(error)
            if details or (len(jobs) > 1 and trouble not in errors.values()):  # of a lone job, the caller says it
                log.error("error: %s: %s", jobs[index].name, trouble, exc_info=details)
            errors[index] = trouble

    for index, settings in enumerate(jobs):
        if settings.strategy.needs_uncertainty:
            attempt(base_of, bases, index)
        else:
            attempt(task_of, tasks, index)
    failed = run_tasks([*tasks.values(), *bases.values()])
    waiting = [index for index, base in bases.items() if base.key not in failed]
    for index in waiting:
        attempt(task_of, tasks, index)
    errors |= {index: failed[base.key] for index, base in bases.items() if base.key in failed}
    failed |= run_tasks([tasks[index] for index in waiting if index in tasks])
    outcomes = []
    for index, settings in enumerate(jobs):
        error = errors.get(index) or failed.get(tasks[index].key, "")
        store, base = store_of(settings), bases.get(index)
        folder = None if error else store.folder("result", tasks[index].key)
        trained = store.folder("result", base.key) if base and base.key not in failed else None
        outcomes.append(Outcome(settings, folder, trained, error))
    return outcomes


def run_tasks(tasks: Sequence[Task]) -> dict[str, str]:
    """Run tasks in stacks, each once and none that is finished; the keys of those that failed, and why."""
    wanted: dict[str, Task] = {}
    for task in tasks:
        if task.key not in wanted or task.settings.rerun:
            wanted[task.key] = task
    groups: dict[tuple[str, str], list[Task]] = {}
    for task in wanted.values():
        if task.settings.rerun or not store_of(task.settings).has("result", task.key):
            groups.setdefault((task.stack_key, task.settings.store.root), []).append(task)
        else:
            log.info("%s: finished before (rerun=true runs it again)", task.settings.name)
    if groups:
        tracking.announce(next(iter(groups.values()))[0].settings.wandb)
    failed: dict[str, str] = {}
    for group in groups.values():
        settings = group[0].settings.stack
        failed |= run_stacks(divide(group, settings), settings)
    return failed


def store_of(settings: Settings) -> Store:
    """The store that the run reads and writes."""
    return Store.open(settings.store.root)


@functools.lru_cache(maxsize=16)
def corpus_of(lang: Any, data: DataSettings) -> Corpus:
    """The language's tables, read once for all runs of a sweep."""
    corpus: Corpus = lang.load(data)
    return corpus


def test_of(settings: Settings) -> pd.DataFrame:
    """The test table: the split's rows, or a sample of `test.limit` of them, by the split's row ids."""
    test: pd.DataFrame = settings.split(corpus_of(settings.lang, settings.data))
    if settings.test.limit is None or settings.test.limit >= len(test):
        return test
    return test.sample(n=settings.test.limit, random_state=LIMIT_SEED).sort_index()


def base_of(settings: Settings) -> Task:
    """The run on gold alone whose model scores the pool; whatever is wrong with the pool is said first."""
    pool_of(settings)
    return task_of(settings.base())


def task_of(settings: Settings) -> Task:
    """The run with its tables; a subset that goes by uncertainty needs the base model in the store."""
    corpus = corpus_of(settings.lang, settings.data)
    test = test_of(settings)
    if settings.strategy.name == "none":
        return Task(settings, corpus.gold, corpus.dev, test, corpus.gold[:0])
    chosen = select(settings)
    subset = chosen.pool.loc[chosen.rows]
    return Task(settings, corpus.gold, corpus.dev, test, subset, chosen.pool_folder, chosen.folder)


def pool_of(settings: Settings) -> tuple[pd.DataFrame, Path]:
    """The pool of synthetic triples and its folder in the store."""
    store, gold = store_of(settings), corpus_of(settings.lang, settings.data).gold
    key = digest([VERSION, sha256(gold), describe(settings.corruption), describe(settings.pool)])
    folder = store.folder("pool", key)
    if not store.has("pool", key):
        pool = make_pool(gold, settings.corruption, settings.pool)
        with store.create("pool", key) as draft:
            pool.to_csv(draft / "pool.tsv", sep="\t", quoting=csv.QUOTE_NONE, lineterminator="\n")
        summary = describe_pool(pool, gold, test_of(settings), settings.corruption)
        log.info("pool of %s: %s", settings.lang.code, summary)
    text = dict.fromkeys(("lemma", "form", "msd"), "object")
    pool = pd.read_csv(
        folder / "pool.tsv",
        sep="\t",
        index_col="row",
        dtype=text,
        keep_default_na=False,
        quoting=csv.QUOTE_NONE,
        lineterminator="\n",
    )
    return pool, folder


def uncertainty_of(settings: Settings, pool: pd.DataFrame) -> "tuple[np.ndarray[Any, Any], str]":
    """The base model's uncertainty of each row of the pool, and its key; the base model is in the store."""
    store, base = store_of(settings), task_of(settings.base())
    key = digest([VERSION, base.model_key, sha256(pool), describe(settings.uncertainty)])
    if not store.has("uncertainty", key):
        checkpoint = Checkpoint.load(store.folder("model", base.model_key) / "checkpoint.pt")
        values = settings.uncertainty(checkpoint, pool, base.precision)
        with store.create("uncertainty", key) as draft:
            np.save(draft / "uncertainty.npy", values)
        log.info("uncertainty of %s: %d items, mean %.3f", base.settings.name, len(values), values.mean())
    return np.load(store.folder("uncertainty", key) / "uncertainty.npy"), key


def select(settings: Settings) -> Selection:
    """The strategy's subset of the pool."""
    store = store_of(settings)
    pool, pool_folder = pool_of(settings)
    uncertainty, uncertainty_key, arguments = None, None, {}
    if settings.strategy.needs_uncertainty:
        uncertainty, uncertainty_key = uncertainty_of(settings, pool)
        arguments = {"uncertainty": uncertainty}
    how = [describe(settings.strategy), settings.size, settings.seed]
    key = digest([VERSION, sha256(pool), uncertainty_key, *how])
    folder = store.folder("subset", key)
    if not store.has("subset", key):
        generator = np.random.default_rng(stream(settings.seed, "selection"))
        rows = settings.strategy.select(pool, settings.size, generator, **arguments)
        with store.create("subset", key) as draft:
            np.save(draft / "rows.npy", rows)
            write_triples(pool.loc[rows], draft / "subset.tsv")
    return Selection(pool, pool_folder, uncertainty, np.load(folder / "rows.npy"), folder)
