"""What an installed copy and a source archive hold."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import inflect

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), "-t", "wheel", "-t", "sdist"]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder


def test_wheel_has_the_whole_package(archives: Path) -> None:
    """Also what is no Python: registries, tables, the mark that the package is typed."""
    [wheel] = archives.glob("*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("inflect/")}
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "inflect").rglob("*") if path.is_file()}
    assert packed == {name for name in files if "__pycache__" not in name}


def test_wheel_claims_one_name(archives: Path) -> None:
    """The wheel leaves no top-level `select`, `train`, `conf` or `tests` in site-packages.

    `hydra_plugins` is the namespace package that all of Hydra's plugins share.
    """
    [wheel] = archives.glob("*.whl")
    top = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert top == {"inflect", "hydra_plugins", f"inflect_morphology-{inflect.__version__}.dist-info"}


def test_source_archive_has_scripts_and_configuration(archives: Path) -> None:
    [archive] = archives.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.split("/", 1)[1] for name in packed.getnames()}
    configuration = {path.relative_to(ROOT).as_posix() for path in (ROOT / "conf").rglob("*.yaml")}
    assert names >= configuration | {"select.py", "Makefile", "LICENSE", "pyproject.toml"}


def test_citation_names_this_version() -> None:
    [version] = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert version == inflect.__version__


def test_extras_are_bounded() -> None:
    """Every requirement of a user is a range: tomorrow's release of a library changes no result."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    loose = [name for name in [*project["dependencies"], *extras["ray"], *extras["slurm"]] if ",<" not in name]
    assert loose == []
