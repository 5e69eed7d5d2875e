"""Entry points of all exports, from an archive or directly from a backup."""

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, tzinfo
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Final, Literal, get_args

from filelock import FileLock, Timeout

from holdfast.backup.archives import Archive, is_archive
from holdfast.backup.archives import open as open_archive
from holdfast.backup.archives.imports import Progress as Importing
from holdfast.backup.backup_reader import Backup, BackupSource, opened
from holdfast.backup.container.atomic_write import check_replaceable
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.errors import ArchiveBusy, ArchiveError, ExportRefused, UnwritableBackup
from holdfast.backup.exports.arrow import check_pyarrow
from holdfast.backup.exports.choice import ChatSelection, selected_chats
from holdfast.backup.exports.csv_files import write_csv
from holdfast.backup.exports.folder import ExportSummary, check_target
from holdfast.backup.exports.html import write_html
from holdfast.backup.exports.html.single_page import write_single_page
from holdfast.backup.exports.job import Progress
from holdfast.backup.exports.jsonl import write_json
from holdfast.backup.exports.markdown import write_markdown
from holdfast.backup.exports.parquet import write_parquet
from holdfast.backup.exports.stamps import change_counter, export_stamp
from holdfast.backup.exports.zip_file import ZipTarget
from holdfast.backup.public import public

__all__ = ["FORMS", "Form", "export", "export_archive", "export_backup", "export_zip", "temporary_archive"]

Form = Literal["html", "markdown", "json", "csv", "parquet"]
FORMS: Final[tuple[Form, ...]] = get_args(Form)
# The prefix of the temporary folder beside the target, the file in it that is locked while it is used, and the
# folder with the archive.
TEMPORARY: Final = ".holdfast-temporary-archive-"
LOCK: Final = "export.lock"
CONTENT: Final = "content"


