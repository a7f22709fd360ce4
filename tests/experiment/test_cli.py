"""The three scripts as a user runs them, from the repository's root: what they make, print and refuse.

Sweeps and one run of each script are real subprocesses. The many short runs are forked from a process that has
imported torch already, which saves seconds each; their arguments, streams and exit status are as real.
"""

import json
import math
import multiprocessing
import os
import runpy
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from inflect.data.triples import read_triples, triples_table, write_triples

ROOT = Path(__file__).parents[2]
LIMIT = 120  # seconds

FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload(["inflect.experiment.pipeline", "inflect.experiment.commands"])

TINY = (
    "model=small",
    "model.layers=1",
    "model.width=16",
    "model.feed_forward=16",
    "model.heads=2",
    "optim.warmup=2",
    "optim.lr=0.01",
    "trainer.max_steps=6",
    "trainer.val_interval=3",
    "trainer.precision=fp32",
    "pool.size=60",
    "size=8",
    "test.limit=10",
    "test.beam=2",
    "wandb.mode=disabled",
)
ARTIFICIAL = ("lang=artificial", "lang.gold_rows=20", "lang.dev_rows=12", "lang.test_rows=30")


@dataclass(frozen=True)
class Result:
    """How a script ended."""

    status: int
    out: str
    err: str


def environment(**more: str) -> dict[str, str]:
    """This process's, with one thread and nobody logged in at W&B."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WANDB", "HYDRA"))}
    return {**kept, "OMP_NUM_THREADS": "1", **more}


def subprocess_of(script: str, *arguments: str) -> Result:
    command = [sys.executable, script, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=LIMIT)
    return Result(done.returncode, done.stdout, done.stderr)


def forked(folder: Path, script: str, *arguments: str, **more: str) -> Result:
    """The script in a process that has its imports behind it; `folder` gets its streams."""
    folder.mkdir(parents=True, exist_ok=True)
    process = FORKED.Process(target=_run, args=(script, arguments, str(folder), environment(**more)))
    process.start()
    process.join(LIMIT)
    assert process.exitcode is not None, f"{script} is still running after {LIMIT} s"
    return Result(process.exitcode, (folder / "out").read_text("utf-8"), (folder / "err").read_text("utf-8"))


def _run(script: str, arguments: Sequence[str], folder: str, variables: dict[str, str]) -> None:
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)  # noqa: PTH118
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(ROOT)
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(ROOT))
    runpy.run_path(script, run_name="__main__")


def places(folder: Path) -> list[str]:
    """Overrides that keep everything a script writes below `folder`."""
    return [
        f"hydra.run.dir={folder}/job",
        f"hydra.sweep.dir={folder}/sweep",
        f"store.root={folder}/store",
        f"wandb.dir={folder}/wandb",
    ]


def train(folder: Path, *overrides: str, **more: str) -> Result:
    return forked(folder, "train.py", *TINY, *places(folder), *overrides, **more)


def evaluate(folder: Path, store: Path, *overrides: str) -> Result:
    where = [f"hydra.run.dir={folder}/job", f"store.root={store}"]
    return forked(folder, "evaluate.py", *where, *overrides)


def well(result: Result) -> Result:
    assert result.status == 0, result.err or result.out
    return result


def records(folder: Path) -> list[dict[str, Any]]:
    """Of a sweep's jobs, in their order."""
    paths = sorted(folder.glob("*/result.json"), key=lambda path: int(path.parent.name.partition("-")[0]))
    return [json.loads(path.read_text("utf-8")) for path in paths]


def made(store: Path) -> list[Path]:
    """Everything in a store but its empty folders."""
    return sorted(path.relative_to(store) for path in store.rglob("*") if path.is_file()) if store.exists() else []


