"""`holdfast archive chats`, `show`, `people`, `info` and `skipped`."""

from typing import Annotated

import typer
from rich.text import Text

from holdfast.backup.archives import Position
from holdfast.backup.archives.query import parse_date
from holdfast.cli.archive.shared import ArchiveArgument, print_message
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.output import JsonOption, console, print_json, print_note, print_table, printable
from holdfast.cli.passphrases import PassphraseFileOption, open_archive
from holdfast.cli.times import ZoneOption, zone_of

__all__ = ["chats", "info", "people", "show", "skipped"]


def chats(
    archive_file: ArchiveArgument,
    *,
    zone: ZoneOption = None,
    passphrase_file: PassphraseFileOption = None,
    json: JsonOption = False,
) -> None:
    """List the chats of an archive with their numbers."""
    times = zone_of(zone)
    with open_archive(archive_file, passphrase_file) as opened:
        stored_chats = opened.chats()
    if json:
        print_json(stored_chats)
        return
    several = len({chat.account_id for chat in stored_chats}) > 1
    rows: list[list[Text | str]] = [
        [
            Text(printable(chat.name), "dim" if chat.vanished else ""),
            chat.kind.replace("_", " "),
            f"{chat.messages:,}",
            times.bare(chat.latest_ms) if chat.latest_ms else "",
            str(chat.id),
            printable(chat.account) if several else "",
        ]
        for chat in stored_chats
    ]
    columns = ("chat", "kind", "messages#", f"latest ({times.name})", "number#", "account")
    print_table(columns, rows, optional=("kind", "account", columns[3]))


def show(
    archive_file: ArchiveArgument,
    chat: Annotated[str, typer.Argument(help="The chat: its name, how the name begins, or its number.")],
    *,
    around: Annotated[
        str | None,
        typer.Option("--around", help="Begin around a date: 2024, 2024-05, 2024-05-31, 2024-05-31T18:00."),
    ] = None,
    before: Annotated[
        str | None,
        typer.Option("--before", help="Continue before this position, as printed by the previous page."),
    ] = None,
    after: Annotated[
        str | None, typer.Option("--after", help="Continue after this position, as printed by the previous page.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Messages per page.", min=1, max=1000)] = 50,
    zone: ZoneOption = None,
    passphrase_file: PassphraseFileOption = None,
    json: JsonOption = False,
) -> None:
    """Show a page of a chat: the latest messages, or those around a date."""
    times = zone_of(zone)
    with open_archive(archive_file, passphrase_file) as opened:
        page = opened.page(
            opened.chat_id(chat),
            before=parse_position(before),
            after=parse_position(after),
            around_ms=parse_date(around, zone=times.zone) if around else None,
            limit=limit,
        )
    if json:
        print_json(page)
        return
    out = console()
    for message in page.messages:
        print_message(out, message, times)
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


def people(
    archive_file: ArchiveArgument,
    *,
    passphrase_file: PassphraseFileOption = None,
    json: JsonOption = False,
) -> None:
    """List the people of an archive by number of messages."""
    with open_archive(archive_file, passphrase_file) as opened:
        stored_people = opened.people()
    if json:
        print_json(stored_people)
        return
    rows: list[list[Text | str]] = []
    for person in stored_people:
        name = Text(printable(person.name), "dim" if person.vanished else "")
        if person.kind == "self":
            name.append(" (you)", "green")
        if person.blocked:
            name.append(" (blocked)", "red")
        username = printable(person.username or "")
        rows.append([name, person.phone or "", username, f"{person.messages:,}", str(person.id)])
    print_table(("name", "phone", "username", "messages#", "number#"), rows, optional=("username", "phone"))


def info(
    archive_file: ArchiveArgument,
    *,
    zone: ZoneOption = None,
    passphrase_file: PassphraseFileOption = None,
    json: JsonOption = False,
) -> None:
    """List the backups that were imported into an archive."""
    times = zone_of(zone)
    with open_archive(archive_file, passphrase_file) as opened:
        snapshots = opened.snapshots()
    if json:
        print_json(snapshots)
        return
    rows = [
        [
            printable(part)
            for part in (
                snapshot.account,
                times.bare(snapshot.made_ms),
                snapshot.app_version,
                f"{snapshot.messages:,}",
                snapshot.source,
                str(snapshot.id),
            )
        ]
        for snapshot in snapshots
    ]
    columns = ("account", f"made ({times.name})", "by", "messages#", "imported from", "number#")
    print_table(columns, rows, optional=("by", "imported from"))


def skipped(
    archive_file: ArchiveArgument,
    *,
    snapshot: Annotated[
        int | None, typer.Option("--snapshot", help="Only what this backup has, by its number in `info`.")
    ] = None,
    passphrase_file: PassphraseFileOption = None,
    json: JsonOption = False,
) -> int:
    """List the records that imports skipped or changed, with their frame numbers."""
    with open_archive(archive_file, passphrase_file) as opened:
        records = list(opened.skipped(snapshot))
    if json:
        print_json(records)
        return ExitCode.FINE
    rows = []
    for record in records:
        times = f" ({record.times} times)" if record.times > 1 else ""
        description = printable(record.what) + times
        rows.append([str(record.snapshot), f"{record.frame:,}", record.record, record.action, description])
    if records:
        columns = ("backup#", "frame#", "record", "what became of it", "what")
        print_table(columns, rows, optional=("backup#",), wrapped="what")
    else:
        print_note("nothing was left out or read as something else")
    return ExitCode.FINE
