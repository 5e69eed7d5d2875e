"""Validation of streams with a given build of the core, and damaged streams."""

import io
import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from holdfast import backup
from holdfast.backup.errors import BackupError
from holdfast.backup.rules import ValidationRun, message_checks, validator
from holdfast.backup.wire import stream
from tests.backup.wire.core import Core

__all__ = ["damage_stream", "validate_with"]


@contextmanager
def use_core(core: Core) -> Iterator[None]:
    """Have streams read, and frames checked, by this core."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "frames", core.frames)
        patch.setattr(stream, "walk", core.walk)
        patch.setattr(validator, "BackupState", core.backup_state.BackupState)
        patch.setattr(validator, "Checker", core.new_checker)
        patch.setattr(message_checks, "Checker", core.new_checker)
        yield


def validate_with(core: Core, data: bytes, **options: str) -> list[tuple[object, ...]]:
    """List the findings and counts of a backup, or the error that opening it raises."""
    with use_core(core):
        try:
            with backup.open(io.BytesIO(data)) as source:
                validation = ValidationRun(source, threads=1, **options)  # type: ignore[arg-type]  # the names are right
                findings: list[tuple[object, ...]] = [
                    (each.rule.id, each.severity, each.frame, each.offset, each.path, each.detail)
                    for each in validation
                ]
                return [*findings, (validation.frames, validation.edition, source.size)]
        except BackupError as error:
            return [(str(error),)]


def damage_stream(data: bytes, seed: int, count: int) -> bytes:
    """Change, take out or put in a few bytes behind the header."""
    rng = random.Random(seed)
    changed = bytearray(data)
    for _ in range(count):
        offset = rng.randrange(min(40, len(changed) // 2), len(changed))
        changed[offset : offset + rng.randrange(3)] = rng.randbytes(rng.randrange(4))
    return bytes(changed)