SIZES = (8, 16, 32)
SWEEP = ("-m", *TINY, *ARTIFICIAL, "strategy=umt_loss", "size=8,16,32")


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """The sweep that the README begins with, in two processes."""
    folder = tmp_path_factory.mktemp("stacked")
    return folder, well(subprocess_of("train.py", *SWEEP, "stack.processes=2", *places(folder)))


@pytest.fixture(scope="module")
def checkpoint(sweep: tuple[Path, Result]) -> Path:
    return Path(records(sweep[0] / "sweep")[0]["checkpoint"])


def test_a_sweep_makes_a_folder_for_each_job(sweep: tuple[Path, Result]) -> None:
    folder = sweep[0] / "sweep"
    assert [found["size"] for found in records(folder)] == list(SIZES)
    for number, size in enumerate(SIZES):
        job = folder / f"{number}-artificial-umt_loss-{size}-s0"
        assert {"result.json", "train.log", ".hydra"} == {path.name for path in job.iterdir()}
        assert f"size: {size}\n" in (job / ".hydra" / "config.yaml").read_text("utf-8")
        log = (job / "train.log").read_text("utf-8")
        assert f"artificial-umt_loss-{size}-s0" in log
        assert "pool of artificial: 60 triples" in log


def test_a_sweep_trains_one_base_model_and_makes_one_pool(sweep: tuple[Path, Result]) -> None:
    store = sweep[0] / "store"
    count = {kind.name: len(list(kind.iterdir())) for kind in store.iterdir()}
    assert count == {"pool": 1, "uncertainty": 1, "subset": 3, "model": 4, "result": 4}


def test_a_sweep_ends_with_a_table_and_the_next_command(sweep: tuple[Path, Result]) -> None:
    folder, result = sweep
    assert result.err == ""
    head, *rows = result.out[result.out.index("lang strategy") :].split("\n\n")[0].splitlines()
    assert head.split()[:4] == ["lang", "strategy", "size", "seeds"]
    assert [row.split()[1:3] for row in rows] == [["none", "0"], *(["umt_loss", str(size)] for size in SIZES)]
    last = result.out.rstrip().splitlines()[-1]
    assert last == f"next: python evaluate.py store.root={folder}/store"


@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_hydras_own_launchers_give_the_same_numbers(launcher: str, sweep: tuple[Path, Result], tmp_path: Path) -> None:
    overrides = (*SWEEP[:-1], "size=8,16", f"hydra/launcher={launcher}", "stack.processes=1", *places(tmp_path))
    if launcher == "joblib":
        pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
        well(subprocess_of("train.py", *overrides, "hydra.launcher.n_jobs=2"))
    else:
        well(forked(tmp_path, "train.py", *overrides))
    here, there = records(tmp_path / "sweep"), records(sweep[0] / "sweep")[:2]
    assert len(here) == 2
    for mine, stacked in zip(here, there, strict=True):
        assert mine["sha256"] == stacked["sha256"]
        assert mine["dev"]["loss"] == pytest.approx(stacked["dev"]["loss"], rel=1e-3)
        assert mine["test"]["accuracy"] == pytest.approx(stacked["test"]["accuracy"])


def test_a_single_run(sweep: tuple[Path, Result], tmp_path: Path) -> None:
    """It finds in the store what a sweep has made."""
    overrides = (*TINY, *ARTIFICIAL, f"store.root={sweep[0]}/store", f"hydra.run.dir={tmp_path}/job")
    result = well(forked(tmp_path, "train.py", *overrides))
    assert "artificial-umt_loss-8-s0: finished before (rerun=true runs it again)" in result.out
    assert {"result.json", "train.log", ".hydra"} == {path.name for path in (tmp_path / "job").iterdir()}
    found = json.loads((tmp_path / "job" / "result.json").read_text("utf-8"))
    assert found == records(sweep[0] / "sweep")[0]


