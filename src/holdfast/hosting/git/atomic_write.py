"""Lays files where others find them: written beside, brought to the disk, and only then given their names.

The calls are made in C where that was compiled, and one by one from here where it was not.
"""

from holdfast.hosting.git.syscalls import SYNCS_NAMES, give_name

try:
    from holdfast.hosting.git.kernel import exchange, lay, rewrite, touch, write_out
except ImportError:
    from holdfast.hosting.git.syscalls import exchange, lay, rewrite, touch, write_out

__all__ = ["SYNCS_NAMES", "exchange", "give_name", "lay", "rewrite", "touch", "write_out"]
