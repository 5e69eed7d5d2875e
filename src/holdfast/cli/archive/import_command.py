"""`holdfast archive import`."""

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from holdfast import backup
from holdfast.backup import KeyMaterial
from holdfast.backup.archives import Archive, ImportResult
from holdfast.backup.archives.imports import Progress as Tell
from holdfast.backup.container.folder import find_snapshots
from holdfast.backup.errors import ArchiveError, BackupError, ExtraMissing, UnreadableBackup
from holdfast.cli.archive.shared import ArchiveArgument
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.keys import AccountOption, KeyFileOption, KeyOption, with_keys
from holdfast.cli.output import JsonOption, console, print_error, print_json, print_note, printable
from holdfast.cli.passphrases import EncryptOption, PassphraseFileOption, open_archive
from holdfast.cli.times import Zone, ZoneOption, zone_of
from holdfast.counts import count_of

__all__ = ["import_backups"]

SHOWN = 20


@dataclass(frozen=True, slots=True)
class FailedImport:
    """A backup that was not imported while others were, with the exit status of the error."""

    source: str
    error: str
    status: int


def import_backups(
    archive_file: ArchiveArgument,
    backups: Annotated[
        list[Path],
        typer.Argument(help="Backups in any form and any order; `-` reads standard input.", show_default=False),
    ],
    *,
    media: Annotated[
        bool, typer.Option("--media", help="Copy the attachments into a folder beside the archive.")
    ] = False,
    key_file: KeyFileOption = None,
    key: KeyOption = None,
    account_id: AccountOption = None,
    encrypt: EncryptOption = False,
    passphrase_file: PassphraseFileOption = None,
    zone: ZoneOption = None,
    json: JsonOption = False,
) -> int:
    """Import backups into an archive, which is created if it does not exist. Each import is atomic.

    Of several backups, those that cannot be imported are reported, and the others are imported; the exit status is
    that of the first error. Of a phone's folder the latest snapshot is imported; `holdfast keep` imports them all.
    """
    times = zone_of(zone)
    check_existence(backups)
    import_results: list[ImportResult | FailedImport] = []
    failed: list[FailedImport] = []
    problems: list[str] = []
    with open_archive(archive_file, passphrase_file, create=True, encrypt=encrypt) as opened:
        note_restricted(opened.restricted)
        for path in backups:

            def import_with(keys: KeyMaterial | None, path: Path = path) -> ImportResult:
                return import_one(opened, path, keys, problems, media=media)

            try:
                imported = with_keys(import_with, key=key, key_file=key_file, account_id=account_id)
            except (ArchiveError, ExtraMissing):
                raise
            except BackupError as error:
                if len(backups) == 1:
                    raise
                failed.append(report_failure(path, error))
                import_results.append(failed[-1])
                continue
            import_results.append(imported)
            if not json:
                print_result(imported, times)
                note_snapshots(path, imported, times)
    if json:
        print_json(import_results)
    for problem in problems[:SHOWN]:
        print_note(f"note: {problem}")
    if len(problems) > SHOWN:
        print_note(f"note: and {len(problems) - SHOWN:,} more attachments")
    if failed:
        print_note(f"{len(failed):,} of {len(backups):,} backups could not be imported")
        return failed[0].status
    return ExitCode.NO if problems else ExitCode.FINE


def report_failure(path: Path, error: BackupError) -> FailedImport:
    """Print the error of one of several backups, with its name, and return what JSON says of it."""
    from holdfast.cli.error_codes import exit_for, message_of  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    message = message_of(error)
    print_error(message if str(path) in message else f"{path}: {message}")
    return FailedImport(printable(str(path)), printable(message), exit_for(error))


def check_existence(backups: Sequence[Path]) -> None:
    """Raise `UnreadableBackup` for a path that does not exist, before the archive is created."""
    for path in backups:
        if str(path) != "-" and not os.path.lexists(path):
            raise UnreadableBackup(f"{path} cannot be read: {os.strerror(errno.ENOENT)}")


def note_restricted(paths: Sequence[Path]) -> None:
    """Print a note that an archive was readable by others until now."""
    if paths:
        more = f" and {len(paths) - 1:,} more beside it" if len(paths) > 1 else ""
        print_note(f"note: others could read {paths[0]}{more}; now only you can (mode 0600, folders 0700)")


def note_snapshots(path: Path, imported: ImportResult, times: Zone) -> None:
    """Print a note that a phone's folder has more snapshots than the one that was imported."""
    others = len(find_snapshots(path)) - 1 if path.is_dir() else 0
    if others > 0:
        more = "1 earlier snapshot" if others == 1 else f"{others:,} earlier snapshots"
        print_note(
            f"note: this is the latest snapshot of the folder, of {times.time(imported.made_ms)}; it has {more}, "
            "which `holdfast keep` imports too"
        )


def import_one(
    opened: Archive, path: Path, keys: KeyMaterial | None, problems: list[str], *, media: bool
) -> ImportResult:
    """Import one backup, optionally with its attachments."""
    source: Path | BinaryIO = sys.stdin.buffer if str(path) == "-" else path
    with backup.open(source, keys) as source_backup, import_progress(path.name) as progress:
        imported = opened.add(source_backup, progress=progress)
        if media:
            problems += [copied.problem for copied in opened.copy_media(source_backup) if copied.problem]
    return imported


def print_result(imported: ImportResult, times: Zone) -> None:
    """Print the result of an import."""
    line = Text(printable(imported.source))
    line.append(f" of {times.time(imported.made_ms)}: ", "dim")
    if imported.known:
        line.append(f"imported before, nothing changed ({count_of(imported.messages, 'message')})")
    else:
        line.append(f"{count_of(imported.messages, 'message')}, {imported.new:,} new")
        line.append(f", {imported.changed:,} changed" if imported.changed else "")
        line.append(f", {imported.vanished:,} no longer in it" if imported.vanished else "")
        line.append(f", {imported.skipped:,} skipped" if imported.skipped else "")
    console().print(line)


@contextmanager
def import_progress(name: str) -> Iterator[Tell | None]:
    """Show the progress of an import on a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%  {task.fields[messages]:,} messages, {task.fields[rate]:,.0f}/s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as progress:
        task = progress.add_task(printable(name), total=None, messages=0, rate=0)

        def report(completed: int, total: int, messages: int) -> None:
            elapsed = progress.tasks[0].elapsed or 0
            rate = messages / elapsed if elapsed else 0
            progress.update(task, completed=completed, total=total, messages=messages, rate=rate)

        yield report