def test_select_writes_the_subset_and_compares(sweep: tuple[Path, Result], tmp_path: Path) -> None:
    output = tmp_path / "subset.tsv"
    where = (f"store.root={sweep[0]}/store", f"hydra.run.dir={tmp_path}/job", f"output={output}")
    result = well(subprocess_of("select.py", *TINY, *ARTIFICIAL, "strategy=umt_loss", "size=16", *where))
    subset = read_triples(output)
    assert len(subset) == 16
    (path,) = (sweep[0] / "store" / "pool").glob("*/pool.tsv")
    pool = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False, quoting=3)
    columns = ["lemma", "form", "msd"]
    rows = set(pool[columns].itertuples(index=False, name=None))
    assert set(subset.itertuples(index=False, name=None)) <= rows
    for said in ("pool", "subset", "MSDs", "edits of the form", "uncertainty", str(output)):
        assert said in result.out
    trained = [kind for kind in (sweep[0] / "store").iterdir() if kind.name == "model"]
    assert len(list(trained[0].iterdir())) == 4  # the sweep's, no more


def test_select_without_a_base_model_trains_none(tmp_path: Path) -> None:
    overrides = (*TINY, *ARTIFICIAL, "strategy=umt", *places(tmp_path), f"output={tmp_path}/subset.tsv")
    result = well(forked(tmp_path, "select.py", *overrides))
    assert "uncertainty" not in result.out
    assert len(read_triples(tmp_path / "subset.tsv")) == 8
    assert not (tmp_path / "store" / "model").exists()


def test_evaluate_prints_the_table_of_a_store(sweep: tuple[Path, Result], tmp_path: Path) -> None:
    result = well(evaluate(tmp_path, sweep[0] / "store"))
    table = result.out[result.out.index("lang strategy") :].splitlines()[1:]
    assert [line.split()[1:4] for line in table if line] == [
        ["none", "0", "1"],
        *(["umt_loss", str(size), "1"] for size in SIZES),
    ]


def test_evaluate_inflects_a_file(checkpoint: Path, tmp_path: Path) -> None:
    words = [("kalem", "N;PL;ACC"), ("null", "N;SG;NOM"), ("ev", "N;SG;DAT"), ("ağaçlar", "N;PL;LOC"), ("a", "V")]
    source, output = tmp_path / "words.tsv", tmp_path / "forms.tsv"
    source.write_text("".join(f"{lemma}\t{msd}\n" for lemma, msd in words), "utf-8")
    where = (f"checkpoint={checkpoint}", f"input={source}", f"output={output}")
    result = well(evaluate(tmp_path, tmp_path / "none", *where))
    assert f"5 forms: {output}" in result.out
    lines = [line.split("\t") for line in output.read_text("utf-8").splitlines()]
    assert [(lemma, msd) for lemma, _, msd in lines] == words


def test_evaluate_compares_with_the_forms_of_a_file(checkpoint: Path, tmp_path: Path) -> None:
    source, output = tmp_path / "words.tsv", tmp_path / "forms.tsv"
    write_triples(triples_table([("kalem", "kalemler", "N;PL"), ("ev", "evler", "N;PL")]), source)
    where = (f"checkpoint={checkpoint}", f"input={source}", f"output={output}", "columns='lemma form msd'")
    assert f"0 of 2 as in {source}" in well(evaluate(tmp_path, tmp_path / "none", *where)).out


