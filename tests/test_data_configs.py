"""The config groups `lang` and `split`: every file composes and makes the object it names."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.errors import MissingConfigException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from inflect.data.artificial import Artificial
from inflect.data.files import OwnFiles
from inflect.data.settings import DataSettings
from inflect.data.sigmorphon import SharedTask2018, languages, register_names

CONF = Path(__file__).parents[1] / "conf"


@pytest.fixture(scope="module", autouse=True)
def conf() -> Iterator[None]:
    register_names()
    ConfigStore.instance().store(name="data_groups", node={"defaults": [{"lang": "tur"}, {"split": "paper"}]})
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield


def composed(*overrides: str) -> DictConfig:
    return compose("data_groups", overrides=list(overrides))


@pytest.mark.parametrize(("name", "code"), languages().items())
def test_a_language_by_code_and_by_name(name: str, code: str) -> None:
    by_name = composed(f"lang={name}").lang
    assert by_name == OmegaConf.load(CONF / "lang" / f"{code}.yaml")
    assert instantiate(by_name) == SharedTask2018(code, name)


@pytest.mark.parametrize("code", ["tur", "nob", "artificial", "own"])
def test_a_language_is_its_file(code: str) -> None:
    assert composed(f"lang={code}").lang == OmegaConf.load(CONF / "lang" / f"{code}.yaml")


def test_there_is_no_other_language() -> None:
    files = {path.stem for path in (CONF / "lang").glob("*.yaml")}
    assert files == {*languages().values(), "artificial", "own"}
    with pytest.raises(MissingConfigException, match="lang/turkisch"):
        composed("lang=turkisch")


def test_languages_without_official_files() -> None:
    assert instantiate(composed("lang=artificial").lang) == Artificial("artificial", "artificial")
    assert instantiate(composed("lang=own").lang) == OwnFiles("own", "own")


@pytest.mark.parametrize("path", sorted((CONF / "split").glob("*.yaml")), ids=lambda path: path.stem)
def test_a_split_makes_a_test_table(path: Path) -> None:
    corpus = Artificial("a", "a", gold_rows=2, dev_rows=2, test_rows=3).load(DataSettings())
    split = instantiate(composed(f"split={path.stem}").split)
    assert len(split(corpus)) == 3
