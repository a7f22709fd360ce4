"""Updates, scoring and decoding per second at the shapes of Turkish with 2,048 random synthetic triples.

    OMP_NUM_THREADS=1 python benchmarks/speed.py PROCESSES [CHECKPOINT]

Needs the shared task's files (INFLECT_DATA). Prints a table of medians with minimum and maximum over rounds.
Training is measured in so many processes at once, and summed; scoring and decoding with the given checkpoint.
"""

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
from inflect.model.checkpoint import Checkpoint, stack_of
from inflect.model.decoding import decode_tables
from inflect.model.lightning import Inflection
from inflect.selection.uncertainty import nll

ROUNDS, UPDATES, WARM = 5, 20, 60  # the first updates are slower: kernels are prepared at the first sight of a shape


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


def training(processes: int, store: str) -> None:
    """Rows of the table: run-updates per second of so many processes at once."""
    for precision in ("fp32", "bf16"):
        for members in (1, 3, 6):
            with multiprocessing.get_context("spawn").Pool(processes) as pool:
                rates = pool.starmap(train_rates, [(members, precision, store)] * processes)
            report(f"{precision}, stack of {members}", [sum(row) for row in zip(*rates, strict=True)], "run-updates/s")


def inference(checkpoint: Checkpoint, task: Task) -> None:
    """Rows of the table: scoring the pool and decoding 1,000 forms with a trained model."""
    dtype = hardware.dtype(task.settings.trainer.precision)
    pool, _ = pool_of(task.settings)
    model = stack_of([checkpoint], dtype)
    encoded = [encode(task.test[:1000], checkpoint.symbols)]

    def seconds(work: Callable[[], object]) -> list[float]:
        times = []
        for _ in range(3):
            started = time.perf_counter()
            work()
            times.append(time.perf_counter() - started)
        return times

    report("uncertainty of 10,000 pool items", seconds(lambda: nll(checkpoint, pool, dtype)), "s")
    for beam in (1, 5):
        times = seconds(lambda beam=beam: decode_tables(model, encoded, beam, "decode"))
        report(f"decoding, beam {beam}", [1000 / time for time in times], "forms/s")


def main() -> None:
    """Print the table."""
    processes = int(sys.argv[1])
    print(f"{processes} processes, {torch.get_num_threads()} threads each\n")
    print("| what | median | range | |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as store:
        if len(sys.argv) > 2:
            inference(Checkpoint.load(Path(sys.argv[2])), turkish(Path(store)))
        training(processes, store)


if __name__ == "__main__":
    main()
