"""`holdfast archive chats`, `show`, `people`, `info` and `skipped`."""

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from holdfast.backup import archives
from holdfast.backup.archives import Position
from holdfast.backup.archives.query import parse_date
from holdfast.cli.archive.shared import ArchiveArgument, format_time, print_message
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.output import JsonOption, console, print_json, print_note, printable

__all__ = ["chats", "info", "people", "show", "skipped"]


def table_of(*columns: str) -> Table:
    """Return a plain table; columns whose name ends in `#` are right-aligned."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column.rstrip("#"), justify="right" if column.endswith("#") else "left")
    return table


def chats(archive_file: ArchiveArgument, *, json: JsonOption = False) -> None:
    """List the chats of an archive with their numbers."""
    with archives.open(archive_file) as opened:
        listed = opened.chats()
    if json:
        print_json(listed)
        return
    several = len({chat.account_id for chat in listed}) > 1
    table = table_of("chat", "kind", "messages#", "latest", "number#", *(["account"] if several else []))
    for chat in listed:
        name = Text(printable(chat.name), "dim" if chat.vanished else "")
        kind = chat.kind.replace("_", " ")
        row: list[Text | str] = [
            name,
            kind,
            f"{chat.messages:,}",
            format_time(chat.latest_ms) if chat.latest_ms else "",
            str(chat.id),
        ]
        table.add_row(*row, *([printable(chat.account)] if several else []))
    console().print(table)


def show(
    archive_file: ArchiveArgument,
    chat: Annotated[str, typer.Argument(help="The chat: its name, how the name begins, or its number.")],
    *,
    around: Annotated[
        str | None,
        typer.Option("--around", help="Begin around a date: 2024, 2024-05, 2024-05-31, 2024-05-31T18:00."),
    ] = None,
    before: Annotated[
        str | None, typer.Option("--before", help="Go on before this place, as the last page says.")
    ] = None,
    after: Annotated[
        str | None, typer.Option("--after", help="Go on after this place, as the last page says.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", help="How many messages make a page.", min=1, max=1000)
    ] = 50,
    json: JsonOption = False,
) -> None:
    """Show a page of a chat: the latest messages, or those around a date."""
    with archives.open(archive_file) as opened:
        page = opened.page(
            opened.chat_id(chat),
            before=parse_position(before),
            after=parse_position(after),
            around_ms=parse_date(around) if around else None,
            limit=limit,
        )
    if json:
        print_json(page)
        return
    out = console()
    for message in page.messages:
        print_message(out, message)
    if page.older:
        print_note(f"earlier messages: --before {format_position(page.older)}")
    if page.newer:
        print_note(f"later messages: --after {format_position(page.newer)}")
    if not page.messages:
        print_note("there are no messages here")


def format_position(position: Position) -> str:
    """Encode a position as a page token."""
    return f"{position.ms}.{position.n}.{position.id}"


def parse_position(text: str | None) -> Position | None:
    """Parse a page token."""
    if text is None:
        return None
    parts = text.split(".")
    if len(parts) != 3 or not all(part.isascii() and part.isdecimal() and len(part) < 19 for part in parts):
        raise typer.BadParameter(f"{text} is not a place in a chat; the end of a page names them")
    return Position(*(int(part) for part in parts))


def people(archive_file: ArchiveArgument, *, json: JsonOption = False) -> None:
    """List the people of an archive by number of messages."""
    with archives.open(archive_file) as opened:
        listed = opened.people()
    if json:
        print_json(listed)
        return
    table = table_of("name", "phone", "username", "messages#", "number#")
    for person in listed:
        name = Text(printable(person.name), "dim" if person.vanished else "")
        if person.kind == "self":
            name.append(" (you)", "green")
        if person.blocked:
            name.append(" (blocked)", "red")
        table.add_row(
            name, person.phone or "", printable(person.username or ""), f"{person.messages:,}", str(person.id)
        )
    console().print(table)


def info(archive_file: ArchiveArgument, *, json: JsonOption = False) -> None:
    """List the backups that were imported into an archive."""
    with archives.open(archive_file) as opened:
        snapshots = opened.snapshots()
    if json:
        print_json(snapshots)
        return
    table = table_of("account", "made", "by", "messages#", "imported from", "number#")
    for snapshot in snapshots:
        row = (
            snapshot.account,
            format_time(snapshot.made_ms),
            snapshot.app_version,
            f"{snapshot.messages:,}",
            snapshot.source,
            str(snapshot.id),
        )
        table.add_row(*(Text(printable(part)) for part in row))
    console().print(table)


def skipped(
    archive_file: ArchiveArgument,
    *,
    snapshot: Annotated[
        int | None, typer.Option("--snapshot", help="Only what this backup has, by its number in `info`.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """List the records that imports skipped or changed, with their frame numbers."""
    with archives.open(archive_file) as opened:
        records = list(opened.skipped(snapshot))
    if json:
        print_json(records)
        return ExitCode.FINE
    table = table_of("backup#", "frame#", "record", "what became of it", "what")
    for record in records:
        times = f" ({record.times} times)" if record.times > 1 else ""
        table.add_row(
            str(record.snapshot),
            f"{record.frame:,}",
            record.record,
            record.action,
            Text(printable(record.what) + times),
        )
    if records:
        console().print(table)
    else:
        print_note("nothing was left out or read as something else")
    return ExitCode.FINE
