"""Hold runs of `experiment=fairseq_reference` against fairseq's own on the same files: a table and a figure.

    python benchmarks/fidelity.py STORE REFERENCE FIGURE.png

STORE is the store of the runs; REFERENCE has a folder per experiment with `result.json`, fairseq's record, and
the files that both were trained and tested on. Which run belongs to which folder is told by its data's hash.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from inflect.data.triples import read_triples
from inflect.experiment.results import read_records

NAMES = {
    "tur_random_2048": "Turkish, 2,048 random",
    "kat_random_2048": "Georgian, 2,048 random",
    "tur_none": "Turkish, gold alone",
}


def reference_runs(folder: Path) -> list[dict[str, Any]]:
    """fairseq's runs: curve of the label-smoothed dev loss (bits per symbol), and accuracy."""
    record = json.loads((folder / "result.json").read_text("utf-8"))
    runs = record.get("runs") or [{**record, "accuracy_beam_5": record["accuracy_on_test_tsv"]["beam_5"]}]
    return [
        {
            "update": run["dev_at_update"],
            "loss": run["dev_label_smoothed_loss_bits_per_token"],
            "accuracy": run["accuracy_beam_5"],
        }
        for run in runs
    ]


def our_runs(records: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """The runs that were trained on the folder's files: those whose predictions are of its test file."""
    test = read_triples(folder / "test.tsv")
    rows = len(read_triples(folder / "train.tsv"))
    runs = []
    for record in records:
        predictions = pd.read_csv(record["predictions"], dtype=str, keep_default_na=False)
        history = pd.read_csv(record["history"])
        dev = history.dropna(subset="dev/loss")
        if predictions["form"].tolist() == test["form"].tolist() and record["rows_train"] == rows:
            runs.append(
                {
                    "update": dev["update"].tolist(),
                    "loss": (dev["dev/loss"] / math.log(2)).tolist(),
                    "accuracy": record["test"]["accuracy"],
                    "seed": record["seed"],
                }
            )
    return runs


def main() -> None:
    """Print the table, draw the figure."""
    store, reference, figure = map(Path, sys.argv[1:])
    records = [record for record in read_records(store) if record["experiment"] == "fairseq_reference"]
    folders = [reference / name for name in NAMES]
    axes = plt.subplots(1, len(folders), figsize=(12, 3.6), sharey=True)[1]
    print("| data | | seeds | lowest dev loss (bits) | mean | accuracy | mean |")
    print("|---|---|---|---|---|---|---|")
    for folder, axis in zip(folders, axes, strict=True):
        sides = {"fairseq 0.12": reference_runs(folder), "inflect": our_runs(records, folder)}
        for (side, runs), style in zip(
            sides.items(), ({"color": "0.6", "lw": 2.5}, {"color": "C0", "lw": 1}), strict=True
        ):
            for number, run in enumerate(runs):
                axis.plot(run["update"], run["loss"], label=side if number == 0 else None, **style)
            if not runs:
                continue
            lowest, accuracy = [min(run["loss"]) for run in runs], [run["accuracy"] for run in runs]
            cells = [" ".join(f"{value:.3f}" for value in values) for values in (lowest, accuracy)]
            means = [f"{sum(values) / len(values):.3f}" for values in (lowest, accuracy)]
            print(
                f"| {NAMES[folder.name]} | {side} | {len(runs)} | {cells[0]} | {means[0]} | {cells[1]} | {means[1]} |"
            )
        axis.set(title=NAMES[folder.name], xlabel="update", ylim=(1.8, 5))
    axes[0].set_ylabel("dev loss, label-smoothed (bits per symbol)")
    axes[0].legend(frameon=False)
    plt.tight_layout()
    plt.savefig(figure, dpi=150)


if __name__ == "__main__":
    main()