@pytest.mark.parametrize("script", ["train", "select", "evaluate"])
def test_help_says_what_can_be_varied(script: str, tmp_path: Path) -> None:
    result = well(forked(tmp_path, f"{script}.py", "--help"))
    assert result.err == ""
    assert f"python {script}.py" in result.out
    assert "store.root" in result.out or script == "select"
    for word in ("lang", "strategy", "size"):
        assert word in result.out


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files that are wrong, each in its way, and of two that are right."""
    folder = tmp_path_factory.mktemp("bad")
    (folder / "empty.tsv").write_text("")
    (folder / "blank.tsv").write_text("\n\n")
    (folder / "columns.tsv").write_text("kalem\tkalemler\tN;PL\n\nkitap\tN;PL\n")
    (folder / "field.tsv").write_text("kalem\t\tN;PL\n")
    (folder / "latin.tsv").write_bytes("kâğıt\tkâğıtlar\tN;PL\n".encode("cp1254"))
    (folder / "apart.tsv").write_text("go\twent\tV;PST\n")
    (folder / "right.tsv").write_text("kalem\tkalemler\tN;PL\nkitap\tkitaplar\tN;PL\n")
    (folder / "words.tsv").write_text("at\tN;PL\n")
    (folder / "garbage.pt").write_bytes(b"\x80no checkpoint")
    return folder


OWN = ("lang=own", "data.train={}/right.tsv", "data.dev={}/right.tsv", "data.test={}/right.tsv", "split=as_given")


def refused(result: Result, *said: str) -> None:
    """One line that says all of it, and a status that a shell sees."""
    assert result.status == 1, result
    assert "Traceback" not in result.out + result.err
    (line,) = result.err.splitlines()
    assert line.startswith("error: ")
    for part in said:
        assert part in line
    assert "error" not in result.out


BAD_INPUT = {
    "a language that does not exist": (["lang=turkisch"], ["lang=turkisch", "turkish", "tur"]),
    "a strategy that does not exist": (["strategy=umt_los"], ["strategy=umt_los", "umt_loss"]),
    "a strategy like no other": (["strategy=xyz"], ["strategy=xyz", "there are", "emt", "umt_loss"]),
    "an experiment that does not exist": (["experiment=papr"], ["experiment=papr", "paper"]),
    "a key that does not exist": (["trainer.steps=3"], ["trainer.steps", "trainer.max_steps"]),
    "a key like no other": (["xyz=3"], ["xyz: no such key", "--cfg job"]),
    "a key of another language": ([*OWN, "lang.cases=3"], ["lang.cases", "the lang that was chosen"]),
    "a key of another strategy": (["strategy=random", "strategy.alpha=1"], ["strategy.alpha", "was chosen"]),
    "text for a number": (["seed=abc"], ["seed=abc", "Integer"]),
    "a fraction for a whole number": (["size=1.5"], ["size=1.5", "Integer"]),
    "a list for a number in a single run": (["size=[8"], ["size=[8"]),
    "a key without a value": (["size"], ["size: not KEY=VALUE", "missing EQUAL"]),
    "no size": (["size=0"], ["size=0"]),
    "a size above the pool's": (["size=61"], ["size=61", "pool.size, which is 60"]),
    "theta above 1": (["corruption.theta=1.5"], ["corruption.theta=1.5", "0 to 1"]),
    "a beam of nothing": (["test.beam=0"], ["test.beam=0"]),
    "no updates": (["trainer.max_steps=0"], ["trainer.max_steps=0"]),
    "a W&B mode that does not exist": (["wandb.mode=maybe"], ["wandb.mode=maybe", "offline"]),
    "no files": (["lang=own"], ["lang=own", "data.train, data.dev, data.test"]),
    "a missing file": ([*OWN, "data.train={}/nowhere.tsv"], ["{}/nowhere.tsv", "No such file"]),
    "a folder for a file": ([*OWN, "data.train={}"], ["{}: ", "directory"]),
    "wrong columns": ([*OWN, "data.train={}/columns.tsv"], ["{}/columns.tsv:3: 2 tab-separated columns"]),
    "wrong columns in test": ([*OWN, "data.test={}/columns.tsv"], ["{}/columns.tsv:3: 2 tab-separated columns"]),
    "an empty field": ([*OWN, "data.dev={}/field.tsv"], ["{}/field.tsv:1: the form is empty"]),
    "another encoding": ([*OWN, "data.train={}/latin.tsv"], ["{}/latin.tsv:1: ", "UTF-8"]),
    "an empty file": ([*OWN, "data.train={}/empty.tsv"], ["{}/empty.tsv: the file has no triples"]),
    "a dev set without rows": ([*OWN, "data.dev={}/blank.tsv"], ["{}/blank.tsv: the file has no triples"]),
    "no gold triple to align": ([*OWN, "data.train={}/apart.tsv"], ["none of the 1 gold triples has a stem"]),
    "no unseen lexeme": ([*OWN, "split=paper"], ["split=paper", "split=as_given"]),
    "columns of another name": ([*OWN, "data.columns='lemma tags form'"], ["data.columns="]),
    "no folder of the shared task": (
        ["lang=tur", "data.root={}/right.tsv"],
        ["{}/right.tsv/task1/all/turkish-", "cannot read"],
    ),
    "a store inside a file": (["store.root={}/right.tsv/store"], ["store.root={}/right.tsv/store", "cannot write"]),
}


@pytest.mark.parametrize(("overrides", "said"), BAD_INPUT.values(), ids=BAD_INPUT)
def test_a_users_mistake_is_one_line(overrides: list[str], said: list[str], bad: Path, tmp_path: Path) -> None:
    given = [override.replace("{}", str(bad)) for override in overrides]
    result = train(tmp_path, *given)
    refused(result, *(part.replace("{}", str(bad)) for part in said))
    assert {path.parts[0] for path in made(tmp_path / "store")} <= {"pool"}  # which is whole, and found next time
    assert not (tmp_path / "job" / "result.json").exists()


def test_a_real_process_refuses_likewise(tmp_path: Path) -> None:
    refused(subprocess_of("train.py", *TINY, *places(tmp_path), "lang=turkisch"), "lang=turkisch", "turkish")


SWEEPS = {
    "a size of nothing among others": (["size=8,0"], ["size=0"]),
    "a language that does not exist": (["lang=artificial,turkisch"], ["lang=turkisch", "turkish"]),
    "a strategy that does not exist": (["strategy=random,umt_los"], ["strategy=umt_los", "umt_loss"]),
    "a key that does not exist": (["siz=8,16"], ["siz: no such key", "size"]),
    "a list that begins with nothing": (["size=,8"], ["size=,8: not KEY=VALUE", "extraneous input ','"]),
    "a store inside a file": (["size=8,16", "store.root={}/right.tsv/store"], ["store.root=", "cannot write"]),
}


@pytest.mark.parametrize(("overrides", "said"), SWEEPS.values(), ids=SWEEPS)
def test_a_sweep_with_a_mistake_starts_nothing(
    overrides: list[str], said: list[str], bad: Path, tmp_path: Path
) -> None:
    given = [override.replace("{}", str(bad)) for override in overrides]
    refused(forked(tmp_path, "train.py", "-m", *TINY, *places(tmp_path), *given), *said)
    assert made(tmp_path / "store") == []


def test_a_broken_file_stops_no_other_job_of_a_sweep(bad: Path, tmp_path: Path) -> None:
    data = f"data.train={bad}/right.tsv,{bad}/columns.tsv"
    subdir = "hydra.sweep.subdir=${hydra.job.num}"
    overrides = [override.replace("{}", str(bad)) for override in OWN if "train" not in override]
    given = ("-m", *TINY, *places(tmp_path), *overrides, data, subdir, "strategy=random", "stack.processes=1")
    result = forked(tmp_path, "train.py", *given)
    assert result.status == 1
    assert "Traceback" not in result.out + result.err
    first, last = result.err.splitlines()
    assert first.startswith(f"error: own-random-8-s0: {bad}/columns.tsv:3: ")
    assert last == "error: 1 of 2 runs failed: own-random-8-s0"
    assert (tmp_path / "sweep" / "0" / "result.json").is_file()
    assert not (tmp_path / "sweep" / "1" / "result.json").exists()
    assert "lang strategy" in result.out


def test_a_traceback_is_there_for_who_wants_it(tmp_path: Path) -> None:
    result = train(tmp_path, "size=0", HYDRA_FULL_ERROR="1")
    assert result.status == 1
    assert "Traceback" in result.err
    assert "UserError: size=0" in result.err


def test_the_jobs_log_has_the_mistake_too(bad: Path, tmp_path: Path) -> None:
    train(tmp_path, *(override.replace("{}", str(bad)) for override in (*OWN, "data.dev={}/empty.tsv")))
    assert f"error: {bad}/empty.tsv: the file has no triples" in (tmp_path / "job" / "train.log").read_text("utf-8")


def test_select_refuses_to_select_nothing(tmp_path: Path) -> None:
    output = tmp_path / "subset.tsv"
    result = forked(tmp_path, "select.py", *TINY, *places(tmp_path), "strategy=none", f"output={output}")
    refused(result, "strategy=none", "umt_loss")
    assert not output.exists()


def test_select_refuses_a_place_that_is_none(tmp_path: Path) -> None:
    output = tmp_path / "nowhere" / "subset.tsv"
    result = forked(tmp_path, "select.py", *TINY, *places(tmp_path), "strategy=random", f"output={output}")
    refused(result, f"output={output}")


EVALUATIONS = {
    "an empty store": ([], ["store.root=", "no finished run", "python train.py"]),
    "a missing checkpoint": (["checkpoint={}/nowhere.pt"], ["checkpoint={}/nowhere.pt", "no such file"]),
    "garbage for a checkpoint": (["checkpoint={}/garbage.pt"], ["checkpoint={}/garbage.pt"]),
    "words for a checkpoint": (["checkpoint={}/words.tsv"], ["checkpoint={}/words.tsv"]),
    "a folder for a checkpoint": (["checkpoint={}"], ["checkpoint={}"]),
    "a missing input": (["checkpoint=MODEL", "input={}/nowhere.tsv"], ["{}/nowhere.tsv", "No such file"]),
    "wrong columns": (["checkpoint=MODEL", "input={}/right.tsv"], ["{}/right.tsv:1: 3 tab-separated columns"]),
    "an empty input": (["checkpoint=MODEL", "input={}/empty.tsv"], ["{}/empty.tsv: the file has no triples"]),
    "no output": (["checkpoint=MODEL", "output="], ["output=…: missing"]),
    "an output that is no place": (["checkpoint=MODEL", "output={}/nowhere/o.tsv"], ["output={}/nowhere/o.tsv"]),
    "a key that does not exist": (["checkpont=MODEL"], ["checkpont: no such key", "checkpoint"]),
    "a beam of nothing": (["checkpoint=MODEL", "beam=0"], ["beam=0"]),
}


@pytest.mark.parametrize(
    ("overrides", "said"),
    [pytest.param(*case, id=name) for name, case in EVALUATIONS.items()],
)
def test_evaluate_refuses_in_one_line(
    overrides: list[str], said: list[str], bad: Path, checkpoint: Path, tmp_path: Path
) -> None:
    output = tmp_path / "forms.tsv"
    usual = ["input={}/words.tsv", f"output={output}"] if overrides else []
    given = [each.replace("{}", str(bad)).replace("MODEL", str(checkpoint)) for each in (*usual, *overrides)]
    refused(evaluate(tmp_path, tmp_path / "store", *given), *(part.replace("{}", str(bad)) for part in said))
    assert not output.exists()


def test_numbers_in_a_record_are_json(sweep: tuple[Path, Result]) -> None:
    """No NaN or Infinity, which only Python reads."""
    for path in (sweep[0] / "sweep").glob("*/result.json"):

        def refuse(name: str) -> float:
            raise AssertionError(name)

        found = json.loads(path.read_text("utf-8"), parse_constant=refuse)
        assert math.isfinite(found["dev"]["loss"])
