"""The pipeline in one process, with tiny models: what is made, shared, recorded and reported."""

import functools
import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hydra import compose, initialize_config_dir
from omegaconf import open_dict

from inflect.data.batches import encode
from inflect.data.datamodule import EveryRow
from inflect.data.symbols import UNKNOWN, Symbols
from inflect.data.triples import read_triples, sha256, triples_table, write_triples
from inflect.errors import UserError
from inflect.experiment import pipeline
from inflect.experiment.pipeline import Outcome
from inflect.experiment.settings import Settings, register, settings_of
from inflect.experiment.training import predicted
from inflect.model.checkpoint import Checkpoint
from inflect.model.metrics import MemberMean

CONF = Path(__file__).parents[2] / "conf"

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
    "stack.processes=1",
    "wandb.mode=disabled",
)
ARTIFICIAL = ("lang=artificial", "lang.gold_rows=20", "lang.dev_rows=12", "lang.test_rows=30")

Row = tuple[str, str, str]


@pytest.fixture(scope="module", autouse=True)
def conf() -> Iterator[None]:
    register()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield


@functools.cache
def composed(*overrides: str) -> Settings:
    config = compose("train", overrides=[*TINY, *overrides], return_hydra_config=True)
    strategy = config.hydra.runtime.choices["strategy"]
    with open_dict(config):
        del config["hydra"]
    return settings_of(config, strategy)


def job(root: Path, *overrides: str) -> Settings:
    """A run of the built-in language with its store at `root`."""
    return stored(root, composed(*ARTIFICIAL, *overrides))


def stored(root: Path, settings: Settings) -> Settings:
    return replace(settings, store=replace(settings.store, root=str(root)))


