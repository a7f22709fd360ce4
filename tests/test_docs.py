"""What README and docs say can be done: commands compose, links lead somewhere, tables are true, examples work."""

import importlib
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from inflect.augment.pool import PoolSettings, describe_pool, make_pool
from inflect.data.artificial import Artificial
from inflect.data.settings import DataSettings
from inflect.data.sigmorphon import languages
from inflect.experiment.settings import Strategy, evaluation_of, register, settings_of

ROOT = Path(__file__).parents[1]
CONF = ROOT / "conf"
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
}
GROUPS = {folder.name for folder in CONF.iterdir() if folder.is_dir()} - {"hydra"}


def commands() -> list[tuple[str, str]]:
    """Script and arguments of every command line, in blocks and in the middle of a sentence."""
    text = "\n".join(PAGES.values()).replace("\\\n", " ")
    found = re.findall(r"\bpython (train|select|evaluate)\.py\b([^`#\n]*)", text)
    return list(dict.fromkeys((script, arguments.strip()) for script, arguments in found))


def blocks(text: str) -> list[tuple[str, str]]:
    """Code blocks, fenced or indented, each with the text before it."""
    pattern = re.compile(
        r"^```\w*\n(.*?)^```$|((?:^ {4}[^\n]*\n)(?:^ {4}[^\n]*\n|^\n(?= {4}))*)", re.MULTILINE | re.DOTALL
    )
    return [
        (text[: block.start()], block[1] or re.sub("^ {4}", "", block[2], flags=re.M))
        for block in pattern.finditer(text)
    ]


def tables(text: str) -> list[list[list[str]]]:
    """Rows of cells of every table; the line under the header is left out."""
    found = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    rows = [[re.split(r"(?<!\\)\|", line.strip("|")) for line in table.splitlines()] for table in found]
    return [[[cell.strip() for cell in row] for n, row in enumerate(table) if n != 1] for table in rows]


def quoted(cell: str) -> list[str]:
    return re.findall("`([^`]+)`", cell)


def options(group: str) -> set[str]:
    return {path.stem for path in (CONF / group).glob("*.yaml")} | (set(languages()) if group == "lang" else set())


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder on the import path with the files of the docs' examples; its `conf` is searched by Hydra."""
    folder = tmp_path_factory.mktemp("own")
    for text in PAGES.values():
        for before, block in blocks(text):
            if "_target_:" in block:
                name = re.findall(r"conf/(\w+/\w+\.yaml)", before + block.splitlines()[0])[-1]
                (folder / "conf" / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / "conf" / name).write_text(block, "utf-8")
            elif "import numpy" in block:
                name = re.findall(r"the file `(\w+\.py)`", before)[-1]
                (folder / name).write_text(block, "utf-8")
    register()
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield folder
    sys.path.remove(str(folder))


def composed(own: Path, script: str, *overrides: str, choices: bool = False) -> DictConfig:
    """The script's config; with `choices` also Hydra's part of it, which says what was chosen for each group."""
    overrides = (f"hydra.searchpath=[file://{own}/conf]", *overrides)
    return compose(script, list(overrides), return_hydra_config=choices)


def value_of(config: DictConfig, key: str) -> str:
    """A key's value, or the option chosen for a group, as the docs write it."""
    value = config.hydra.runtime.choices[key] if key in GROUPS else OmegaConf.select(config, key, throw_on_missing=True)
    return written(str(value))


def written(value: str) -> str:
    try:
        return str(float(value))
    except ValueError:
        return value.lower()


@pytest.mark.parametrize(("script", "arguments"), commands(), ids=lambda value: str(value) or "-")
def test_commands_compose(own: Path, script: str, arguments: str) -> None:
    """With the first value of each sweep; `…` stands for a path that the reader knows."""
    words = [word.replace("…", "x") for word in shlex.split(arguments) if word != "…"]
    if {"--help", "--cfg"} & set(words):
        return
    overrides = []
    for override in OverridesParser.create().parse_overrides([word for word in words if word != "-m"]):
        values = list(override.sweep_string_iterator()) if override.is_sweep_override() else []
        assert not values or "-m" in words, "values behind commas need -m"
        if (group := override.key_or_group) in GROUPS:
            known = options(group) | {path.stem for path in own.glob(f"conf/{group}/*.yaml")}
            assert set(values) <= known
        overrides.append(f"{override.key_or_group}={values[0]}" if values else override.input_line)
    config = composed(own, script, *overrides)
    if script == "evaluate":
        evaluation_of(config)
    else:
        chosen = [override.removeprefix("strategy=") for override in overrides if override.startswith("strategy=")]
        settings_of(config, (chosen or ["umt_loss"])[-1])


def test_commands_are_found() -> None:
    assert ("train", "-m lang=tur strategy=umt_loss size=128,512,2048") in commands()
    assert {script for script, _ in commands()} == {"train", "select", "evaluate"}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", PAGES[page])
    missing = [link for link in links if not (ROOT / page).parent.joinpath(link).exists()]
    assert missing == []


