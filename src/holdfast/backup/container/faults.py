"""What is wrong around a stream: raised, or told to whoever wants to see what can still be read."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from holdfast.backup.errors import BackupError, DamagedBackup, DamagedContainer, FolderIncomplete
from holdfast.backup.parts import Part

__all__ = ["Fault", "OnFault", "reason_for", "tell"]

Fault: TypeAlias = DamagedContainer | FolderIncomplete
OnFault: TypeAlias = Callable[[Fault], None]


def tell(fault: Fault, on_fault: OnFault | None) -> None:
    """Tell of a fault and go on, or, where nobody listens, raise it."""
    if on_fault is None:
        raise fault
    on_fault(fault)


def reason_for(refusal: BackupError, faults: Iterable[Fault]) -> BackupError:
    """Say why nothing can be read: without its beginning a stream is nothing that could be recognised."""
    for fault in faults:
        if isinstance(fault, DamagedContainer) and fault.part in {Part.COMPRESSION, Part.CHECKSUM}:
            problem = f"{fault.problem}; nothing of it can be read"
            return DamagedBackup(problem, offset=fault.offset, stream=fault.stream)
    return refusal
