"""What the three scripts do with a composed config. Heavy imports wait until they are needed."""

import logging
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from inflect.experiment.settings import Settings, settings_of

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


def complete(jobs: Sequence[Job], refused: Sequence[str] = ()) -> None:
    """Run the jobs, put each one's `result.json` into its folder, print the table; exit status 1 if one failed."""
    from inflect.experiment import pipeline, results

    for message in refused:
        log.error("error: %s", message)
    with ExitStack() as logs:
        if len(jobs) > 1:
            for job in jobs:
                logs.enter_context(_own_log(job))
        outcomes = pipeline.run([job.settings for job in jobs])
    for job, outcome in zip(jobs, outcomes, strict=True):
        if outcome.folder:
            shutil.copy(outcome.folder / "result.json", job.folder / "result.json")
    finished = [outcome.result for outcome in outcomes if outcome.result]
    if finished:
        log.info("\n%s\n", results.text(results.cells_table(results.runs_table(finished))))
    for outcome in outcomes:
        if outcome.error:
            log.error("failed: %s: %s", outcome.settings.name, outcome.error)
    if finished:
        root = jobs[0].settings.store.root
        where = jobs[0].folder.parent if len(jobs) > 1 else jobs[0].folder
        log.info("records: %s\nnext: python evaluate.py store.root=%s", where, root)
    if refused or len(finished) < len(jobs):
        sys.exit(1)


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