def own_files(folder: Path, gold: Sequence[Row], dev: Sequence[Row], test: Sequence[Row]) -> list[str]:
    """Overrides for a language of these triples, written to files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("train", gold), ("dev", dev), ("test", test)):
        write_triples(triples_table(rows), folder / f"{name}.tsv")
    return ["lang=own", *(f"data.{name}={folder / f'{name}.tsv'}" for name in ("train", "dev", "test"))]


def own_job(root: Path, files: Sequence[str], *overrides: str) -> Settings:
    return stored(root, composed(*files, *overrides))


def done(jobs: Sequence[Settings]) -> list[Outcome]:
    outcomes = pipeline.run(jobs)
    assert [outcome.error for outcome in outcomes] == [""] * len(jobs)
    return outcomes


def record(outcome: Outcome) -> dict[str, Any]:
    assert outcome.folder is not None
    return json.loads((outcome.folder / "result.json").read_text("utf-8"))


def predictions(outcome: Outcome) -> pd.DataFrame:
    """The predictions as text, by row id."""
    path = record(outcome)["predictions"]
    return pd.read_csv(path, dtype=str, keep_default_na=False).set_index("row")


def folders(root: Path, kind: str) -> set[str]:
    return {path.name for path in (root / kind).iterdir()}


SWEEP = (("umt_loss", 8), ("umt_loss", 16), ("random", 8), ("high_loss", 8), ("none", 0))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sweep") / "store"


@pytest.fixture(scope="module")
def sweep(root: Path) -> dict[tuple[str, int], Outcome]:
    outcomes = done([job(root, f"strategy={strategy}", f"size={size}") for strategy, size in SWEEP])
    return dict(zip(SWEEP, outcomes, strict=True))


def test_a_record_says_everything_that_is_promised(root: Path, sweep: dict[tuple[str, int], Outcome]) -> None:
    found = record(sweep["umt_loss", 8])
    said = {name: found[name] for name in ("lang", "strategy", "size", "seed", "experiment", "updates")}
    assert said == {
        "lang": "artificial",
        "strategy": "umt_loss",
        "size": 8,
        "seed": 0,
        "experiment": "paper",
        "updates": 6,
    }
    assert {"loss", "accuracy", "update"} <= found["dev"].keys()
    assert found["dev"]["update"] in (3, 6)
    assert {"rows", "accuracy", "accuracy_msd_seen", "accuracy_msd_unseen", "edit_distance"} <= found["test"].keys()
    assert {"data", "pool", "subset", "config"} <= found["sha256"].keys()
    assert all(len(value) == 64 for value in found["sha256"].values())
    assert {"inflect", "torch", "python"} <= found["versions"].keys()
    assert found["wall_seconds"] > 0
    assert found["rows_train"] == 20 + 8
    assert Path(found["predictions"]).is_file()
    assert Path(found["checkpoint"]).is_file()


def test_a_record_adds_up_to_its_predictions(sweep: dict[tuple[str, int], Outcome]) -> None:
    for outcome in sweep.values():
        test, rows = record(outcome)["test"], predictions(outcome)
        correct = rows["prediction"] == rows["form"]
        assert (rows["correct"] == correct.map(str)).all()
        assert test["rows"] == len(rows) == 10
        assert test["accuracy"] == pytest.approx(correct.mean())
        seen = rows["msd_seen"] == "True"
        parts = {"accuracy_msd_seen": correct[seen], "accuracy_msd_unseen": correct[~seen]}
        for name, part in parts.items():
            assert test[name] == (pytest.approx(part.mean()) if len(part) else None)
        assert test["edit_distance"] == pytest.approx(rows["edit_distance"].astype(int).mean())
        assert test["rows_unknown"] == (rows["unknown"] == "True").sum()


def test_hashes_are_those_of_the_files(root: Path, sweep: dict[tuple[str, int], Outcome]) -> None:
    found = {key: record(outcome)["sha256"] for key, outcome in sweep.items()}
    (pool,) = (root / "pool").glob("*/pool.tsv")
    assert found["umt_loss", 8]["pool"] == hashlib.sha256(pool.read_bytes()).hexdigest()
    subsets = {sha256(read_triples(path)) for path in (root / "subset").glob("*/subset.tsv")}
    assert subsets == {each["subset"] for key, each in found.items() if key != ("none", 0)}
    assert found["none", 0]["pool"] is None
    assert found["none", 0]["subset"] == hashlib.sha256(b"").hexdigest()
    assert len({each["data"] for each in found.values()}) == 1
    assert len({each["config"] for each in found.values()}) == len(SWEEP)


def test_what_runs_share_is_made_once(root: Path, sweep: dict[tuple[str, int], Outcome]) -> None:
    assert len(folders(root, "pool")) == 1
    assert len(folders(root, "uncertainty")) == 1
    assert len(folders(root, "subset")) == 4
    assert len(folders(root, "model")) == len(folders(root, "result")) == 5


def test_the_base_model_is_the_run_without_selection(sweep: dict[tuple[str, int], Outcome]) -> None:
    none = sweep["none", 0].folder
    bases = {key: outcome.base for key, outcome in sweep.items()}
    assert bases == {
        ("umt_loss", 8): none,
        ("umt_loss", 16): none,
        ("high_loss", 8): none,
        ("random", 8): None,
        ("none", 0): None,
    }


def test_a_larger_subset_begins_with_the_smaller_one(root: Path, sweep: dict[tuple[str, int], Outcome]) -> None:
    small, large = (pipeline.select(job(root, "strategy=umt_loss", f"size={size}")).rows for size in (8, 16))
    np.testing.assert_array_equal(large[:8], small)


def test_a_subset_is_of_the_pool_and_by_uncertainty(root: Path, sweep: dict[tuple[str, int], Outcome]) -> None:
    chosen = pipeline.select(job(root, "strategy=high_loss", "size=8"))
    assert chosen.uncertainty is not None
    highest = chosen.pool.index[np.argsort(-chosen.uncertainty, kind="stable")[:8]]
    np.testing.assert_array_equal(chosen.rows, highest)


def test_nothing_half_written_is_left(root: Path, sweep: dict[tuple[str, int], Outcome]) -> None:
    assert list(root.rglob(".*")) == []


def test_a_finished_run_is_not_run_again(root: Path, sweep: dict[tuple[str, int], Outcome]) -> None:
    def state() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in sorted(root.rglob("*")) if path.is_file()}

    before = state()
    outcomes = done([job(root, "strategy=umt_loss", "size=8"), job(root, "strategy=none")])
    assert [outcome.folder for outcome in outcomes] == [sweep["umt_loss", 8].folder, sweep["none", 0].folder]
    assert state() == before


def numbers(outcome: Outcome) -> dict[str, Any]:
    found = record(outcome)
    return {name: found[name] for name in ("dev", "test", "sha256", "config", "rows_train")}


def test_rerun_runs_again_and_gives_the_same_numbers(tmp_path: Path) -> None:
    (first,) = done([job(tmp_path, "strategy=random")])
    before, weights = numbers(first), Path(record(first)["checkpoint"])
    written, loaded = weights.stat().st_mtime_ns, Checkpoint.load(weights).weights
    (again,) = done([job(tmp_path, "strategy=random", "rerun=true")])
    assert again.folder == first.folder
    assert numbers(again) == before
    assert weights.stat().st_mtime_ns > written
    torch.testing.assert_close(Checkpoint.load(weights).weights, loaded, rtol=0, atol=0)


@pytest.mark.parametrize("members", [1, 2])
def test_neither_order_nor_company_changes_a_result(
    members: int, tmp_path: Path, sweep: dict[tuple[str, int], Outcome]
) -> None:
    turned = SWEEP[::-1]
    jobs = [job(tmp_path, f"strategy={name}", f"size={size}", f"stack.members={members}") for name, size in turned]
    for key, outcome in zip(turned, done(jobs), strict=True):
        before, after = record(sweep[key]), record(outcome)
        assert after["sha256"] == before["sha256"]
        assert after["dev"]["loss"] == pytest.approx(before["dev"]["loss"], rel=1e-3)
        assert after["dev"]["update"] == before["dev"]["update"]
        assert after["stack_members"] <= members


def test_the_same_rows_are_the_same_model_whatever_selected_them(tmp_path: Path) -> None:
    """Strategies are compared with common random numbers: a difference in results is one of rows."""
    jobs = [job(tmp_path, "strategy=umt_loss"), job(tmp_path, "strategy=emt_loss", "strategy.alpha=0")]
    umt, emt = done(jobs)
    assert umt.folder != emt.folder
    assert record(umt)["strategy"] != record(emt)["strategy"]
    assert record(umt)["checkpoint"] == record(emt)["checkpoint"]
    assert record(umt)["test"] == record(emt)["test"]
    assert len(folders(tmp_path, "model")) == len(["base", "both"])


def test_seeds_share_the_pool_and_nothing_else(tmp_path: Path) -> None:
    jobs = [job(tmp_path, "strategy=high_loss", "size=8", f"seed={seed}") for seed in (0, 1)]
    done(jobs)
    first, second = (pipeline.select(each) for each in jobs)
    assert first.pool_folder == second.pool_folder
    assert first.uncertainty is not None
    assert second.uncertainty is not None
    assert not np.allclose(first.uncertainty, second.uncertainty)
    assert len(folders(tmp_path, "model")) == 4


def test_the_same_seed_selects_the_same_rows_in_another_store(tmp_path: Path) -> None:
    jobs = [job(tmp_path / name, "strategy=random", "size=8", "seed=5") for name in ("here", "there")]
    here, there = (pipeline.select(each).rows for each in jobs)
    np.testing.assert_array_equal(here, there)


def test_a_run_that_fails_stops_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    broken = tmp_path / "broken.tsv"
    broken.write_text("lemma\tform\tN\nlemma\tform\n", "utf-8")
    store = tmp_path / "store"
    bad = [job(store, f"strategy={name}", "size=8", f"data.train={broken}") for name in ("umt", "umt_loss", "none")]
    good = job(store, "strategy=random", "size=8")
    with caplog.at_level(logging.INFO):
        outcomes = pipeline.run([bad[0], good, *bad[1:]])
    assert [bool(outcome.error) for outcome in outcomes] == [True, False, True, True]
    assert outcomes[0].error.startswith(f"{broken}:2: ")
    said = [entry.getMessage() for entry in caplog.records if entry.levelno >= logging.ERROR]
    assert said == [f"error: {bad[0].name}: {outcomes[0].error}"]
    assert len(folders(store, "result")) == 1


def test_a_stack_that_breaks_is_reported_and_stops_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Out of memory, say: not a user's mistake, so the log has the traceback."""
    from inflect.experiment import engines

    real = engines.run_stack

    def breaks(tasks: Any, store: Any) -> None:
        if tasks[0].settings.seed == 1:
            raise MemoryError("no more")
        real(tasks, store)

    monkeypatch.setattr(engines, "run_stack", breaks)
    jobs = [job(tmp_path, "strategy=umt_loss", "size=8", f"seed={seed}", "stack.members=1") for seed in (0, 1)]
    well, broken = pipeline.run(jobs)
    assert well.error == ""
    assert broken.error == "MemoryError: no more"
    assert broken.folder is None
    assert broken.base is None
    (said,) = [entry for entry in caplog.records if entry.levelno >= logging.ERROR]
    assert "artificial-none-0-s1" in said.getMessage()
    assert said.exc_info


