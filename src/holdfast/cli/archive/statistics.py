"""`holdfast archive stats`: drawn in the terminal, as JSON, or as one SVG."""

from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from holdfast.backup import archives
from holdfast.backup.archives.chart import chart
from holdfast.backup.archives.statistics import Statistics
from holdfast.backup.container.whole import write_whole
from holdfast.cli.archive.shared import ArchiveArgument, format_time
from holdfast.cli.archive.show import table_of
from holdfast.cli.output import JsonOption, console, print_json, print_note, printable
from holdfast.cli.summary import human_size

__all__ = ["stats"]

BAR: Final = 40
STEPS: Final = " ▁▂▃▄▅▆▇█"
SHADES: Final = " ░▒▓█"
DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MOST: Final = 15
MONTHS: Final = 36


def stats(
    archive_file: ArchiveArgument,
    *,
    chat: Annotated[str | None, typer.Option("--chat", help="Only of this chat.")] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="Write a drawing to this SVG file instead.")] = None,
    json: JsonOption = False,
) -> None:
    """Show statistics: messages by month, hour, weekday, chat and person; reply times; media by size."""
    with archives.open(archive_file) as opened:
        found = opened.statistics(opened.chat_id(chat) if chat else None)
    if svg is not None:
        with write_whole(svg) as target:
            target.write(chart(found).encode())
        print_note(f"{svg} was written")
    if json:
        print_json(found)
    elif svg is None:
        show(console(), found)


def show(out: Console, found: Statistics) -> None:
    """Print the statistics."""
    out.print(f"{found.messages:,} messages, {format_time(found.first_ms)} to {format_time(found.last_ms)} UTC")
    out.print()
    most = max((count for _, count in found.months), default=1)
    for month, count in found.months[-MONTHS:]:
        out.print(f"{month}  {bar(count, most)} {count:,}")
    out.print()
    busiest = max((count for day in found.hours for count in day), default=0) or 1
    out.print("     " + "".join(f"{hour:<6}" for hour in range(0, 24, 3)))
    for name, day in zip(DAYS, found.hours, strict=True):
        shades = "".join(SHADES[-(-count * (len(SHADES) - 1) // busiest)] * 2 for count in day)
        out.print(f"{name}  {shades}")
    for title, counts in (("chat", found.chats), ("person", found.people)):
        out.print()
        table = table_of(title, "messages#", "words#", "")
        top = max((one.messages for one in counts), default=1)
        for one in counts[:MOST]:
            table.add_row(Text(printable(one.name)), f"{one.messages:,}", f"{one.words:,}", bar(one.messages, top))
        out.print(table)
    if found.replies:
        out.print()
        table = table_of("answers in chats of two", "answers#", "half of them within#")
        for reply in found.replies[:MOST]:
            table.add_row(Text(printable(reply.name)), f"{reply.answers:,}", span(reply.median_s))
        out.print(table)
    if found.media:
        out.print()
        table = table_of("media", "files#", "size#")
        for media in found.media:
            table.add_row(Text(printable(media.type)), f"{media.files:,}", human_size(media.bytes))
        out.print(table)


def bar(count: int, most: int) -> str:
    """Return a bar with a resolution of an eighth of a character."""
    eighths = round(count * BAR * 8 / most)
    return "█" * (eighths // 8) + (("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8])


def span(seconds: int) -> str:
    """Format a duration."""
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"
