"""Holdfast keeps what people cannot afford to lose: their conversations and their repositories.

`holdfast.backup` reads chat backups and `holdfast.hosting` serves repositories; the two know nothing of each
other. `holdfast.web` and `holdfast.cli` are what people look at and type, over both.
"""

from importlib.metadata import version

__all__ = ["__version__"]

__version__ = version("holdfast")
