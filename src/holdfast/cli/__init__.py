"""The commands people type, for both halves. Each is a thin function over one documented Python call."""

from holdfast.cli.main import app, main

__all__ = ["app", "main"]
