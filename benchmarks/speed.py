"""Updates, scoring and decoding per second at the shapes of Turkish with 2,048 random synthetic triples.

    OMP_NUM_THREADS=1 python benchmarks/speed.py [processes]

Needs the shared task's files (INFLECT_DATA). Prints a table of medians with minimum and maximum over rounds.
With `processes` above 1 the training rows are measured in so many processes at once, and summed.
"""

import dataclasses
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import hydra
import torch

from inflect.data.batches import encode
from inflect.data.datamodule import MemberData, StackData
from inflect.data.symbols import Symbols
from inflect.experiment.entry import CONF
from inflect.experiment.pipeline import pool_of, task_of
from inflect.experiment.settings import register, settings_of
from inflect.experiment.training import Task
from inflect.model import hardware
from inflect.model.checkpoint import Checkpoint
from inflect.model.decoding import decode_tables
from inflect.model.lightning import Inflection
from inflect.selection.uncertainty import nll

ROUNDS, UPDATES, WARM = 5, 40, 140  # an epoch first: kernels are prepared at the first sight of a shape


def turkish(store: Path) -> Task:
    """Turkish gold and 2,048 random items of its pool."""
    register()
    with hydra.initialize_config_dir(str(CONF), version_base="1.3"):
        config = hydra.compose("train", ["lang=tur", "strategy=random", "size=2048", f"store.root={store}"])
    return task_of(settings_of(config, "random"))


def stack(task: Task, members: int, dtype: torch.dtype) -> Callable[[int], None]:
    """A function that makes so many updates of a stack."""
    symbols = Symbols.of(task.train)
    settings = task.settings
    data = StackData(
        [MemberData(task.train, task.dev[:1], symbols, seed) for seed in range(members)], settings.optim.batch, 10**6
    )
    sizes = [symbols.source_size] * members, [symbols.target_size] * members
    module = Inflection(settings.model, *sizes, range(members), settings.optim, dtype)
    optimizer = module.configure_optimizers()["optimizer"]
    batches = iter(data.train_dataloader())

    def updates(count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad()
            module.training_step(next(batches), 0).backward()
            optimizer.step()
        module.losses.clear()

    return updates


def train_rates(members: int, precision: str, store: str) -> list[float]:
    """Run-updates per second of one process, a value per round."""
    torch.set_num_threads(max(1, torch.get_num_threads()))
    updates = stack(turkish(Path(store)), members, hardware.dtype(precision))
    updates(WARM)
    rates = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        updates(UPDATES)
        rates.append(members * UPDATES / (time.perf_counter() - started))
    return rates


def report(what: str, values: list[float], unit: str) -> None:
    """A row of the table."""
    print(f"| {what} | {statistics.median(values):.1f} | {min(values):.1f}–{max(values):.1f} | {unit} |", flush=True)


def main() -> None:
    """Print the table."""
    processes = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    print(
        f"{processes} processes, {torch.get_num_threads()} threads each\n\n| what | median | range | |\n|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as store:
        task = turkish(Path(store))
        for precision in ("fp32", "bf16"):
            for members in (1, 2, 3, 6):
                work = [(members, precision, store)] * processes
                if processes == 1:
                    rates = [train_rates(*work[0])]
                else:
                    with multiprocessing.get_context("spawn").Pool(processes) as pool:
                        rates = pool.starmap(train_rates, work)
                report(
                    f"{precision}, stack of {members}", [sum(row) for row in zip(*rates, strict=True)], "run-updates/s"
                )
        if processes > 1:
            return
        symbols = Symbols.of(task.train)
        dtype = hardware.dtype(task.settings.trainer.precision)
        module = Inflection(task.settings.model, [symbols.source_size], [symbols.target_size], [0], task.settings.optim)
        weights = module.model.member(0)
        checkpoint = Checkpoint(weights, symbols, task.settings.model, {})
        pool, _ = pool_of(task.settings)
        started = time.perf_counter()
        nll(checkpoint, pool, dtype)
        report("uncertainty of 10,000 pool items", [time.perf_counter() - started], "s")
        trained = stack_trained(task, dtype)
        encoded = [encode(task.test[:1000], symbols)]
        for beam in (1, 5):
            rates = []
            for _ in range(3):
                started = time.perf_counter()
                decode_tables(trained, encoded, beam, "decode")
                rates.append(1000 / (time.perf_counter() - started))
            report(f"decoding, beam {beam}", rates, "forms/s")


if __name__ == "__main__":
    main()