def test_an_unwritable_store_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"^store\.root=.*file/store: cannot write"):
        pipeline.run([job(tmp_path / "file" / "store")])


def test_a_pool_that_cannot_be_made_is_said_before_anything_is_trained(tmp_path: Path) -> None:
    files = own_files(tmp_path / "data", [("ab", "cd", "N")], [("ab", "cd", "N")], [("ef", "gh", "N")])
    (outcome,) = pipeline.run([own_job(tmp_path / "store", files, "strategy=umt_loss", "size=8")])
    assert "none of the 1 gold triples has a stem" in outcome.error
    assert [path for path in (tmp_path / "store").rglob("*") if path.is_file()] == []


WORDS = (
    ("kitap", "kitaplar", "N;PL"),
    ("kalem", "kalemler", "N;PL"),
    ("defter", "defterde", "N;LOC"),
    ("masalar", "masalarda", "N;LOC"),
)
OTHERS = (("duvar", "duvarlar", "N;PL"), ("perde", "perdede", "N;LOC"), ("halat", "halatta", "N;LOC"))


def test_permuting_the_test_file_leaves_everything_as_it_was(tmp_path: Path) -> None:
    """Case 11: a prediction is its row's, whatever the order."""
    test = [(f"{lemma}{letter}", f"{form}{letter}", msd) for lemma, form, msd in WORDS for letter in "abiklmo"]
    turned = [test[index] for index in np.random.default_rng(0).permutation(len(test))]
    everything = ("strategy=none", "test.limit=null", "trainer.max_steps=20")
    jobs = [
        own_job(tmp_path / name, own_files(tmp_path / name, WORDS, OTHERS, rows), *everything)
        for name, rows in (("straight", test), ("turned", turned))
    ]
    straight, turned_round = done(jobs)
    columns = ["lemma", "form", "msd"]
    for outcome, rows in ((straight, test), (turned_round, turned)):
        table = predictions(outcome)
        assert list(table.index) == [str(number) for number in range(len(test))]
        assert list(table[columns].itertuples(index=False, name=None)) == rows
    assert record(straight)["test"] == pytest.approx(record(turned_round)["test"])
    first, second = (predictions(outcome).set_index(columns)["prediction"] for outcome in (straight, turned_round))
    assert first.sort_index().equals(second.sort_index())


