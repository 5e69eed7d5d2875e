"""`holdfast backup convert`."""

import sys
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer

from holdfast.backup import Backup
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.conversion import Conversion, OutputFormat, convert, form_of
from holdfast.backup.wire import Names
from holdfast.cli.inputs import SourceArgument, with_open_backup
from holdfast.cli.keys import AccountOption, KeyFileOption, KeyOption, gather_keys, with_keys
from holdfast.cli.output import JsonOption, console, print_json, print_note, printable
from holdfast.cli.outputs import ForceOption, check_target
from holdfast.counts import count_of

__all__ = ["convert_backup"]


def convert_backup(
    source: SourceArgument,
    target: Annotated[
        Path, typer.Argument(help="What to write: .binproto, .jsonl, .json, or see --to; `-` is standard output.")
    ],
    *,
    to: Annotated[
        OutputFormat | None,
        typer.Option("--to", help="The output format, if the file name does not determine it."),
    ] = None,
    names: Annotated[
        Literal["spec", "signal"],
        typer.Option("--names", help="The JSON field names: those of the specification or of Signal's apps."),
    ] = "spec",
    new_key_file: Annotated[
        Path | None,
        typer.Option("--new-key-file", help="The keys to encrypt with. Default: those of the source."),
    ] = None,
    force: ForceOption = False,
    key_file: KeyFileOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> None:
    """Convert a backup to another format: plain or encrypted, frames or JSON, file or folder."""
    form = to or form_of(target)
    if form is None:
        raise typer.BadParameter(
            f"the name {target} does not say which form to write; use --to", param_hint="--to"
        )
    check_target(target, [source, key_file, new_key_file], force=force, folder=form is OutputFormat.FOLDER)
    edited: list[int] = []

    def convert_with(keys: KeyMaterial | None) -> Conversion:
        new = (
            keys
            if new_key_file is None
            else gather_keys({}, key=None, key_file=new_key_file, account_id=account_id)
        )
        to_where: Path | BinaryIO = sys.stdout.buffer if str(target) == "-" else target
        chosen: Names = names

        def write(backup: Backup) -> Conversion:
            return convert(backup, to_where, to=form, keys=new, names=chosen, replace=force)

        return with_open_backup(source, keys, write, edited=edited)

    conversion = with_keys(convert_with, key=key, key_file=key_file, account_id=account_id)
    for number in dict.fromkeys(edited):
        print_note(f"note: record {number} was edited; what it says was written, not its kept bytes")
    for problem in conversion.problems:
        print_note(f"note: {problem}")
    if json:
        print_json(conversion)
    elif str(target) != "-":
        media = f" and {count_of(conversion.attachments, 'attachment')}" if form is OutputFormat.FOLDER else ""
        written = f"{printable(str(target))}: {count_of(conversion.frames, 'frame')}{media}"
        console().print(written)
