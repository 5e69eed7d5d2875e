"""Something to look at for whoever starts Holdfast for the first time."""

from holdfast.settings import Settings

__all__ = ["add_demo"]


def add_demo(settings: Settings) -> None:
    """Put a made-up conversation into the data folder."""
