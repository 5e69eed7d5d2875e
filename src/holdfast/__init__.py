"""Chat backups and a git host, as a library, commands and a website.

`holdfast.backup` reads chat backups and `holdfast.hosting` serves repositories; neither imports the other.
`holdfast.web` (pages) and `holdfast.cli` (commands) use both.
"""

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """Return the version of the installed package, read lazily because importlib.metadata is slow to import."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version  # noqa: PLC0415  # lazy, for a fast start of commands

    return version("holdfast")
