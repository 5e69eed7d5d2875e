"""`holdfast version`."""

import platform
from dataclasses import dataclass

from holdfast import __version__, backup
from holdfast.cli.output import JsonOption, console, print_json

__all__ = ["show"]


@dataclass(frozen=True, slots=True)
class VersionOutput:
    """The JSON output of `holdfast version`."""

    holdfast: str
    core: str
    python: str
    machine: str


def show(*, json: JsonOption = False) -> None:
    """Show the version, and whether the core is compiled or interpreted."""
    core = "compiled" if backup.COMPILED else "interpreted"
    versions = VersionOutput(
        __version__, core, platform.python_version(), f"{platform.system()} {platform.machine()}"
    )
    if json:
        print_json(versions)
        return
    console().print(f"Holdfast {versions.holdfast}")
    console().print(f"core {versions.core}, Python {versions.python}, {versions.machine}")
    if not backup.COMPILED:
        console(stderr=True).print(
            "The interpreted core is about 40 times slower; install a C compiler and reinstall."
        )
