"""What the three scripts do with a composed config. Heavy imports wait until they are needed."""

import logging
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from inflect.errors import UserError
from inflect.experiment.settings import Evaluation, Settings, evaluation_of, settings_of

log = logging.getLogger("inflect")


@dataclass(frozen=True)
class Job:
    """A run that was asked for, and its own Hydra output folder."""

    settings: Settings
    folder: Path


def job_of(config: DictConfig) -> Job:
    """The job that a composed config stands for."""
    runtime = HydraConfig.get().runtime
    return Job(settings_of(config, str(runtime.choices["strategy"])), Path(runtime.output_dir))


def train(config: DictConfig) -> None:
    """`train.py`: one run."""
    complete([job_of(config)])


def complete(jobs: Sequence[Job]) -> None:
    """Run the jobs, put each one's `result.json` into its folder, print the table.

    Raises:
        UserError: after all of that, if a job failed.
    """
    from inflect.experiment import pipeline, results

    with ExitStack() as logs:
        if len(jobs) > 1:
            for job in jobs:
                logs.enter_context(_own_log(job))
        outcomes = pipeline.run([job.settings for job in jobs])
    for job, outcome in zip(jobs, outcomes, strict=True):
        if outcome.folder:
            shutil.copy(outcome.folder / "result.json", job.folder / "result.json")
    finished = [outcome.folder for outcome in outcomes if outcome.folder]
    bases = [outcome.base for outcome in outcomes if outcome.base]
    if finished:
        records = [results.read_record(folder) for folder in dict.fromkeys([*bases, *finished])]
        log.info("\n%s\n", results.text(results.cells_table(results.runs_table(records))))
    if finished:
        root = jobs[0].settings.store.root
        where = jobs[0].folder.parent if len(jobs) > 1 else jobs[0].folder
        log.info("records: %s\nnext: python evaluate.py store.root=%s", where, root)
    failed = [outcome for outcome in outcomes if outcome.error]
    if failed:
        names = ", ".join(outcome.settings.name for outcome in failed)
        raise UserError(failed[0].error if len(jobs) == 1 else f"{len(failed)} of {len(jobs)} runs failed: {names}")


def select(config: DictConfig) -> None:
    """`select.py`: a subset as TSV, and how it compares with the pool it comes from."""
    from inflect.data.triples import write_triples
    from inflect.experiment import pipeline
    from inflect.selection.describe import compare

    settings = job_of(config).settings
    output = Path(settings.output or f"{settings.name}.tsv")
    if settings.strategy.name == "none":
        raise UserError("strategy=none: selects nothing; name a strategy that does, such as strategy=umt_loss")
    _check_place(output)
    if settings.strategy.needs_uncertainty and pipeline.run_tasks([pipeline.base_of(settings)]):
        sys.exit(1)  # the log says what went wrong
    chosen = pipeline.select(settings)
    write_triples(chosen.pool.loc[chosen.rows], output)
    log.info("\n%s\n", compare(chosen.pool, chosen.rows, chosen.uncertainty))
    log.info("%d triples: %s", len(chosen.rows), output)


def evaluate(config: DictConfig) -> None:
    """`evaluate.py`: the table of all finished runs or, with a checkpoint, the inflection of a file."""
    from inflect.experiment import results

    settings = evaluation_of(config)
    if settings.checkpoint:
        inflect_file(settings)
        return
    records = results.read_records(Path(settings.store.root))
    if not records:
        raise UserError(f"store.root={settings.store.root}: no finished run there; train one: python train.py")
    log.info("%s", results.text(results.cells_table(results.runs_table(records))))


def inflect_file(settings: Evaluation) -> None:
    """Write each line's lemma, the form that the model gives it, and its MSD."""
    from inflect.data.batches import encode
    from inflect.data.triples import drop_spaces, read_triples, write_triples
    from inflect.model import hardware
    from inflect.model.checkpoint import Checkpoint, stack_of
    from inflect.model.decoding import decode_tables

    _check_place(Path(settings.output))
    checkpoint = Checkpoint.load(Path(settings.checkpoint))
    words = read_triples(settings.input, settings.columns.split())
    if checkpoint.about["spaces"] == "drop":
        words = drop_spaces(words)
    model = stack_of([checkpoint], hardware.dtype(settings.precision)).to(hardware.device())
    (found,) = decode_tables(model, [encode(words, checkpoint.symbols)], settings.beam, "inflect")
    forms = [checkpoint.symbols.spell(ids) for ids, _ in found]
    write_triples(words.assign(form=forms), settings.output)
    log.info("%d forms: %s", len(forms), settings.output)
    if "form" in settings.columns.split():
        right = sum(form == gold for form, gold in zip(forms, words["form"], strict=True))
        log.info("%d of %d as in %s: %.1f %%", right, len(forms), settings.input, 100 * right / len(forms))


def _check_place(output: Path) -> None:
    """Raises UserError, before anything is computed, if no file can be written there."""
    if output.is_dir() or not os.access(output.parent, os.W_OK):
        raise UserError(f"output={output}: cannot write there; name a file in a folder that exists and is yours")


@contextmanager
def _own_log(job: Job) -> Iterator[None]:
    """A log file in the job's folder: what concerns it, and what concerns the whole sweep."""
    handler = logging.FileHandler(job.folder / "train.log", encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    name = job.settings.name
    handler.addFilter(lambda record: name in getattr(record, "runs", (name,)))
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
