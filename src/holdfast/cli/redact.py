"""`holdfast backup redact`: a copy that can be shown to strangers."""

import sys
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from holdfast.backup import KeyMaterial, Redaction, redact
from holdfast.cli.keys import AccountOption, KeyFileOption, KeyOption, with_keys
from holdfast.cli.opened import SourceArgument, opened
from holdfast.cli.output import JsonOption, console, print_json, print_note

__all__ = ["redact_backup"]


def redact_backup(
    source: SourceArgument,
    target: Annotated[Path, typer.Argument(help="The frame stream to write; `-` is standard output.")],
    *,
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="The same seed makes the same copy again; without it each copy differs."),
    ] = None,
    key_file: KeyFileOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> None:
    """Copy a backup without what was written in it, to attach to a bug report: same records, sizes and faults."""
    where: Path | BinaryIO = sys.stdout.buffer if str(target) == "-" else target

    def work(keys: KeyMaterial | None) -> Redaction:
        return opened(source, keys, lambda found: redact(found, where, seed=seed))

    done = with_keys(work, key=key, key_file=key_file, account_id=account_id)
    if done.damaged:
        print_note(f"note: {done.damaged:,} frames are damaged, and so are their copies")
    if done.problem:
        print_note(f"note: {done.problem}; the copy ends there too")
    if json:
        print_json(done)
    elif str(target) != "-":
        console().print(f"{target}: {done.frames:,} frames, and none of what was written in them")
