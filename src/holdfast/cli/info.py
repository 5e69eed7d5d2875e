"""`holdfast backup info`."""

from typing import Annotated

import typer

from holdfast import backup
from holdfast.cli import summary
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.inputs import SourceArgument, with_open_backup
from holdfast.cli.keys import AccountOption, KeyFileOption, KeyOption, with_keys
from holdfast.cli.output import JsonOption, print_json

__all__ = ["show_info"]


def show_info(
    file: SourceArgument,
    *,
    verify_media: Annotated[
        bool,
        typer.Option(
            "--verify-media",
            help="Decrypt every attachment and compare its hash; exit with 1 if one is missing or damaged.",
        ),
    ] = False,
    key_file: KeyFileOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> None:
    """Show a summary of a backup: creation time, app version, chats, contacts, messages, dates and media."""
    info = with_keys(
        lambda keys: with_open_backup(file, keys, lambda opened: backup.info(opened, verify_media=verify_media)),
        key=key,
        key_file=key_file,
        account_id=account_id,
    )
    if json:
        print_json(info)
    else:
        summary.show(info)
    if verify_media and info.media is not None and (info.media.missing or info.media.damaged):
        raise typer.Exit(ExitCode.NO)