def test_a_limit_keeps_row_ids_and_is_the_same_for_every_run(tmp_path: Path) -> None:
    whole = pipeline.test_of(job(tmp_path, "test.limit=null"))
    sampled = [pipeline.test_of(job(tmp_path, "test.limit=7", f"seed={seed}")) for seed in (0, 1)]
    assert len(sampled[0]) == 7
    pd.testing.assert_frame_equal(sampled[0], sampled[1])
    pd.testing.assert_frame_equal(sampled[0], whole.loc[sampled[0].index])
    assert pipeline.test_of(job(tmp_path, "test.limit=99999")).equals(whole)


def test_accuracy_is_sum_over_sum() -> None:
    """Case 8: five rows in batches of four, the last one wrong, are 0.8 (a mean of batches would say 0.5)."""
    table = triples_table([("a" * length, "a" * length, "N") for length in range(1, 6)])
    symbols = Symbols.of(table)
    encoded = encode(table, symbols)
    metric, batches = MemberMean(1), 0
    for batch in EveryRow([encoded], size=4):
        right = batch.rows.ge(0) & batch.rows.ne(4)
        metric.update(right.sum(dim=1), batch.rows.ge(0).sum(dim=1))
        batches += 1
    assert batches == 2
    assert metric.compute().view(-1).tolist() == [0.8]


