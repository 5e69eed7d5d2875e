"""`holdfast completion`."""

import os
from typing import Annotated, Final, Literal

import typer
from typer.completion import get_completion_inspect_parameters

__all__ = ["VARIABLE", "show"]

# The completion script of the shell sets this variable; Typer then prints completions and runs no command.
VARIABLE: Final = "_HOLDFAST_COMPLETE"

# Typer registers the shells only with its own completion options, which `holdfast completion` replaces.
get_completion_inspect_parameters()


def show(
    context: typer.Context,
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="The shell to complete in.")],
) -> None:
    """Print the completion script for a shell; source it from the shell's start file."""
    os.environ[VARIABLE] = f"source_{shell}"
    context.find_root().command.main([], prog_name="holdfast")
