"""How the three scripts start: Hydra with typed settings, and complaints of one line."""

import difflib
import functools
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from inflect.errors import UserError
from inflect.experiment.settings import register

CONF = Path(__file__).resolve().parents[2] / "conf"

MENDABLE = (UserError, HydraException, OmegaConfBaseException)

log = logging.getLogger(__name__)


class Console(logging.Handler):
    """The scripts' terminal: errors go to stderr, all else to stdout (conf/hydra/job_logging/plain.yaml)."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr if record.levelno >= logging.ERROR else sys.stdout, flush=True)


def script(task: Callable[[DictConfig], None], config_name: str) -> None:
    """Run `task` on the config that the command line asks for.

    What a user can mend is said in one line, with exit status 1; HYDRA_FULL_ERROR=1 shows the traceback.
    """
    register()
    wants_traceback = os.environ.get("HYDRA_FULL_ERROR") == "1"
    os.environ["HYDRA_FULL_ERROR"] = "1"  # let exceptions through: the messages below are shorter than Hydra's

    @functools.wraps(task)
    def run(config: DictConfig) -> None:
        try:
            task(config)
        except MENDABLE as error:
            # In a sweep an exception is for the launcher, which goes on with the other jobs; in a single run
            # Hydra would put a line with all overrides before it.
            if wants_traceback or HydraConfig.get().mode == RunMode.MULTIRUN:
                raise
            log.error("error: %s", explain(error, config_name))
            sys.exit(1)

    try:
        hydra.main(version_base="1.3", config_path=str(CONF), config_name=config_name)(run)()
    except MENDABLE as error:
        if wants_traceback:
            raise
        sys.exit(f"error: {explain(error, config_name)}")
    finally:
        if not wants_traceback:
            del os.environ["HYDRA_FULL_ERROR"]


def explain(error: Exception, config_name: str) -> str:
    """One line on a user's mistake, with the nearest names that exist."""
    if isinstance(error, MissingConfigException) and error.options is not None:
        group, _, name = (error.missing_cfg_file or "").removesuffix(".yaml").rpartition("/")
        everything = f"there are {', '.join(sorted(error.options))}"
        return f"{group}={name}: no such {group}; {_nearest(name, error.options) or everything}"
    if isinstance(error, OverrideParseException):
        reasons = [line for line in str(error).splitlines() if not line.startswith("Error parsing override")]
        return f"{error.override}: not KEY=VALUE as Hydra reads it ({reasons[0]})"
    first, *rest = str(error).splitlines()
    if match := re.match(r"Could not override '(.+?)'", first):
        known = list(_keys(config_name))
        if match[1] in known:
            return f"{match[1]}: the {match[1].partition('.')[0]} that was chosen has no such key"
        everything = f"python {config_name}.py --cfg job shows all"
        return f"{match[1]}: no such key; {_nearest(match[1], known) or everything}"
    detail = str(error.__cause__).splitlines()[0] if error.__cause__ else " ".join(rest[:1])
    if match := re.match(r"Error merging override (.+)", first):
        return f"{match[1]}: {detail}"
    return f"{first} {detail}".strip()


def _nearest(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    tail = [key for key in known if key.rpartition(".")[2] == name.rpartition(".")[2]]
    found = list(dict.fromkeys([*tail, *near]))
    return f"did you mean {', '.join(found)}?" if found else ""


def _keys(config_name: str) -> Iterator[str]:
    """All keys of the default config that hold a value, dotted."""
    GlobalHydra.instance().clear()
    with hydra.initialize_config_dir(str(CONF), version_base="1.3"):
        config = hydra.compose(config_name)

    def walk(node: DictConfig, prefix: str) -> Iterator[str]:
        for key in map(str, node):
            if not OmegaConf.is_missing(node, key) and isinstance(child := node[key], DictConfig):
                yield from walk(child, f"{prefix}{key}.")
            elif not key.startswith("_"):
                yield f"{prefix}{key}"

    yield from walk(config, "")
