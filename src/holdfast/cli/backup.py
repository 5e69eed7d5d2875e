"""`holdfast backup`: what can be done with one chat backup."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from holdfast import backup
from holdfast.cli.output import JsonOption, byte_progress, console, print_json

__all__ = ["group"]

group = typer.Typer(no_args_is_help=True, help="Look into a chat backup.")


@group.callback()
def root() -> None:
    """Look into a chat backup."""


@group.command("info")
def show_info(
    file: Annotated[Path, typer.Argument(help="A plain frame stream; `-` reads standard input.")],
    *,
    json: JsonOption = False,
) -> None:
    """Show when and by which app a backup was made, and how many records of each type it holds."""
    if str(file) == "-":
        with byte_progress("standard input", None) as progress:
            answer = backup.info(sys.stdin.buffer, progress=progress)
    else:
        with byte_progress(file.name, file.stat().st_size if file.is_file() else None) as progress:
            answer = backup.info(file, progress=progress)
    if json:
        print_json(answer)
        return
    header, made = answer.header, answer.header.made_at
    facts = Table.grid(padding=(0, 2))
    facts.add_row("format version", str(header.version))
    facts.add_row(
        "made", f"{made:%Y-%m-%d %H:%M:%S} UTC" if made else f"unknown (the header says {header.made_at_ms})"
    )
    facts.add_row("by", header.app_version or "unknown")
    facts.add_row("first by", header.first_app_version or "unknown")
    facts.add_row("size", f"{answer.bytes:,} bytes in {answer.frames:,} frames")
    console().print(facts)
    counts = Table(box=None, pad_edge=False, header_style="bold")
    counts.add_column("record")
    counts.add_column("count", justify="right")
    for record, count in answer.counts.items():
        counts.add_row(record, f"{count:,}")
    if answer.empty_frames:
        counts.add_row("(empty frames)", f"{answer.empty_frames:,}")
    console().print()
    console().print(counts)
