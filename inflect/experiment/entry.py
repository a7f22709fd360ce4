"""How the three scripts start: Hydra with typed settings, and complaints of one line."""

import difflib
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException, MissingConfigException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from inflect.errors import UserError
from inflect.experiment.settings import register

CONF = Path(__file__).resolve().parents[2] / "conf"


def script(task: Callable[[DictConfig], None], config_name: str) -> None:
    """Run `task` on the config that the command line asks for.

    What a user can mend is said in one line, with exit status 1; HYDRA_FULL_ERROR=1 shows the traceback.
    """
    register()
    wants_traceback = os.environ.get("HYDRA_FULL_ERROR") == "1"
    os.environ["HYDRA_FULL_ERROR"] = "1"  # let exceptions through: the messages below are shorter than Hydra's
    try:
        hydra.main(version_base="1.3", config_path=str(CONF), config_name=config_name)(task)()
    except (UserError, HydraException, OmegaConfBaseException) as error:
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
        return f"{group}={name}: no such {group}{_nearest(name, error.options)}"
    first, *rest = str(error).splitlines()
    if match := re.match(r"Could not override '(.+?)'", first):
        return f"{match[1]}: no such key{_nearest(match[1], list(_keys(config_name)))}"
    detail = str(error.__cause__).splitlines()[0] if error.__cause__ else " ".join(rest[:1])
    if match := re.match(r"Error merging override (.+)", first):
        return f"{match[1]}: {detail}"
    return f"{first} {detail}".strip()


def _nearest(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    tail = [key for key in known if key.rpartition(".")[2] == name.rpartition(".")[2]]
    found = list(dict.fromkeys([*tail, *near]))
    return f"; did you mean {', '.join(found)}?" if found else f"; there are {', '.join(sorted(known))}"


def _keys(config_name: str) -> Iterator[str]:
    """All keys of the default config, dotted."""
    GlobalHydra.instance().clear()
    with hydra.initialize_config_dir(str(CONF), version_base="1.3"):
        config = hydra.compose(config_name)

    def walk(node: DictConfig, prefix: str) -> Iterator[str]:
        for key in map(str, node):
            yield f"{prefix}{key}"
            if not OmegaConf.is_missing(node, key) and isinstance(child := node[key], DictConfig):
                yield from walk(child, f"{prefix}{key}.")

    yield from walk(config, "")
