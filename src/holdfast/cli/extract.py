"""`holdfast backup extract`."""

from pathlib import Path
from typing import Annotated, Final

import typer

from holdfast import backup
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.media import ExtractedAttachment, extract
from holdfast.cli import summary
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.inputs import SourceArgument, with_open_backup
from holdfast.cli.keys import AccountOption, KeyFileOption, KeyOption, with_keys
from holdfast.cli.output import JsonOption, console, count_progress, print_json, print_note, printable
from holdfast.cli.outputs import ForceOption, check_target
from holdfast.counts import count_of

__all__ = ["extract_media"]

# The number of problems printed; the rest is only counted.
SHOWN: Final = 20


def extract_media(
    source: SourceArgument,
    target: Annotated[Path, typer.Argument(help="The folder to write the attachments to.")],
    *,
    force: ForceOption = False,
    key_file: KeyFileOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> None:
    """Extract the attachments of a backup folder or an export as files, by chat."""
    check_target(target, [source, key_file], folder=True)

    def extract_with(keys: KeyMaterial | None) -> list[ExtractedAttachment]:
        def run(opened: backup.Backup) -> list[ExtractedAttachment]:
            with count_progress("attachments") as progress:
                return [progress(item) for item in extract(opened, target, replace=force)]

        return with_open_backup(source, keys, run)

    extracted_attachments = with_keys(extract_with, key=key, key_file=key_file, account_id=account_id)
    failed = [item for item in extracted_attachments if item.problem]
    if json:
        names = ("frame", "media_name", "path", "bytes", "problem")
        print_json([{name: getattr(item, name) for name in names} for item in extracted_attachments])
    else:
        for item in failed[:SHOWN]:
            print_note(f"frame {item.frame}: {item.problem}")
        if len(failed) > SHOWN:
            print_note(f"... and {len(failed) - SHOWN:,} more; --json lists them all")
        written = len(extracted_attachments) - len(failed)
        size = summary.human_size(sum(item.bytes for item in extracted_attachments))
        found = f"{count_of(written, 'attachment')}, {size}, in {printable(str(target))}"
        console().print(f"{found}; {len(failed):,} missing or damaged")
    if failed:
        raise typer.Exit(ExitCode.NO)
