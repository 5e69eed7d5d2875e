"""What is wrong around a stream: raised, or told to whoever wants to see what can still be read."""

from collections.abc import Callable
from typing import TypeAlias

from holdfast.backup.errors import DamagedContainer, FolderIncomplete

__all__ = ["Fault", "OnFault", "tell"]

Fault: TypeAlias = DamagedContainer | FolderIncomplete
OnFault: TypeAlias = Callable[[Fault], None]


def tell(fault: Fault, on_fault: OnFault | None) -> None:
    """Tell of a fault and go on, or, where nobody listens, raise it."""
    if on_fault is None:
        raise fault
    on_fault(fault)
