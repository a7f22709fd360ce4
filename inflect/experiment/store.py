"""Artifacts by content: each lies in a folder named by the hash of everything that determines it.

A folder is written beside its place and renamed, so an artifact is complete or absent.
"""

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from inflect.errors import UserError


@dataclass(frozen=True)
class Store:
    """`root` has a folder per kind (pool, model, uncertainty, subset, result) and in it one per artifact."""

    root: Path

    @classmethod
    def open(cls, root: str) -> "Store":
        """The store at `root`, made if need be. Raises UserError where nothing can be written."""
        path = Path(root).expanduser().absolute()
        probe = path / f".probe-{uuid.uuid4().hex}"
        try:
            path.mkdir(parents=True, exist_ok=True)
            probe.touch()
            probe.unlink()
        except OSError as error:
            reason = error.strerror or error
            raise UserError(f"store.root={root}: cannot write there ({reason}); name a folder that you own") from None
        return cls(path)

    def folder(self, kind: str, key: str) -> Path:
        return self.root / kind / key[:20]

    def has(self, kind: str, key: str) -> bool:
        return self.folder(kind, key).is_dir()

    @contextmanager
    def create(self, kind: str, key: str, replace: bool = False) -> Iterator[Path]:
        """A folder to fill. It takes its name when the block ends; after an exception nothing is left.

        Where another process was quicker its artifact stands, because both hold the same; `replace` overrules.
        """
        final = self.folder(kind, key)
        draft = final.with_name(f".{final.name}-{uuid.uuid4().hex}")
        draft.mkdir(parents=True)
        try:
            yield draft
            if replace and final.exists():
                old = draft.with_name(f"{draft.name}-old")
                final.rename(old)
                draft.rename(final)
                shutil.rmtree(old)
            elif not final.exists():
                try:
                    draft.rename(final)
                except OSError:
                    if not final.is_dir():
                        raise
        finally:
            shutil.rmtree(draft, ignore_errors=True)
