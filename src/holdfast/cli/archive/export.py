"""`holdfast archive export`, and the options, progress bar and result that `holdfast backup export` shares."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from holdfast.backup.archives import Archive
from holdfast.backup.archives.query import parse_date
from holdfast.backup.exports import ChatSelection, ExportSummary, Form, export
from holdfast.backup.exports import Progress as Tell
from holdfast.cli.archive.shared import ArchiveArgument
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.output import JsonOption, console, print_json, print_note, printable
from holdfast.cli.outputs import check_target
from holdfast.cli.passphrases import PassphraseFileOption, open_archive
from holdfast.counts import count_of

__all__ = [
    "ChatOption",
    "ExportResult",
    "MediaOption",
    "PlainOption",
    "SearchOption",
    "SinceOption",
    "SingleFileOption",
    "TargetArgument",
    "ToOption",
    "UntilOption",
    "ZoneOption",
    "check_options",
    "export_archive",
    "export_progress",
    "parse_choice",
    "parse_zone",
    "print_result",
]

TargetArgument = Annotated[
    Path,
    typer.Argument(
        help="The output folder: a new one, or that of an earlier export. With --single-file a new HTML file.",
        show_default=False,
    ),
]
ToOption = Annotated[Form, typer.Option("--to", help="The format to write.")]
ChatOption = Annotated[
    list[str] | None,
    typer.Option("--chat", help="Only this chat: its name, how it begins, or its number; may be repeated."),
]
SinceOption = Annotated[
    str | None, typer.Option("--since", help="Only from this date on: 2024, 2024-05, 2024-05-31.")
]
UntilOption = Annotated[str | None, typer.Option("--until", help="Only up to the end of this date.")]
MediaOption = Annotated[
    bool, typer.Option("--media/--no-media", help="Write the attachments beside the messages.")
]
SearchOption = Annotated[
    bool, typer.Option("--search/--no-search", help="HTML: add a search that works without a server.")
]
PlainOption = Annotated[
    bool, typer.Option("--plain", help="CSV: do not escape texts that a spreadsheet could run as formulas.")
]
SingleFileOption = Annotated[
    bool, typer.Option("--single-file", help="HTML: write one chat as one file, with its attachments in it.")
]
ZoneOption = Annotated[
    str | None,
    typer.Option(
        "--zone",
        help="HTML, Markdown: the time zone of times, --since and --until, such as Europe/Berlin; without it UTC.",
    ),
]
# The number of problems printed; the rest is only counted.
SHOWN = 20


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The result of an export, with missing and damaged attachments."""

    target: Path
    form: Form
    written: int
    unchanged: int
    removed: int
    problems: tuple[str, ...] = ()


def parse_choice(chat: list[str] | None, since: str | None, until: str | None, zone: tzinfo) -> ChatSelection:
    """Return the selection of chats and dates of an export."""
    choice = ChatSelection(
        tuple(chat or ()),
        None if since is None else parse_date(since, zone=zone),
        None if until is None else parse_date(until, end=True, zone=zone),
    )
    if choice.since_ms is not None and choice.until_ms is not None and choice.since_ms >= choice.until_ms:
        raise typer.BadParameter("it ends before it begins", param_hint="--until")
    return choice


def check_options(to: Form, *, search: bool, plain: bool, single_file: bool, chat: list[str] | None) -> None:
    """Raise an error for options that do not apply to a format."""
    if single_file and to != "html":
        raise typer.BadParameter("only HTML can be a single file", param_hint="--single-file")
    if single_file and len(chat or ()) != 1:
        raise typer.BadParameter("a single file has one chat; name it with --chat", param_hint="--single-file")
    if plain and to != "csv":
        raise typer.BadParameter("only CSV has a plain form", param_hint="--plain")
    if not search and to != "html":
        raise typer.BadParameter("only HTML has a search", param_hint="--no-search")


def parse_zone(name: str | None, to: Form) -> tzinfo:
    """Return the time zone of pages; data is always in UTC."""
    if name is None:
        return UTC
    if to not in {"html", "markdown"}:
        raise typer.BadParameter(
            "only HTML and Markdown tell times in a zone, data is in UTC", param_hint="--zone"
        )
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        raise typer.BadParameter(f"there is no time zone {name}", param_hint="--zone") from None


@contextmanager
def export_progress(name: str) -> Iterator[Tell | None]:
    """Show the progress of an export on a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} messages, {task.fields[rate]:,.0f}/s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as progress:
        task = progress.add_task(printable(name), total=0, rate=0)

        def report(completed: int, total: int) -> None:
            elapsed = progress.tasks[0].elapsed or 0
            progress.update(task, completed=completed, total=total, rate=completed / elapsed if elapsed else 0)

        yield report


def print_result(target: Path, form: Form, summary: ExportSummary, problems: list[str], *, json: bool) -> int:
    """Print the result of an export, and the attachments it could not export."""
    if json:
        print_json(
            ExportResult(target, form, summary.written, summary.unchanged, summary.removed, tuple(problems))
        )
    else:
        written = count_of(summary.written, "file")
        line = f"{written} written, {summary.unchanged:,} unchanged, {summary.removed:,} removed"
        console().print(f"{printable(str(target))}: {line}")
        for problem in problems[:SHOWN]:
            print_note(f"note: {problem}")
        if len(problems) > SHOWN:
            print_note(f"... and {len(problems) - SHOWN:,} more; --json lists them all")
    return ExitCode.NO if problems else ExitCode.FINE


def export_archive(
    archive_file: ArchiveArgument,
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
    passphrase_file: PassphraseFileOption = None,
    json: JsonOption = False,
) -> int:
    """Export an archive as HTML pages or data files; a repeated export updates only what changed."""
    check_options(to, search=search, plain=plain, single_file=single_file, chat=chat)
    times = parse_zone(zone, to)
    choice = parse_choice(chat, since, until, times)
    check_target(target, [archive_file], folder=not single_file)
    with open_archive(archive_file, passphrase_file) as opened:
        with export_progress(target.name) as progress:
            summary = export(
                opened,
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
        if media and not has_media(opened) and not json:
            print_note("note: attachments are named only; `holdfast archive import --media` brings their files")
    return print_result(target, to, summary, [], json=json)


def has_media(opened: Archive) -> bool:
    """Return whether the attachments of an archive are stored beside it, or it has none."""
    (exists,) = opened.connection.execute(
        "SELECT EXISTS (SELECT 1 FROM media) OR NOT EXISTS (SELECT 1 FROM attachment WHERE media_name IS NOT NULL)"
    ).fetchone()
    return bool(exists)
