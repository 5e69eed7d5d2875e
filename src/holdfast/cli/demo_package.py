"""The optional package `holdfast_demo`: demo content and generated chat histories."""

from importlib.util import find_spec

from holdfast.backup.errors import ExtraMissing

__all__ = ["require_demo_package"]


def require_demo_package() -> None:
    """Raise `ExtraMissing` if the package is not installed."""
    if find_spec("holdfast_demo") is None:
        raise ExtraMissing("demo content and samples need an extra: pip install 'holdfast[demo]'")
