"""Finished runs as tables: read the records, average over seeds, print."""

import json
import logging
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from inflect.experiment.settings import digest

log = logging.getLogger(__name__)

CELL = ["experiment", "lang", "strategy", "size"]  # runs that differ in nothing but the seed


def read_record(folder: Path) -> dict[str, Any]:
    """The record of a finished run in its folder of the store."""
    record: dict[str, Any] = json.loads((folder / "result.json").read_text("utf-8"))
    return record


def read_records(root: Path) -> list[dict[str, Any]]:
    """The records of all finished runs in a store; one that cannot be read is named and left out."""
    records = []
    for path in sorted((root / "result").glob("[!.]*/result.json")):
        try:
            records.append(read_record(path.parent))
        except (OSError, ValueError) as error:
            log.warning("%s: left out, not a readable record (%s)", path, type(error).__name__)
    return records


def runs_table(records: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """One row per run: what was varied, `settings` (a short hash of all else in its config), dev and test scores."""
    rows = []
    for record in records:
        varied = ("lang", "strategy", "size", "seed")
        rest = {name: value for name, value in record["config"].items() if name not in varied}
        rows.append(
            {
                **{name: record[name] for name in ("experiment", *varied, "updates")},
                "settings": digest(rest)[:6],
                **{f"dev/{name}": value for name, value in record["dev"].items()},
                **{f"test/{name}": value for name, value in record["test"].items()},
                "wall_seconds": record["wall_seconds"],
                "name": record["name"],
            }
        )
    return pd.DataFrame(rows)


def cells_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation over seeds of each cell; other settings that differ make cells of their own."""
    groups = runs.groupby([*CELL, "settings"], sort=True, dropna=False)
    cells = groups.agg(
        seeds=("seed", "nunique"),
        accuracy=("test/accuracy", "mean"),
        sd=("test/accuracy", "std"),
        msd_seen=("test/accuracy_msd_seen", "mean"),
        msd_unseen=("test/accuracy_msd_unseen", "mean"),
        edit_distance=("test/edit_distance", "mean"),
        dev_loss=("dev/loss", "mean"),
        rows=("test/rows", "mean"),
        updates=("updates", "mean"),
    )
    return cells.reset_index()


def text(cells: pd.DataFrame) -> str:
    """The cells as a table for a terminal. Columns that are the same everywhere are said once, above it."""
    constant = [
        name for name in ("experiment", "settings", "updates", "rows") if cells[name].nunique(dropna=False) == 1
    ]
    said = ", ".join(f"{name} {_plain(cells[name].iloc[0])}" for name in constant if name != "settings")
    shown = cells.drop(columns=constant)
    percent = dict.fromkeys(("accuracy", "sd", "msd_seen", "msd_unseen"), _points)
    numbers = {
        "edit_distance": "{:.2f}".format,
        "dev_loss": "{:.3f}".format,
        "rows": _plain,
        "updates": _plain,
    }
    table = shown.to_string(index=False, na_rep="–", formatters={**percent, **numbers})
    return f"{said}; accuracy on unseen lexemes in percent, mean and sd over seeds\n{table}"


def _points(share: float) -> str:
    return "–" if math.isnan(share) else f"{100 * share:.1f}"


def _plain(value: Any) -> str:
    return f"{value:.0f}" if isinstance(value, float) else str(value)
