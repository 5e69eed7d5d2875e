"""Faults of a container or folder: raised, or reported to a callback that allows reading on."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from holdfast.backup.errors import BackupError, DamagedBackup, DamagedContainer, FolderIncomplete
from holdfast.backup.parts import Part

__all__ = ["Fault", "OnFault", "reason_for", "report_fault"]

Fault: TypeAlias = DamagedContainer | FolderIncomplete
OnFault: TypeAlias = Callable[[Fault], None]


def report_fault(fault: Fault, on_fault: OnFault | None) -> None:
    """Report a fault to a callback, or raise it if there is none."""
    if on_fault is None:
        raise fault
    on_fault(fault)


def reason_for(refusal: BackupError, faults: Iterable[Fault]) -> BackupError:
    """Return the error to raise if nothing can be read: a fault at the beginning explains an unknown format."""
    for fault in faults:
        if isinstance(fault, DamagedContainer) and fault.part in {Part.COMPRESSION, Part.CHECKSUM}:
            problem = f"{fault.problem}; nothing of it can be read"
            return DamagedBackup(problem, offset=fault.offset, stream=fault.stream)
    return refusal
