"""Real offline W&B runs, read back with W&B's own reader."""

import dataclasses
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from inflect.errors import UserError
from inflect.experiment.tracking import Identity, Run, WandbSettings, announce, mode_of, tracked

ROOT = Path(__file__).parents[2]
KEY = "0123456789abcdef" * 2 + "01234567"


@pytest.fixture(autouse=True)
def nobody_is_logged_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for variable in ("WANDB_API_KEY", "WANDB_MODE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("WANDB_DATA_DIR", str(tmp_path / "data"))  # W&B copies tables there, by default into the home
    for function in (mode_of, announce):
        function.cache_clear()
    yield
    for function in (mode_of, announce):
        function.cache_clear()


def identity(seed: int) -> Identity:
    settings = {"model": {"width": 256}, "seed": seed}
    return Identity("tur", "umt_loss", 512, seed, "paper", "train", settings, key=f"{seed}" * 64)


def records(folder: Path) -> list[dict[str, Any]]:
    """What a run wrote, by W&B's own reader of its log."""
    reader = [sys.executable, "-m", "wandb", "leet", "inspect", "--json", str(folder)]
    output = subprocess.run(reader, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return [json.loads(line) for line in output.splitlines()]


def of_type(found: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [record[kind] for record in found if record["type"] == kind]


def runs(folder: Path) -> list[list[dict[str, Any]]]:
    return [records(path) for path in sorted(folder.glob("wandb/offline-run-*"))]


def summary(run: list[dict[str, Any]]) -> dict[str, Any]:
    """The values at the end, by their dotted names."""
    values: dict[str, Any] = {}
    for record in of_type(run, "summary"):
        values |= record["update"]
    return values


def history(first: float) -> pd.DataFrame:
    nan = float("nan")
    return pd.DataFrame(
        {
            "update": [1, 2, 3],
            "train/loss": [first, first / 2, first / 3],
            "lr": [0.1, 0.2, 0.3],
            "dev/loss": [nan, nan, first],
        }
    )


RESULT = {
    "dev": {"loss": 1.5, "accuracy": 0.25, "update": 3},
    "test": {"rows": 2, "accuracy": 0.5, "accuracy_msd_seen": None},
    "sha256": {"pool": "abc"},
    "wall_seconds": 1.0,
}
PREDICTIONS = pd.DataFrame(
    {
        "lemma": ["null", "b"],
        "form": ["nulls", "bs"],
        "msd": ["N;PL"] * 2,
        "prediction": ["nulls", "b"],
        "correct": [True, False],
    }
).rename_axis("row")
MSDS = pd.DataFrame({"rows": [2], "accuracy": [0.5]}, index=pd.Index(["N;PL"], name="msd"))


def test_two_runs_at_once_each_with_its_own_config_history_and_summary(tmp_path: Path) -> None:
    settings = WandbSettings(mode="offline", dir=str(tmp_path))

    def two_jobs() -> None:
        with tracked(settings, identity(0)) as first:
            with tracked(settings, identity(1)) as second:
                first.log_history(history(6.0))
                second.log_history(history(9.0))
                second.log_result(RESULT, PREDICTIONS, MSDS)
            raise RuntimeError("the job of seed 0 fails")

    with pytest.raises(RuntimeError, match="seed 0"):
        two_jobs()
    found = {of_type(run, "run")[0]["display_name"]: run for run in runs(tmp_path)}
    assert sorted(found) == ["tur-umt_loss-512-s0", "tur-umt_loss-512-s1"]
    for seed, loss, failed in ((0, 6.0, 1), (1, 9.0, 0)):
        run = found[f"tur-umt_loss-512-s{seed}"]
        about = of_type(run, "run")[0]
        assert about["config"]["update"]["seed"] == seed
        assert about["config"]["update"]["settings"]["model"]["width"] == 256
        assert about["run_group"] == "tur"
        assert about["job_type"] == "train"
        assert set(about["tags"]) >= {"lang:tur", "strategy:umt_loss", "size:512", f"seed:{seed}"}
        rows = [row["item"] for row in of_type(run, "history") if "train/loss" in row["item"]]
        assert [row["update"] for row in rows] == [1, 2, 3]
        assert [row["train/loss"] for row in rows] == pytest.approx([loss, loss / 2, loss / 3])
        assert ["dev/loss" in row for row in rows] == [False, False, True]
        assert of_type(run, "exit")[0].get("exit_code", 0) == failed
        assert about["run_id"].startswith(f"{seed}" * 12)
    last = summary(found["tur-umt_loss-512-s1"])
    assert last["test/accuracy"] == 0.5
    assert last["best_dev/loss"] == 1.5
    assert last["predictions.nrows"] == 2
    assert "test/accuracy" not in summary(found["tur-umt_loss-512-s0"])
    written = tmp_path.glob("wandb/offline-run-*/files/media/table/predictions*.json")
    tables = [json.loads(path.read_text()) for path in written]
    assert [table["columns"] for table in tables] == [["row", "lemma", "form", "msd", "prediction", "correct"]]
    assert tables[0]["data"] == [
        [0, "null", "nulls", "N;PL", "nulls", True],
        [1, "b", "bs", "N;PL", "b", False],
    ]


def test_attempts_at_one_run_have_ids_of_their_own(tmp_path: Path) -> None:
    for _ in range(2):
        with tracked(WandbSettings(mode="offline", dir=str(tmp_path)), identity(7)):
            pass
    ids = {of_type(run, "run")[0]["run_id"] for run in runs(tmp_path)}
    assert len(ids) == 2
    assert {name[:13] for name in ids} == {"777777777777-"}


def test_a_tag_that_would_be_too_long_is_cut(tmp_path: Path) -> None:
    long = dataclasses.replace(identity(0), experiment="a" * 100)
    with tracked(WandbSettings(mode="offline", dir=str(tmp_path)), long):
        pass
    about = of_type(runs(tmp_path)[0], "run")[0]
    assert max(len(tag) for tag in about["tags"]) == 64
    assert about["config"]["update"]["experiment"] == "a" * 100


def test_the_table_is_cut_at_table_rows(tmp_path: Path) -> None:
    with tracked(WandbSettings(mode="offline", dir=str(tmp_path), table_rows=1), identity(0)) as run:
        run.log_result(RESULT, PREDICTIONS, MSDS)
    assert summary(runs(tmp_path)[0])["predictions.nrows"] == 1


def test_artifacts_are_named_by_content_and_inputs_are_marked_as_used(tmp_path: Path) -> None:
    pool, model = tmp_path / "pool" / "0123", tmp_path / "model" / "4567"
    for folder in (pool, model):
        folder.mkdir(parents=True)
    (pool / "pool.tsv").write_text("a\tb\tN\n")
    (model / "checkpoint.pt").write_bytes(b"weights")
    with tracked(WandbSettings(mode="offline", dir=str(tmp_path)), identity(0)) as run:
        run.log_artifact("pool", pool, used=True)
        run.log_artifact("checkpoint", model / "checkpoint.pt", used=False)
    artifacts = of_type(runs(tmp_path)[0], "artifact")
    found = [(a["type"], a["name"], a.get("use_after_commit", False)) for a in artifacts]
    assert found == [("pool", "pool-0123", True), ("checkpoint", "checkpoint-4567", False)]


def test_disabled_writes_nothing(tmp_path: Path) -> None:
    with tracked(WandbSettings(mode="disabled", dir=str(tmp_path)), identity(0)) as run:
        run.log_history(history(1.0))
        run.log_result(RESULT, PREDICTIONS, MSDS)
    assert not list(tmp_path.iterdir())


def test_auto_is_offline_without_a_login_and_says_how_to_browse_and_send(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = WandbSettings(dir=str(tmp_path))
    with caplog.at_level("INFO"):
        assert mode_of(settings) == "offline"
        for _ in range(2):
            announce(settings)
    assert caplog.text.count("wandb sync") == caplog.text.count("wandb leet") == 1


def test_auto_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "disabled")
    assert mode_of(WandbSettings(dir=str(tmp_path))) == "disabled"


def test_online_without_a_login_asks_nobody_and_goes_offline(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert mode_of(WandbSettings(mode="online", dir=str(tmp_path))) == "offline"
    assert "nobody is logged in" in caplog.text


def test_a_key_of_the_wrong_shape_is_said_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "geheim")
    assert mode_of(WandbSettings(dir=str(tmp_path))) == "offline"
    assert "the login cannot be used" in caplog.text
    assert "geheim" not in caplog.text


def test_a_mode_that_does_not_exist_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "of")
    with pytest.raises(UserError, match=r"WANDB_MODE=of \(environment\): must be online, offline or disabled"):
        mode_of(WandbSettings())
    with pytest.raises(UserError, match=r"wandb\.mode=of: must be auto, online, offline or disabled"):
        WandbSettings(mode="of")


def test_trouble_with_wandb_is_said_and_harms_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    run = Run(WandbSettings(mode="offline", dir=str(tmp_path / "file")), identity(0))
    run.log_history(history(1.0))
    run.close(failed=False)
    assert caplog.text.count("not logged any further") == 1


class Refusal(BaseHTTPRequestHandler):
    """A W&B server that knows nobody's key."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        answer = b'{"errors": [{"message": "invalid key"}]}'
        self.send_response(401)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        pass


def test_a_server_that_refuses_is_said_once_and_runs_are_kept_offline(tmp_path: Path) -> None:
    """In a process of its own, which shows besides that W&B writes nothing to the terminal."""
    script = """
import logging, sys
from pathlib import Path
import test_tracking as t
logging.basicConfig(level="INFO", stream=sys.stdout, format="%(message)s")
settings = t.WandbSettings(dir=sys.argv[1])
t.announce(settings)
pool = Path(sys.argv[1], "pool")
pool.mkdir()
(pool / "pool.tsv").write_text("x")
for seed in (0, 1):
    with t.tracked(settings, t.identity(seed)) as run:
        run.log_history(t.history(6.0))
        run.log_result(t.RESULT, t.PREDICTIONS, t.MSDS)
        run.log_artifact("pool", pool, used=True)
"""
    with HTTPServer(("127.0.0.1", 0), Refusal) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)],
            cwd=ROOT,
            env={
                **os.environ,
                "WANDB_API_KEY": KEY,
                "WANDB_BASE_URL": address,
                "PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(__file__).parent)]),
            },
            capture_output=True,
            text=True,
            check=True,
        )
        server.shutdown()
    announced, trouble = done.stdout.splitlines()
    assert announced == "W&B: online, project inflect"
    assert trouble.startswith("W&B: no luck online (CommError: invalid key)")
    assert "wandb sync --include-online" in trouble
    assert done.stderr == ""
    found = runs(tmp_path)
    assert [len(of_type(run, "history")) for run in found] == [4, 4]  # three updates and the tables
    assert [summary(run)["test/accuracy"] for run in found] == [0.5, 0.5]
    assert_nowhere(KEY, tmp_path)


def assert_nowhere(key: str, folder: Path) -> None:
    for path in folder.rglob("*"):
        assert not path.is_file() or key.encode() not in path.read_bytes(), path


def test_a_sweep_over_seeds_makes_a_run_of_each_job_and_of_each_base_model(tmp_path: Path) -> None:
    small = ["model=small", "model.layers=1", "model.width=16", "model.feed_forward=16", "model.heads=2"]
    command = [
        *(sys.executable, "train.py", "-m", "strategy=umt_loss", "size=8", "seed=0,1", *small),
        *(
            "trainer.max_steps=5",
            "trainer.val_interval=3",
            "pool.size=60",
            "test.limit=10",
            "wandb.mode=offline",
            "stack.processes=1",
        ),
        *(f"wandb.dir={tmp_path}", f"store.root={tmp_path / 'store'}", f"hydra.sweep.dir={tmp_path / 'sweep'}"),
    ]
    environment = {**os.environ, "WANDB_API_KEY": KEY, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = {of_type(run, "run")[0]["display_name"]: run for run in runs(tmp_path)}
    names = [f"artificial-{run}-s{seed}" for run in ("none-0", "umt_loss-8") for seed in (0, 1)]
    assert sorted(found) == names
    for name in names:
        about, base = of_type(found[name], "run")[0], "none" in name
        assert about["job_type"] == ("base" if base else "train")
        assert about["config"]["update"]["seed"] == int(name[-1])
        rows = [row["item"] for row in of_type(found[name], "history") if "train/loss" in row["item"]]
        assert [row["update"] for row in rows] == [1, 2, 3, 4, 5]
        assert [row["update"] for row in rows if "dev/loss" in row] == [3, 5]
        kinds = {artifact["type"] for artifact in of_type(found[name], "artifact")}
        assert kinds >= ({"checkpoint"} if base else {"pool", "subset", "checkpoint"})
    assert_nowhere(KEY, tmp_path)
