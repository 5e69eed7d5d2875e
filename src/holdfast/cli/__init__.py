"""The command-line interface. Each command is a thin wrapper of one documented Python function."""

from holdfast.cli.main import app, main

__all__ = ["app", "main"]
