"""`holdfast backup redact`: a copy without personal content."""

import sys
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from holdfast.backup import KeyMaterial, Redaction, redact
from holdfast.cli.inputs import SourceArgument, resolve_input, size_of
from holdfast.cli.keys import AccountOption, KeyFileOption, KeyOption, with_keys
from holdfast.cli.output import JsonOption, byte_progress, console, print_json, print_note, printable
from holdfast.cli.outputs import ForceOption, check_target
from holdfast.counts import count_of

__all__ = ["redact_backup"]


def redact_backup(
    source: SourceArgument,
    target: Annotated[Path, typer.Argument(help="The frame stream to write; `-` is standard output.")],
    *,
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="The same seed gives the same copy. Default: random."),
    ] = None,
    force: ForceOption = False,
    key_file: KeyFileOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> None:
    """Write a redacted copy for a bug report: the same records, sizes and errors, without texts and names."""
    check_target(target, [source, key_file], force=force)
    where: Path | BinaryIO = sys.stdout.buffer if str(target) == "-" else target

    def redact_with(keys: KeyMaterial | None) -> Redaction:
        with byte_progress(source.name, size_of(source)) as progress:
            return redact(resolve_input(source), where, keys, seed=seed, progress=progress, replace=force)

    redaction = with_keys(redact_with, key=key, key_file=key_file, account_id=account_id)
    if redaction.damaged:
        note = (
            "frame is damaged, and so is its copy"
            if redaction.damaged == 1
            else "frames are damaged, as are their copies"
        )
        print_note(f"note: {redaction.damaged:,} {note}")
    if redaction.gaps:
        places = "place" if redaction.gaps == 1 else "places"
        print_note(f"note: nothing can be read in {redaction.gaps:,} {places}, and nothing is copied from there")
    for fault in redaction.faults:
        print_note(f"note: {fault}; the copy is a plain stream, and does not have that fault")
    if redaction.problem:
        print_note(f"note: {redaction.problem}; the copy ends there too")
    if json:
        print_json(redaction)
    elif str(target) != "-":
        console().print(f"{printable(str(target))}: {count_of(redaction.frames, 'frame')}, redacted")
