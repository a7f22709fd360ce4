"""Weights & Biases: one run per job, alive during training. Nothing else in the package touches it.

What goes wrong inside W&B is said once per run and never reaches the training: records in the store are the
truth, and W&B shows them. Where the server cannot be reached, runs are kept on disk to be sent later.
"""

import functools
import logging
import os
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from inflect.errors import UserError

log = logging.getLogger(__name__)

MODES = ("auto", "online", "offline", "disabled")
LONGEST_TAG = 64  # characters; wandb.init refuses a longer one
PATIENCE = 30  # seconds that a run waits for the server when it opens, and again when it closes

_server_lost = threading.Event()  # set by the first run that waited in vain: the rest of this process is offline


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
    """What a dashboard groups and filters a run by; `job_type` is base (gold alone) or train.

    `key` is the digest of everything that determines the run. W&B takes an id once, even if that run is deleted,
    so each attempt at a run has an id of its own that begins with the key.
    """

    lang: str
    strategy: str
    size: int
    seed: int
    experiment: str
    job_type: str
    config: Mapping[str, Any]
    key: str = ""

    @property
    def name(self) -> str:
        """The run's name on the dashboard."""
        return f"{self.lang}-{self.strategy}-{self.size}-s{self.seed}"

    @property
    def labels(self) -> dict[str, str | int]:
        """What the run's tags and the first columns of a dashboard show."""
        return {name: getattr(self, name) for name in ("lang", "strategy", "size", "seed", "experiment")}


@functools.cache
def mode_of(settings: WandbSettings) -> str:
    """online, offline or disabled; nobody is asked for a key. Raises UserError where WANDB_MODE is none of these."""
    mode = settings.mode
    if mode == "auto":
        variable = os.environ.get("WANDB_MODE", "")
        mode = {"": "auto", "dryrun": "offline", "run": "online"}.get(variable, variable)
        if mode not in MODES:
            raise UserError(f"WANDB_MODE={variable} (environment): must be online, offline or disabled")
    if mode in ("offline", "disabled"):
        return mode
    if _logged_in():
        return "online"
    if mode == "online":
        log.warning("W&B: wandb.mode=online, but nobody is logged in (wandb login), so runs are kept offline")
    return "offline"


@functools.cache
def announce(settings: WandbSettings) -> None:
    """Say once, in plain words, where runs are."""
    mode = mode_of(settings)
    if mode == "online":
        log.info("W&B: online, project %s", settings.project)
    elif mode == "offline":
        folder = Path(settings.dir) / "wandb"
        log.info(
            "W&B: offline, runs are kept in %s\n  browse them:  wandb leet %s\n"
            "  send them:    wandb login && wandb sync %s/offline-run-*",
            *[folder] * 3,
        )


def _wandb() -> Any:
    """The package, imported when it is needed and silent: what a user should know, this module says."""
    os.environ.setdefault("WANDB_SILENT", "true")  # a run's own setting `silent` silences neither login nor artifacts
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # by which its telemetry complains of the server
    import wandb

    return wandb


def _logged_in() -> bool:
    try:
        return bool(_wandb().login(prompt=False, verify=False))
    except Exception as error:
        log.warning("W&B: the login cannot be used (%s)", _reason(error))
        return False


def _reason(error: Exception) -> str:
    """One line; messages of W&B have several."""
    return " ".join([f"{type(error).__name__}:", *str(error).splitlines()[:1]])


