"""Atomic file writes: written to a temporary file, synced with `fsync`, then renamed.

The system calls are made in C if that was compiled, else from Python.
"""

from holdfast.hosting.git.syscalls import SYNCS_NAMES, give_name

try:
    from holdfast.hosting.git.kernel import exchange, lay, rewrite, touch, write_out
except ImportError:
    from holdfast.hosting.git.syscalls import exchange, lay, rewrite, touch, write_out

__all__ = ["SYNCS_NAMES", "exchange", "give_name", "lay", "rewrite", "touch", "write_out"]