def test_pages_that_are_named_exist() -> None:
    texts = [*PAGES.values(), *(path.read_text("utf-8") for path in CONF.rglob("*.yaml"))]
    texts += [path.read_text("utf-8") for path in ROOT.glob("inflect/**/*.py")]
    named = {name for text in texts for name in re.findall(r"\bdocs/[\w/-]+\.\w+", text)}
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_files_that_are_named_exist() -> None:
    named = {
        name for text in PAGES.values() for name in re.findall(r"`((?:inflect|tests|conf|benchmarks)/[\w/.]+)`", text)
    }
    examples = {"conf/strategy/middle_loss.yaml", "conf/corruption/shuffle.yaml"}
    assert {name for name in named - examples if not (ROOT / name).exists()} == set()


def test_the_house_is_whole() -> None:
    """The picture in docs/architecture.md has every module."""
    picture = PAGES["docs/architecture.md"].split("```")[1]
    modules = {path.name for path in ROOT.glob("inflect/**/*.py") if path.name != "__init__.py"}
    assert set(re.findall(r"\w+\.py", picture)) == modules | {
        "train.py",
        "select.py",
        "evaluate.py",
        "stacked_launcher.py",
    }


@pytest.mark.parametrize("page", PAGES)
def test_options_that_are_named_exist(page: str) -> None:
    named = re.findall(r"\b(\w+)=(\w+)", " ".join(re.findall(r"`[^`\n]+`", PAGES[page])))
    unknown = {(group, name) for group, name in named if group in GROUPS and name not in options(group)}
    assert unknown <= {("wandb", "disabled")}


@pytest.mark.parametrize("group", ["strategy", "uncertainty", "experiment", "split"])
def test_a_table_lists_every_option(group: str) -> None:
    rows = [row[0] for text in PAGES.values() for table in tables(text) for row in table]
    whole = {name for cell in rows for name in re.findall(rf"`{group}=(\w+)`", cell)}
    headed = [table for text in PAGES.values() for table in tables(text) if table[0][0] == f"`{group}=`"]
    listed = whole | {name for table in headed for row in table[1:] for name in quoted(row[0])}
    assert listed == options(group)


def test_defaults_in_tables(own: Path) -> None:
    config = composed(own, "train", choices=True)
    seen = 0
    for text in PAGES.values():
        for header, *rows in tables(text):
            if header[:2] == ["key", "default"]:
                for row in rows:
                    keys, values = quoted(row[0]), [written(value) for value in row[1].split(", ")]
                    assert [value_of(config, key) for key in keys] == values
                    seen += len(keys)
    assert seen > 30


@pytest.mark.parametrize("experiment", ["paper", "authors_code"])
def test_switches_of_the_experiments(own: Path, experiment: str) -> None:
    """The table in docs/experiments.md says what `experiment=` sets, and that a key on the command line wins."""
    [(header, *rows)] = [table for table in tables(PAGES["docs/experiments.md"]) if "key" in table[0]]
    column = header.index(f"`{experiment}`")
    said = {quoted(row[header.index("key")])[0]: quoted(row[column])[0] for row in rows}
    config = composed(own, "train", f"experiment={experiment}", choices=True)
    assert {key: value_of(config, key) for key in said} == said
    overrides = ("split=as_given", "pool.msd=resplit", "renew_shares=false")
    config = composed(own, "train", f"experiment={experiment}", *overrides, choices=True)
    assert [value_of(config, key) for key in ("split", "pool.msd", "renew_shares")] == ["as_given", "resplit", "false"]


def test_the_example_strategy(own: Path) -> None:
    config = composed(own, "train", "strategy=middle_loss", "strategy.skip=0.2")
    strategy = settings_of(config, "middle_loss").strategy
    assert isinstance(strategy, Strategy)
    assert strategy.needs_uncertainty
    gold = Artificial("x", "x", gold_rows=20).load(DataSettings()).gold
    pool = make_pool(gold, instantiate(config.corruption), PoolSettings(size=50))
    uncertainty = np.random.default_rng(0).permutation(50).astype(float)
    rows = strategy.select(pool, 5, np.random.default_rng(0), uncertainty=uncertainty)
    assert uncertainty[rows].tolist() == [39, 38, 37, 36, 35]


def test_the_example_corruption(own: Path) -> None:
    corruption = instantiate(composed(own, "train", "corruption=shuffle").corruption)
    corpus = Artificial("x", "x", gold_rows=20).load(DataSettings())
    pool = make_pool(corpus.gold, corruption, PoolSettings(size=50))
    parents = corpus.gold.loc[pool["parent"]]
    for column in ("lemma", "form"):
        assert [sorted(word) for word in pool[column]] == [sorted(word) for word in parents[column]]
    assert (pool["lemma"].to_numpy() != parents["lemma"].to_numpy()).mean() > 0.5
    summary = describe_pool(pool, corpus.gold, corpus.test, corruption)
    assert (summary.size, summary.gold) == (50, 20)
