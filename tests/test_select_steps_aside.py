"""`select.py` must not get in the way of the standard library's `select`.

Every test starts an interpreter whose sys.path begins with a folder that holds the script, as it does for
whatever runs from the repository's root.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

STANDARD_LIBRARY = """
import asyncio, selectors, socket, subprocess, sys
subprocess.run([sys.executable, "-c", ""], check=True, timeout=60)
asyncio.run(asyncio.sleep(0))
selectors.DefaultSelector().close()
"""

# What `import select` and `from select import ...` give out, and that both are one module.
REAL_MODULE = """
import select, sys
from select import select as wait
assert sys.modules["select"] is select
assert select.select is wait
assert select.__name__ == "select"
assert not hasattr(select, "__file__") or not select.__file__.endswith("select.py")
"""

LOADER = """
import torch
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    rows = TensorDataset(torch.arange(3))
    loader = DataLoader(rows, num_workers=1, multiprocessing_context="spawn")
    assert [int(row) for row, in loader] == [0, 1, 2]
"""

# The workers are fresh interpreters, and each imports `select` before it can take its first task.
LOKY = """
import math
from joblib import Parallel, delayed

if __name__ == "__main__":
    assert Parallel(n_jobs=2, backend="loky")(delayed(math.sqrt)(x) for x in (0, 1, 4)) == [0, 1, 2]
"""


def run(*arguments: str | Path, folder: Path = ROOT, path: str | None = None) -> None:
    """Run the interpreter in `folder` (with PYTHONPATH `path`) and show its complaints where it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if path is not None:
        environment["PYTHONPATH"] = path
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["train.py", "--help"], id="train"),
        pytest.param(["select.py", "--help"], id="select"),
        pytest.param(["evaluate.py", "--help"], id="evaluate"),
        pytest.param(["-m", "pytest", "--version"], id="pytest"),
        pytest.param(["-m", "pip", "--version"], id="pip"),
        pytest.param(["-c", STANDARD_LIBRARY], id="standard library"),
        pytest.param(["-c", REAL_MODULE], id="real module"),
        pytest.param(["-c", LOADER], id="spawned DataLoader worker"),
        pytest.param(["-c", LOKY], id="joblib worker"),
    ],
)
def test_from_the_root(arguments: list[str]) -> None:
    run(*arguments)


@pytest.mark.parametrize("script", [REAL_MODULE, LOADER, LOKY], ids=["real module", "DataLoader", "joblib"])
def test_script_beside_it(script: str, tmp_path: Path) -> None:
    """Workers of a script, unlike those of `python -c`, import the script anew and inherit its sys.path."""
    shutil.copy(ROOT / "select.py", tmp_path)
    (tmp_path / "script.py").write_text(script)
    run("script.py", folder=tmp_path)


def test_however_the_root_is_spelled(tmp_path: Path) -> None:
    """The root stands on sys.path twice or under another name: it is not searched again."""
    link = tmp_path / "link"
    link.symlink_to(ROOT)
    path = os.pathsep.join([str(link), str(ROOT), f"{ROOT}{os.sep}", str(ROOT / "inflect" / "..")])
    run("-c", REAL_MODULE, path=path)
    run("-c", REAL_MODULE, path=path, folder=tmp_path)