def test_predictions_are_counted_by_row() -> None:
    table = triples_table([("a" * length, "a" * length, "N") for length in range(1, 6)])
    symbols = Symbols.of(table)
    hypotheses = [(symbols.target(form)[:-1], 0.0) for form in [*table["form"][:4], "aa"]]
    found = predicted(table, hypotheses, symbols, {"N"})
    assert found["correct"].tolist() == [True] * 4 + [False]
    assert found["correct"].mean() == 0.8
    assert found["edit_distance"].tolist() == [0, 0, 0, 0, 3]


def test_the_vocabulary_is_that_of_the_training_triples(tmp_path: Path) -> None:
    """Case 7: dev and test add nothing; rows with an unknown symbol are wrong, and counted."""
    test = [("duvar", "duvarlar", "N;PL"), ("duvaŗ", "duvaŗlar", "N;PL"), ("kale", "kaleler", "N;DU"), *WORDS[:2]]
    files = own_files(tmp_path / "data", WORDS, [("ŵada", "ŵadalar", "V;PL")], test)
    (outcome,) = done([own_job(tmp_path / "store", files, "strategy=none", "split=as_given", "test.limit=null")])
    symbols = Checkpoint.load(Path(record(outcome)["checkpoint"])).symbols
    assert symbols == Symbols.of(triples_table(WORDS))
    assert symbols.source("ŵa", "V;PL")[0] == UNKNOWN
    table = predictions(outcome)
    assert table["unknown"].tolist() == ["True", "True", "True", "False", "False"]
    assert record(outcome)["test"]["rows_unknown"] == 3
    assert (table["correct"][:3] == "False").all()


def test_synthetic_triples_join_the_vocabulary(tmp_path: Path) -> None:
    settings = job(tmp_path, "strategy=random", "size=60")
    (outcome,) = done([settings])
    task = pipeline.task_of(settings)
    assert Checkpoint.load(Path(record(outcome)["checkpoint"])).symbols == Symbols.of(task.train)
    assert len(task.train) == 20 + 60


@pytest.mark.parametrize("length", [89, 300])
def test_no_word_is_cut(length: int, tmp_path: Path) -> None:
    """Case 9: there is no limit; long words are trained on, selected from, decoded and recorded whole."""
    long = "".join("abcdefghij"[index * index % 10] for index in range(length))
    gold = [*WORDS, (long, f"{long}lar", "N;PL")]
    test = [(f"z{long}", f"z{long}lar", "N;PL")]
    files = own_files(tmp_path / "data", gold, OTHERS, test)
    sizes = ("strategy=umt_loss", "size=8", "trainer.max_steps=2", "test.limit=null")
    settings = own_job(tmp_path / "store", files, *sizes)
    (outcome,) = done([settings])
    task = pipeline.task_of(settings)
    encoded = encode(task.train, Symbols.of(task.train))
    assert int(encoded.source_lengths.max()) == length + len(["N", "PL"]) + len(["end"])
    assert int(encoded.target_lengths.max()) == length + len("lar") + len(["end"])
    (row,) = predictions(outcome).itertuples()
    assert (row.lemma, row.form) == test[0][:2]
    assert pipeline.pool_of(settings)[0]["form"].str.len().max() == length + len("lar")