class Run:
    """One live W&B run. After a failure of W&B it is silent; whoever trains need not know."""

    def __init__(self, settings: WandbSettings, identity: Identity) -> None:
        self.settings, self.identity = settings, identity
        self._run: Any = None
        self._failed = False
        with self._unharmed():
            mode = mode_of(settings)
            if mode == "online" and not _server_lost.is_set():
                self._open_online()
            if mode != "disabled" and self._run is None:
                self._run = self._open("offline")

    def _open_online(self) -> None:
        try:
            self._run = self._open("online")
        except Exception as error:
            self._lose_server(error)

    def _open(self, mode: Literal["online", "offline"]) -> Any:
        wandb = _wandb()
        Path(self.settings.dir).mkdir(parents=True, exist_ok=True)
        identity = self.identity
        run = wandb.init(
            project=self.settings.project,
            entity=self.settings.entity or None,
            dir=self.settings.dir,
            mode=mode,
            reinit="create_new",
            id=f"{identity.key[:12]}-{uuid.uuid4().hex[:6]}" if identity.key else None,
            name=identity.name,
            group=identity.lang,
            job_type=identity.job_type,
            tags=[f"{name}:{value}"[:LONGEST_TAG] for name, value in identity.labels.items()],
            config={**identity.labels, "key": identity.key, "settings": dict(identity.config)},
            settings=wandb.Settings(
                silent=True,
                console="off",
                init_timeout=PATIENCE,
                finish_timeout=PATIENCE,
                finish_timeout_raises=True,
            ),
        )
        run.define_metric("*", step_metric="update")
        return run

    @contextmanager
    def _unharmed(self) -> Iterator[None]:
        """Say what W&B could not do, and go on without it."""
        try:
            yield
        except Exception as error:
            if self._run is not None and not self._run.offline:
                self._lose_server(error)
            elif not self._failed:
                log.warning("W&B: %s is not logged any further (%s)", self.identity.name, _reason(error))
            self._failed = True

    def _lose_server(self, error: Exception) -> None:
        if not _server_lost.is_set():
            _server_lost.set()
            folder = Path(self.settings.dir) / "wandb"
            text = "W&B: no luck online (%s); from now on runs are kept in %s, send them later: %s %s/*run-*"
            log.warning(text, _reason(error), folder, "wandb sync --include-online", folder)

    @property
    def _live(self) -> bool:
        return self._run is not None and not self._failed

    @property
    def _cut_off(self) -> bool:
        """An online run whose server is lost can be written to; whatever asks the server would wait in vain."""
        return not self._run.offline and _server_lost.is_set()

    def log_history(self, rows: pd.DataFrame) -> None:
        """Losses, learning rates and dev scores by update; a column that is NaN in a row is left out there."""
        if not self._live:
            return
        with self._unharmed():
            for row in rows.to_dict("records"):
                self._run.log({name: value for name, value in row.items() if value == value})

    def log_result(self, result: Mapping[str, Any], predictions: pd.DataFrame, msds: pd.DataFrame) -> None:
        """The record's dev and test scores as summary, and tables of predictions and of MSDs."""
        if not self._live:
            return
        with self._unharmed():
            summary = {f"{part}/{name}": value for part in ("dev", "test") for name, value in result[part].items()}
            # the last validation is not the chosen one: what the record says of dev goes by another name
            self._run.summary.update({name.replace("dev/", "best_dev/"): value for name, value in summary.items()})
            self._run.summary.update({"sha256": result["sha256"], "wall_seconds": result["wall_seconds"]})
            if not self._cut_off:
                first = predictions.head(self.settings.table_rows)
                self._run.log({"predictions": _table(first.rename_axis("row")), "msds": _table(msds)})

    def log_artifact(self, kind: str, path: Path, used: bool) -> None:
        """A file or folder of the store as an artifact named by its content; `used`: the run was made from it.

        All runs that log one content share one version. A file, which is a checkpoint, stays where it is unless
        `upload_checkpoint` is set.
        """
        if not self._live or self._cut_off:
            return
        with self._unharmed():
            artifact = _wandb().Artifact(f"{kind}-{path.parent.name if path.is_file() else path.name}", type=kind)
            if path.is_dir():
                artifact.add_dir(str(path), policy="immutable")  # the store never changes: no copy is needed
            elif self.settings.upload_checkpoint:
                artifact.add_file(str(path), policy="immutable")
            else:
                artifact.add_reference(path.absolute().as_uri())
            if used:
                # what run.use_artifact does, which refuses offline runs and waits for the server
                self._run._log_artifact(artifact, is_user_created=True, use_after_commit=True)
            else:
                self._run.log_artifact(artifact)

    def close(self, failed: bool) -> None:
        """Finish the run; a failed one is shown as failed."""
        if self._run is not None and not self._cut_off:
            with self._unharmed():
                self._run.finish(exit_code=int(failed))


def _table(rows: pd.DataFrame) -> Any:
    flat = rows.reset_index()
    return _wandb().Table(columns=list(flat.columns), data=[list(row) for row in flat.itertuples(index=False)])


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
