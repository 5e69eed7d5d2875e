"""Holdfast keeps what people cannot afford to lose: their conversations and their repositories.

`holdfast.backup` reads chat backups and `holdfast.hosting` serves repositories; the two know nothing of each
other. `holdfast.web` and `holdfast.cli` are what people look at and type, over both.
"""

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """Read the version from the installed package when it is asked for; that takes longer than all the rest."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    return version("holdfast")
