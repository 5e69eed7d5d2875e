"""Whole backups read and held to the rules by a core that is compiled, or not."""

import io
import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from holdfast import backup
from holdfast.backup.errors import BackupError
from holdfast.backup.rules import ValidationRun, backup_state, validator
from holdfast.backup.wire import stream
from tests.backup.wire.core import Core

__all__ = ["damaged", "judged"]


@contextmanager
def used(core: Core) -> Iterator[None]:
    """Have streams read, and frames checked, by this core."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "frames", core.frames)
        patch.setattr(stream, "walk", core.walk)
        patch.setattr(backup_state, "IdTable", core.id_table.IdTable)
        patch.setattr(validator, "Checker", core.new_checker)
        yield


def judged(core: Core, data: bytes, **how: str) -> list[tuple[object, ...]]:
    """List everything that is found in a backup, or why it cannot be opened, and what was counted."""
    with used(core):
        try:
            with backup.open(io.BytesIO(data)) as source:
                validation = ValidationRun(source, threads=1, **how)  # type: ignore[arg-type]  # the names are right
                found: list[tuple[object, ...]] = [
                    (one.rule.id, one.severity, one.frame, one.offset, one.path, one.detail) for one in validation
                ]
                return [*found, (validation.frames, validation.edition, source.size)]
        except BackupError as error:
            return [(str(error),)]


def damaged(data: bytes, seed: int, places: int) -> bytes:
    """Change, take out or put in a few bytes behind the header."""
    rng = random.Random(seed)
    changed = bytearray(data)
    for _ in range(places):
        at = rng.randrange(min(40, len(changed) // 2), len(changed))
        changed[at : at + rng.randrange(3)] = rng.randbytes(rng.randrange(4))
    return bytes(changed)