@public
def export(
    source: Archive | BackupSource,
    target: str | PathLike[str],
    form: Form,
    choice: ChatSelection | None = None,
    *,
    key: KeyMaterial | str | None = None,
    passphrase: str | None = None,
    media: bool = True,
    search: bool = True,
    plain: bool = False,
    single_file: bool = False,
    zone: tzinfo = UTC,
    progress: Progress | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> ExportSummary:
    """Export a backup or an archive, or a selection of it, to a folder.

    `form` is `html`, `markdown`, `json`, `csv` or `parquet`. If the folder has an export already, only changed
    files are written. `key` opens a backup, `passphrase` an encrypted archive. `media` includes the available
    files of attachments; `on_problem` is called for those of a backup that are missing or damaged. `search` adds a
    search page to HTML, `plain` writes CSV for programs, `zone` is the time zone of times in HTML and Markdown.
    With `single_file` the target is a new HTML file of one chat that embeds the files of its attachments.

    >>> hb.export("chats.binproto", "pages", "html").written
    68
    """
    folder = Path(target)
    if isinstance(source, Archive) or is_archive(source):
        opened_archive = source if isinstance(source, Archive) else open_archive(source, passphrase=passphrase)
        # An archive that the caller has opened stays open.
        with nullcontext() if opened_archive is source else opened_archive:
            return export_archive(
                opened_archive,
                folder,
                form,
                choice,
                media=media,
                search=search,
                plain=plain,
                single_file=single_file,
                zone=zone,
                progress=progress,
            )
    with opened(source, key) as backup:
        return export_backup(
            backup,
            folder,
            form,
            choice,
            media=media,
            search=search,
            plain=plain,
            single_file=single_file,
            zone=zone,
            progress=progress,
            on_problem=on_problem,
        )


def export_archive(
    archive: Archive,
    target: Path,
    form: Form,
    choice: ChatSelection | None = None,
    *,
    media: bool = True,
    search: bool = True,
    plain: bool = False,
    single_file: bool = False,
    zone: tzinfo = UTC,
    progress: Progress | None = None,
) -> ExportSummary:
    """Export an archive, or a selection of it, to a folder; in an existing export, write only changed files.

    `media` includes the files of attachments that the archive has. `search` adds a search page to HTML, `plain`
    writes CSV for programs, `zone` is the time zone of times in HTML and Markdown. With `single_file` the target
    is a new HTML file of one chat.
    """
    selection = choice or ChatSelection()
    check_form(form, single_file=single_file)
    changes = change_counter(archive)
    with read_transaction(archive):
        for name in selection.chats:
            archive.chat_id(name)  # a name that fits no chat is refused before anything is written
        if single_file:
            return write_single_page(archive, target, selection, media=media, zone=zone, progress=progress)
        stamp = export_stamp(archive, changes, selection, form, zone, media, search, plain)
        if form == "html":
            return write_html(
                archive, target, selection, media=media, search=search, zone=zone, progress=progress, stamp=stamp
            )
        if form == "markdown":
            return write_markdown(
                archive, target, selection, media=media, zone=zone, progress=progress, stamp=stamp
            )
        if form == "csv":
            return write_csv(archive, target, selection, media=media, plain=plain, progress=progress, stamp=stamp)
        write = write_json if form == "json" else write_parquet
        return write(archive, target, selection, media=media, progress=progress, stamp=stamp)


def check_form(form: Form, *, single_file: bool) -> None:
    """Raise `ExportRefused` for a single file in a form other than HTML."""
    if single_file and form != "html":
        raise ExportRefused(f"a single file must be HTML, not {form}")


def export_zip(
    archive: Archive,
    stream: BinaryIO,
    form: Literal["html", "json"],
    *,
    search: bool = True,
    in_memory: bool = False,
    problems: Sequence[str] = (),
) -> ExportSummary:
    """Export an archive with its media as a ZIP archive to a stream, in one process.

    `search` adds a search page to HTML. With `in_memory` no temporary files are written, in which its index is
    sorted otherwise. `problems` are listed in a file of the ZIP archive, as they are at the end of the export.
    """
    choice = ChatSelection()
    with read_transaction(archive), ZipTarget(stream, problems) as target:
        if form == "json":
            return write_json(archive, target, choice)
        return write_html(archive, target, choice, media=True, search=search, parallel=False, in_memory=in_memory)


@contextmanager
def read_transaction(archive: Archive) -> Iterator[None]:
    """Read the archive in one transaction; concurrent imports are not visible to the export."""
    archive.forget_names()
    try:
        archive.connection.execute("BEGIN")
        try:
            yield
        finally:
            archive.connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise ArchiveBusy("somebody is writing to the archive; try again when that is done") from error
        raise ArchiveError(f"{archive.path} cannot be read: {error}") from error
    except sqlite3.DatabaseError as error:
        raise ArchiveError(f"{archive.path} cannot be read: {error}") from error


def export_backup(
    backup: Backup,
    target: Path,
    form: Form,
    choice: ChatSelection | None = None,
    *,
    media: bool = True,
    search: bool = True,
    plain: bool = False,
    single_file: bool = False,
    zone: tzinfo = UTC,
    progress: Progress | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> ExportSummary:
    """Export a backup, or a selection of it, to a folder, as `export_archive` does with an archive.

    `on_problem` is called for each attachment that is missing or damaged; the others are exported.
    """
    with temporary_archive(
        backup, target, form, choice, media=media, single_file=single_file, on_problem=on_problem
    ) as archive:
        return export_archive(
            archive,
            target,
            form,
            choice,
            media=media,
            search=search,
            plain=plain,
            single_file=single_file,
            zone=zone,
            progress=progress,
        )


@contextmanager
def temporary_archive(
    backup: Backup,
    target: Path,
    form: Form,
    choice: ChatSelection | None = None,
    *,
    media: bool = True,
    single_file: bool = False,
    progress: Importing | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> Iterator[Archive]:
    """Import a backup into a temporary archive, with the media that an export needs."""
    # The import takes time, so invalid targets are refused first.
    check_form(form, single_file=single_file)
    if single_file:
        check_replaceable(target, replace=False)
    else:
        check_target(target)
    if form == "parquet":
        check_pyarrow()
    # On the file system of the target, so that files can be hard-linked instead of copied.
    parent = next(folder for folder in target.absolute().parents if folder.is_dir())
    remove_left_behind(parent)
    with (
        locked_temporary_folder(parent, target) as folder,
        open_archive(folder / "archive.db", create=True) as archive,
    ):
        archive.add(backup, progress=progress)
        if backup.media is not None:
            for copied in archive.copy_media(
                backup, only=needed_media(archive, choice or ChatSelection(), media=media)
            ):
                if copied.problem and on_problem is not None:
                    on_problem(copied.problem)
        yield archive


@contextmanager
def locked_temporary_folder(parent: Path, target: Path) -> Iterator[Path]:
    """Create a folder that is removed at the end; a lock beside it is held until then."""
    try:
        temporary_folder = tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=parent)
    except OSError as error:
        raise UnwritableBackup(f"{target} cannot be written: {error.strerror}") from error
    with temporary_folder as folder, FileLock(Path(folder) / LOCK, mode=0o600):
        content = Path(folder) / CONTENT
        content.mkdir()
        try:
            yield content
        finally:
            # Before the lock: if this is interrupted, the next export continues.
            shutil.rmtree(content, ignore_errors=True)


def remove_left_behind(parent: Path) -> None:
    """Remove the temporary archives of exports that were killed: their locks are free.

    A folder that has anything else in it is not such an archive.
    """
    for folder in parent.glob(f"{TEMPORARY}*"):
        with suppress(OSError, Timeout):
            names = {path.name for path in folder.iterdir()}
            if folder.is_symlink() or LOCK not in names or not names <= {LOCK, CONTENT}:
                continue
            with FileLock(folder / LOCK, mode=0o600, timeout=0):
                pass
            shutil.rmtree(folder)


def needed_media(archive: Archive, choice: ChatSelection, *, media: bool = True) -> set[str]:
    """Return the media names that a selection needs; without media, those of long texts."""
    rows = archive.connection.execute(
        "SELECT DISTINCT a.media_name FROM attachment a JOIN message m ON m.id = a.message_id "
        "WHERE a.media_name IS NOT NULL AND (?4 OR a.role = 'long_text') "
        "AND m.chat_id IN (SELECT value FROM json_each(?1)) "
        "AND (?2 IS NULL OR m.order_ms >= ?2) AND (?3 IS NULL OR m.order_ms < ?3)",
        (
            json.dumps([chat.id for chat in selected_chats(archive, choice)]),
            choice.since_ms,
            choice.until_ms,
            media,
        ),
    )
    return {name for (name,) in rows}
