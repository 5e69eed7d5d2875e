"""`holdfast archive vanished` and `history`: messages that later backups lack or changed."""

from typing import Annotated, Literal

import typer
from rich.text import Text

from holdfast.backup.archives.query import parse_date
from holdfast.backup.archives.search import find_authors
from holdfast.cli.archive.shared import ArchiveArgument, print_message
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.output import JsonOption, console, print_json, print_note, printable
from holdfast.cli.passphrases import PassphraseFileOption, open_archive
from holdfast.cli.times import ZoneOption, zone_of

__all__ = ["history", "vanished"]

WORDS = {"edited": "edited", "deleted": "deleted", "kind": "became another kind", "details": "details changed"}


def vanished(
    archive_file: ArchiveArgument,
    *,
    what: Annotated[
        Literal["vanished", "edited", "deleted"],
        typer.Option("--what", help="Messages no backup has any more, edited ones, or those deleted in the app."),
    ] = "vanished",
    chat: Annotated[str | None, typer.Option("--chat", help="Only in this chat.")] = None,
    person: Annotated[str | None, typer.Option("--from", help="Only by this person; `me` is you.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="Only sent from this date on.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Only sent up to the end of this date.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Messages to show.", min=1, max=1000)] = 50,
    below: Annotated[
        int | None, typer.Option("--below", help="Continue below this message, as printed by the previous page.")
    ] = None,
    zone: ZoneOption = None,
    passphrase_file: PassphraseFileOption = None,
    json: JsonOption = False,
) -> int:
    """List messages that the newest backup lacks, or that were edited or deleted, the latest first.

    The exit status is 1 if there are none. `holdfast archive history` shows what became of one of them.
    """
    times = zone_of(zone)
    with open_archive(archive_file, passphrase_file) as opened:
        messages = opened.altered(
            what,
            chat=opened.chat_id(chat) if chat else None,
            authors=tuple(find_authors(opened, person)) if person else None,
            since_ms=parse_date(since, zone=times.zone) if since else None,
            until_ms=parse_date(until, end=True, zone=times.zone) if until else None,
            limit=limit + 1,
            below=below,
        )
    shown = messages[:limit]
    if json:
        print_json(shown)
    else:
        out = console()
        for message in shown:
            print_message(out, message, times, chat=True)
            out.print(Text(f"    message {message.id}", "dim"))
    if len(messages) > limit:
        print_note(f"there are more: --below {shown[-1].id}")
    if not shown and not json:
        print_note(f"no message has {what}" if what == "vanished" else f"no message was {what}")
    return ExitCode.FINE if shown else ExitCode.NO


def history(
    archive_file: ArchiveArgument,
    message: Annotated[
        int,
        typer.Argument(
            help="The number of the message, from `archive vanished`, or its id in the JSON of other commands."
        ),
    ],
    *,
    zone: ZoneOption = None,
    passphrase_file: PassphraseFileOption = None,
    json: JsonOption = False,
) -> None:
    """Show what became of a message: earlier wordings, reactions, receipts, and when it vanished."""
    times = zone_of(zone)
    with open_archive(archive_file, passphrase_file) as opened:
        stored_message = opened.message(message)
    if json:
        print_json(stored_message)
        return
    out = console()
    print_message(out, stored_message, times, chat=True)
    for change in stored_message.changes:
        line = f"  {times.time(change.seen_ms)}  {WORDS.get(change.what, change.what)}"
        if change.who:
            line += f" by {change.who}"
        if change.before or change.after:
            line += f": {change.before or 'nothing'} -> {change.after or 'nothing'}"
        out.print(Text(f"  {printable(line)}"))
    if stored_message.vanished_ms is not None:
        out.print(Text(f"  {times.time(stored_message.vanished_ms)}  no longer in the backup", "yellow"))
    if not stored_message.changes and not stored_message.revisions and stored_message.vanished_ms is None:
        print_note("every backup that has it says the same")
