"""`holdfast backup export`."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from holdfast import backup
from holdfast.backup import KeyMaterial
from holdfast.backup.exports import ExportSummary, export, temporary_archive
from holdfast.cli.archive.export import (
    ChatOption,
    MediaOption,
    PlainOption,
    SearchOption,
    SinceOption,
    SingleFileOption,
    TargetArgument,
    ToOption,
    UntilOption,
    ZoneOption,
    check_options,
    export_progress,
    parse_choice,
    parse_zone,
    print_result,
)
from holdfast.cli.archive.import_command import import_progress
from holdfast.cli.inputs import SourceArgument
from holdfast.cli.keys import AccountOption, KeyFileOption, KeyOption, with_keys
from holdfast.cli.output import JsonOption, print_note
from holdfast.cli.outputs import check_target

__all__ = ["export_backup"]


def export_backup(
    source: SourceArgument,
    target: TargetArgument,
    *,
    to: ToOption = "html",
    chat: ChatOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    media: MediaOption = True,
    search: SearchOption = True,
    plain: PlainOption = False,
    single_file: SingleFileOption = False,
    zone: ZoneOption = None,
    key_file: KeyFileOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    json: JsonOption = False,
) -> int:
    """Export a backup as HTML pages or data files; a repeated export updates only what changed."""
    check_options(to, search=search, plain=plain, single_file=single_file, chat=chat)
    times = parse_zone(zone, to)
    choice = parse_choice(chat, since, until, times)
    check_target(target, [source, key_file], folder=not single_file)
    problems: list[str] = []

    def export_with(keys: KeyMaterial | None) -> ExportSummary:
        problems.clear()
        file: Path | BinaryIO = sys.stdin.buffer if str(source) == "-" else source
        with ExitStack() as stack:
            opened = stack.enter_context(backup.open(file, keys))
            with import_progress(source.name) as importing:
                archive = stack.enter_context(
                    temporary_archive(
                        opened,
                        target,
                        to,
                        choice,
                        media=media,
                        single_file=single_file,
                        progress=importing,
                        on_problem=problems.append,
                    )
                )
            with export_progress(target.name) as progress:
                return export(
                    archive,
                    target,
                    to,
                    choice,
                    media=media,
                    search=search,
                    plain=plain,
                    single_file=single_file,
                    zone=times,
                    progress=progress,
                )

    summary = with_keys(export_with, key=key, key_file=key_file, account_id=account_id)
    status = print_result(target, to, summary, problems, json=json)
    if problems and not json:
        print_note("`holdfast backup check` lists these attachments by chat, date and person")
    return status
