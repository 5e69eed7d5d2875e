"""`holdfast archive search`."""

from typing import Annotated, Literal

import typer
from rich.text import Text

from holdfast.backup.archives import Filters
from holdfast.backup.archives.query import add_filter
from holdfast.backup.archives.search import CLOSE, OPEN, Hit
from holdfast.cli.archive.shared import ArchiveArgument, headline, print_message
from holdfast.cli.exit_codes import ExitCode
from holdfast.cli.output import JsonOption, console, print_json, print_note, printable
from holdfast.cli.passphrases import PassphraseFileOption, open_archive
from holdfast.cli.times import Zone, ZoneOption, zone_of

__all__ = ["search"]


def search(
    archive_file: ArchiveArgument,
    query: Annotated[
        str,
        typer.Argument(
            help='Words or how they begin, "phrases", -not, a OR b; chat:, from:, has:media, since: and others.'
        ),
    ],
    *,
    chat: Annotated[str | None, typer.Option("--chat", help="Only in this chat.")] = None,
    person: Annotated[str | None, typer.Option("--from", help="Only by this person; `me` is you.")] = None,
    direction: Annotated[
        Literal["incoming", "outgoing", "none"] | None,
        typer.Option("--direction", help="Only received or sent ones."),
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", help="Only of this kind: message, poll, sticker, ...")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", help="Only from this date on.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Only up to the end of this date.")] = None,
    has_media: Annotated[bool, typer.Option("--has-media", help="Only with a file.")] = False,
    has_link: Annotated[bool, typer.Option("--has-link", help="Only with a link.")] = False,
    by: Annotated[Literal["date", "rank"], typer.Option("--by", help="Sort by date or by relevance.")] = "date",
    context: Annotated[
        int,
        typer.Option("--context", "-C", help="Messages to show before and after each match.", min=0, max=50),
    ] = 0,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Matches to show.", min=1, max=500)] = 20,
    below: Annotated[
        int | None, typer.Option("--below", help="Continue below this message, as printed by the previous page.")
    ] = None,
    whole_words: Annotated[
        bool, typer.Option("--whole-words", help="Find only whole words, not what begins with them.")
    ] = False,
    zone: ZoneOption = None,
    passphrase_file: PassphraseFileOption = None,
    json: JsonOption = False,
) -> int:
    """Search messages; the exit status is 1 if there are no matches."""
    times = zone_of(zone)
    filters = Filters(chat, person, direction, has_media=has_media, has_link=has_link)
    if kind:
        filters = add_filter(filters, "kind", kind)
    if since:
        filters = add_filter(filters, "since", since, zone=times.zone)
    if until:
        filters = add_filter(filters, "until", until, zone=times.zone)
    with open_archive(archive_file, passphrase_file) as opened:
        hits = opened.search(
            query,
            filters=filters,
            order=by,
            limit=limit,
            context=context,
            below=below,
            beginnings=not whole_words,
            zone=times.zone,
        )
    if json:
        print_json(hits)
    else:
        for number, hit in enumerate(hits.hits):
            if number and context:
                console().print()
            show(hit, times)
        if hits.more:
            print_note(f"there are more: --below {hits.more}")
        if not hits.hits:
            print_note("nothing was found")
    return ExitCode.FINE if hits.hits else ExitCode.NO


def show(hit: Hit, times: Zone) -> None:
    """Print a match with the messages around it."""
    out = console()
    for message in hit.before:
        print_message(out, message, times, faint=True)
    out.print(headline(hit.message, times, chat=True))
    line = Text("    ")
    rest = hit.snippet
    while rest:
        plain, _, marked = rest.partition(OPEN)
        matched, _, rest = marked.partition(CLOSE)
        line.append(spaced(plain))
        line.append(spaced(matched), "bold yellow")
    out.print(line)
    for message in hit.after:
        print_message(out, message, times, faint=True)


def spaced(text: str) -> str:
    """Return text as one line, keeping the spaces at its ends."""
    inner = printable(text)
    if not inner:
        return " " if text else ""
    return f"{' ' if text[:1].isspace() else ''}{inner}{' ' if text[-1:].isspace() else ''}"
