"""`holdfast settings`."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from holdfast.cli.output import JsonOption, console, print_json
from holdfast.settings import LoadedSettings, describe, load

__all__ = ["ConfigOption", "DataOption", "gather", "show"]

ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="A TOML file of settings, instead of HOLDFAST_CONFIG.")
]


DataOption = Annotated[Path | None, typer.Option("--data", help="The data folder, instead of HOLDFAST_DATA.")]


@dataclass(frozen=True, slots=True)
class SettingOutput:
    """The JSON output of one effective setting."""

    name: str
    value: str
    source: str
    description: str
    allowed: str
    variable: str


def gather(
    context: typer.Context, config: Path | None, data: Path | None = None, **overrides: object
) -> LoadedSettings:
    """Load the settings from the command line, the environment and the settings file."""
    shared = context.obj if isinstance(context.obj, dict) else {}
    folder = None if data is None else str(data)
    return load(os.environ, config=config, overrides={**shared, "data": folder, **overrides})


def show(context: typer.Context, *, config: ConfigOption = None, json: JsonOption = False) -> None:
    """Print every setting with its value and where that came from; secrets are masked."""
    loaded = gather(context, config)
    rows = [
        SettingOutput(
            item.name,
            loaded.shown(item.name),
            loaded.sources[item.name],
            item.description,
            item.allowed,
            item.variable,
        )
        for item in describe()
    ]
    if json:
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("setting", "value", "from", "what it does"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(row.name, row.value, row.source, row.description)
    console().print(table)