ODD = (
    ("null", "nulls", "N;PL"),
    ("nan", "nanler", "N;PL"),
    ("None", "ødelegg", "N;PL"),
    ("86", "86ed", "V;PST"),
    ("NaN", "NaNs", "NA"),
    ("NA", "NA", "null"),
    ('say "so', 'says "so', "V;PRS"),
    ('"', '"', '"'),
    ("no", "noen", "N;DEF"),
    ("on", "onward", "ADV"),
    ("1e5", "1e5s", "N;PL"),
    ("007", "007s", "N;PL"),
    ("true", "trues", "N;PL"),
    ("a,b", "a,bs", "N;PL"),
    ("#tag", "#tags", "N;PL"),
    (" gap  gap ", "gap  gaps ", "ADJ;ABL; PL"),
    ("mark\u200e", "marks\u200e", "N;PL"),
    ("non\u00a0breaking", "non\u00a0breakings", "V;PFV/PRF;SG/DU/PL"),
    ("line\u2028end", "line\u2028ends", "N;AT+ESS;SG"),
    ("e\u0301te\u0301", "e\u0301te\u0301s", "N;PL;MASC;non{NOM}"),
)


def test_every_field_is_text_all_the_way(tmp_path: Path) -> None:
    """Case 5: pool, subset and predictions give every word back as it was, however it looks."""
    files = own_files(tmp_path / "data", ODD, OTHERS, ODD)
    overrides = ("strategy=random", "size=60", "corruption.theta=0", "split=as_given", "test.limit=null")
    settings = own_job(tmp_path / "store", files, *overrides, "pool.procedure=passes")
    (outcome,) = done([settings])
    columns = ["lemma", "form", "msd"]
    found = predictions(outcome)
    assert list(found[columns].itertuples(index=False, name=None)) == list(ODD)
    pool, _ = pipeline.pool_of(settings)
    assert set(pool[columns].itertuples(index=False, name=None)) <= set(ODD)
    assert len(pool) == 60
    assert all(type(value) is str for value in pool[columns].to_numpy().ravel())
    parents = [ODD[parent] for parent in pool["parent"]]
    assert list(pool[columns].itertuples(index=False, name=None)) == parents
    (subset,) = (tmp_path / "store" / "subset").glob("*/subset.tsv")
    assert set(read_triples(subset).itertuples(index=False, name=None)) == set(parents)
    assert record(outcome)["sha256"]["subset"] == sha256(read_triples(subset))


def test_theta_zero_gives_the_base_models_rows_again(tmp_path: Path) -> None:
    """Case 1 through the pipeline: a pool of copies."""
    settings = job(tmp_path, "strategy=random", "size=20", "corruption.theta=0", "pool.size=60")
    task = pipeline.task_of(settings)
    gold = set(task.gold.itertuples(index=False, name=None))
    assert set(task.subset[["lemma", "form", "msd"]].itertuples(index=False, name=None)) <= gold
    assert (task.subset["edits"] == 0).all()


@pytest.mark.parametrize("experiment", ["paper", "authors_code"])
def test_both_experiments_run(experiment: str, tmp_path: Path) -> None:
    rows = ("split.rows=9",) if experiment == "authors_code" else ()
    settings = job(tmp_path, f"experiment={experiment}", *rows, "strategy=emt_loss", "size=8", "test.limit=null")
    (outcome,) = done([settings])
    assert record(outcome)["experiment"] == experiment
    assert record(outcome)["test"]["rows"] == (30 if experiment == "paper" else 9)


def test_spaces_are_dropped_from_every_table(tmp_path: Path) -> None:
    gold = [("ka lem", "ka lemler", "N;PL"), ("def ter", "def terde", "N;LOC")]
    files = own_files(tmp_path / "data", gold, [("ki tap", "ki taplar", "N;PL")], [("du var", "du varlar", "N;PL")])
    task = pipeline.task_of(own_job(tmp_path / "store", files, "data.spaces=drop", "strategy=random", "size=8"))
    for table in (task.gold, task.dev, task.test, task.subset):
        assert not table[["lemma", "form"]].stack().str.contains(" ").any()


def test_data_changed_under_the_same_path_is_another_run(tmp_path: Path) -> None:
    files = own_files(tmp_path / "data", WORDS, OTHERS, OTHERS)
    settings = own_job(tmp_path / "store", files, "strategy=none", "trainer.max_steps=2")
    before = pipeline.task_of(settings)
    own_files(tmp_path / "data", [*WORDS, ("liman", "limanlar", "N;PL")], OTHERS, OTHERS)
    pipeline.corpus_of.cache_clear()
    after = pipeline.task_of(settings)
    assert after.key != before.key
    assert after.model_key != before.model_key
