"""Where stacks run: one after another in this process, or side by side in processes of their own.

A stack is the unit of work. What it makes lies in the store when it is done, so an engine gives back nothing but
what went wrong.
"""

import logging
import logging.handlers
import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from typing import Any

import torch
from tqdm import tqdm

from inflect import progress
from inflect.errors import UserError
from inflect.experiment.settings import StackSettings
from inflect.experiment.store import Store
from inflect.experiment.training import Task, run_stack

log = logging.getLogger(__name__)

MEMBERS = {"cpu": 6, "cuda": 64}  # runs in a stack where `stack.members` does not say it


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processes_of(settings: StackSettings) -> int:
    """How many stacks run side by side: one for each core, or one if there is a GPU, unless the settings say it."""
    return settings.processes or (1 if torch.cuda.is_available() else cores())


def divide(tasks: Sequence[Task], settings: StackSettings) -> list[list[Task]]:
    """Tasks that can train together as stacks of nearly equal size: enough for all processes, none too large."""
    most = settings.members or MEMBERS["cuda" if torch.cuda.is_available() else "cpu"]
    stacks = max(-(-len(tasks) // most), min(len(tasks), processes_of(settings)))
    return [list(tasks[number::stacks]) for number in range(stacks)]


def run_stacks(stacks: Sequence[Sequence[Task]], settings: StackSettings) -> dict[str, str]:
    """Run all stacks; the keys of the tasks that failed, and why. A stack that fails stops no other."""
    failed: dict[str, str] = {}
    processes = min(processes_of(settings), len(stacks))
    if processes <= 1:
        for stack in stacks:
            try:
                _announce(stack)
                run_stack(stack, _store(stack))
            except Exception as error:
                failed |= _failure(stack, error)
        return failed
    context = multiprocessing.get_context("spawn")
    records = context.Queue()
    listener = logging.handlers.QueueListener(records, *logging.getLogger().handlers, respect_handler_level=True)
    listener.start()
    threads = settings.threads or max(1, cores() // processes)
    lines = context.Queue()
    for line in range(processes):
        lines.put(line)
    lock = context.RLock()
    tqdm.set_lock(lock)
    begin = (threads, logging.getLogger().level, records, lock, lines)
    try:
        with ProcessPoolExecutor(processes, context, _begin, begin) as pool:
            futures: dict[Future[None], Sequence[Task]] = {}
            for stack in stacks:
                _announce(stack)
                futures[pool.submit(run_stack, stack, _store(stack))] = stack
            for future in as_completed(futures):
                if (trouble := future.exception()) is not None:
                    failed |= _failure(futures[future], trouble)
    finally:
        listener.stop()
    return failed


def _begin(threads: int, level: int, records: Any, lock: Any, lines: Any) -> None:
    """Set up a process: its share of the cores, its log to the parent's, bars that do not overwrite each other."""
    torch.set_num_threads(threads)
    tqdm.set_lock(lock)
    progress.use_line(lines.get())
    root = logging.getLogger()
    root.setLevel(level)
    root.handlers = [logging.handlers.QueueHandler(records)]


def _store(stack: Sequence[Task]) -> Store:
    return Store.open(stack[0].settings.store.root)


def _announce(stack: Sequence[Task]) -> None:
    names = [task.settings.name for task in stack]
    log.info("train %s", ", ".join(names), extra={"runs": names})


def _failure(stack: Sequence[Task], error: BaseException) -> dict[str, str]:
    names = [task.settings.name for task in stack]
    log.error("failed: %s: %s", ", ".join(names), reason(error), exc_info=traceback_of(error), extra={"runs": names})
    return {task.key: reason(error) for task in stack}


def reason(error: BaseException) -> str:
    """One line on what went wrong."""
    return str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"


def traceback_of(error: BaseException) -> BaseException | None:
    """What a log line shows beside the reason: nothing for a user's mistake."""
    return None if isinstance(error, UserError) else error
