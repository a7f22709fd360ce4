"""Fixtures that several test modules share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def conll2018() -> Path:
    """The folder with the shared task's official files."""
    return _folder("INFLECT_DATA", "task1/all/turkish-train-low")


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder with numbers measured elsewhere that this project must agree with."""
    return _folder("INFLECT_REFERENCE", "facts.json")


def _folder(variable: str, has: str) -> Path:
    """The folder that a variable names; without it a test fails under CI and is skipped elsewhere."""
    folder = Path(os.environ.get(variable) or "nowhere")
    if not (folder / has).is_file():
        reason = f"set {variable} to a folder that has {has}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder
