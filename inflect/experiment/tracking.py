"""Weights & Biases: one run per job, alive during training. Nothing else in the package touches it.

What goes wrong inside W&B is said once per run and never reaches the training: records in the store are the
truth, and W&B shows them.
"""

import contextlib
import functools
import io
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import pandas as pd

from inflect.errors import UserError

log = logging.getLogger(__name__)

MODES = ("auto", "online", "offline", "disabled")


@dataclass(frozen=True)
class WandbSettings:
    """Where runs are logged.

    `mode`: online, offline, disabled, or auto: online when somebody is logged in, else offline. `dir` gets W&B's
    folder `wandb`. `table_rows` predictions of each run are shown as a table; a checkpoint is sent only with
    `upload_checkpoint`, else its place and hash are.
    """

    mode: str = "auto"
    project: str = "inflect"
    entity: str = ""
    dir: str = "outputs"
    table_rows: int = 1000
    upload_checkpoint: bool = False

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise UserError(f"wandb.mode={self.mode}: must be {', '.join(MODES[:-1])} or {MODES[-1]}")
        if self.table_rows < 0:
            raise UserError(f"wandb.table_rows={self.table_rows}: must be 0 or more")


@dataclass(frozen=True)
class Identity:
    """What a dashboard groups and filters a run by; `job_type` is base (gold alone) or train."""

    lang: str
    strategy: str
    size: int
    seed: int
    experiment: str
    job_type: str
    config: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The run's name on the dashboard."""
        return f"{self.lang}-{self.strategy}-{self.size}-s{self.seed}"


@functools.cache
def mode_of(settings: WandbSettings) -> str:
    """online, offline or disabled."""
    mode = settings.mode
    if mode == "auto":
        mode = os.environ.get("WANDB_MODE", "") or ("online" if _logged_in() else "offline")
        mode = {"dryrun": "offline", "run": "online"}.get(mode, mode)
    return mode


@functools.cache
def announce(settings: WandbSettings) -> None:
    """Say once, in plain words, where offline runs are."""
    if mode_of(settings) == "offline":
        folder = Path(settings.dir) / "wandb"
        log.info(
            "W&B: offline, runs are kept in %s\n  browse them:  wandb leet %s\n"
            "  send them:    wandb login && wandb sync %s/offline-run-*",
            *[folder] * 3,
        )


def _logged_in() -> bool:
    import wandb

    os.environ.setdefault("WANDB_SILENT", "true")  # the setting `silent` does not silence artifacts
    with contextlib.redirect_stderr(io.StringIO()):  # it warns those who have no account, who need no warning
        return bool(wandb.login(prompt=False, verify=False))


class Run:
    """One live W&B run. After a failure of W&B it is silent; whoever trains need not know."""

    def __init__(self, settings: WandbSettings, identity: Identity) -> None:
        self.settings, self.identity = settings, identity
        self._run: Any = None
        with self._unharmed():
            self._open(mode_of(settings))

    def _open(self, mode: str) -> None:
        if mode == "disabled":
            return
        import wandb

        Path(self.settings.dir).mkdir(parents=True, exist_ok=True)
        identity = self.identity
        self._run = wandb.init(
            project=self.settings.project,
            entity=self.settings.entity or None,
            dir=self.settings.dir,
            mode=cast(Literal["online", "offline"], mode),
            reinit="create_new",
            name=identity.name,
            group=identity.lang,
            job_type=identity.job_type,
            tags=[
                f"lang:{identity.lang}",
                f"strategy:{identity.strategy}",
                f"size:{identity.size}",
                f"seed:{identity.seed}",
                f"experiment:{identity.experiment}",
            ],
            config={
                **{key: getattr(identity, key) for key in ("lang", "strategy", "size", "seed", "experiment")},
                "settings": dict(identity.config),
            },
            settings=wandb.Settings(silent=True, console="off", init_timeout=30),
        )
        self._run.define_metric("*", step_metric="update")

    @contextmanager
    def _unharmed(self) -> Iterator[None]:
        """Say what W&B could not do, and go on without it."""
        try:
            yield
        except Exception as error:
            self._run = None
            log.warning("W&B: %s is not logged any further (%s: %s)", self.identity.name, type(error).__name__, error)

    def log_history(self, rows: pd.DataFrame) -> None:
        """Losses, learning rates and dev scores by update; a column that is NaN in a row is left out there."""
        if self._run is None:
            return
        with self._unharmed():
            for row in rows.to_dict("records"):
                self._run.log({name: value for name, value in row.items() if value == value})

    def log_result(self, result: Mapping[str, Any], predictions: pd.DataFrame, msds: pd.DataFrame) -> None:
        """The record's dev and test scores as summary, and tables of predictions and of MSDs."""
        if self._run is None:
            return
        import wandb

        with self._unharmed():
            summary = {f"{part}/{name}": value for part in ("dev", "test") for name, value in result[part].items()}
            # the last validation is not the chosen one: what the record says of dev goes by another name
            self._run.summary.update({name.replace("dev/", "best_dev/"): value for name, value in summary.items()})
            self._run.summary.update({"sha256": result["sha256"], "wall_seconds": result["wall_seconds"]})
            first = predictions.head(self.settings.table_rows).reset_index(names="row")
            self._run.log({"predictions": wandb.Table(dataframe=first)})
            self._run.log({"msds": wandb.Table(dataframe=msds.reset_index())})

    def log_artifact(self, kind: str, path: Path, used: bool) -> None:
        """A file or folder of the store as an artifact named by its content; `used`: the run was made from it.

        A file, which is a checkpoint, stays where it is unless `upload_checkpoint` is set. Offline a run cannot
        use an artifact, only log it: all runs that log one content share one version.
        """
        if self._run is None:
            return
        import wandb

        with self._unharmed():
            artifact = wandb.Artifact(f"{kind}-{path.parent.name if path.is_file() else path.name}", type=kind)
            if path.is_dir():
                artifact.add_dir(str(path))
            elif self.settings.upload_checkpoint:
                artifact.add_file(str(path))
            else:
                artifact.add_reference(path.absolute().as_uri())
            if used and not self._run.offline:
                self._run.use_artifact(artifact)
            else:
                self._run.log_artifact(artifact)

    def close(self, failed: bool) -> None:
        """Finish the run; a failed one is shown as failed."""
        if self._run is not None:
            with self._unharmed():
                self._run.finish(exit_code=int(failed))


@contextmanager
def tracked(settings: WandbSettings, identity: Identity) -> Iterator[Run]:
    """A run that is finished when the block ends, as failed if it ends by an exception."""
    run = Run(settings, identity)
    failed = True
    try:
        yield run
        failed = False
    finally:
        run.close(failed)
