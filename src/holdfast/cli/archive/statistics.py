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
        statistics = opened.statistics(opened.chat_id(chat) if chat else None)
    if svg is not None:
        with write_whole(svg) as target:
            target.write(chart(statistics).encode())
        print_note(f"{svg} was written")
    if json:
        print_json(statistics)
    elif svg is None:
        show(console(), statistics)


def show(out: Console, statistics: Statistics) -> None:
    """Print the statistics."""
    first, last = format_time(statistics.first_ms), format_time(statistics.last_ms)
    out.print(f"{statistics.messages:,} messages, {first} to {last} UTC")
    out.print()
    most = max((count for _, count in statistics.months), default=1)
    for month, count in statistics.months[-MONTHS:]:
        out.print(f"{month}  {bar(count, most)} {count:,}")
    out.print()
    busiest = max((count for day in statistics.hours for count in day), default=0) or 1
    out.print("     " + "".join(f"{hour:<6}" for hour in range(0, 24, 3)))
    for name, day in zip(DAYS, statistics.hours, strict=True):
        shades = "".join(SHADES[-(-count * (len(SHADES) - 1) // busiest)] * 2 for count in day)
        out.print(f"{name}  {shades}")
    for title, counts in (("chat", statistics.chats), ("person", statistics.people)):
        out.print()
        table = table_of(title, "messages#", "words#", "")
        top = max((row.messages for row in counts), default=1)
        for row in counts[:MOST]:
            table.add_row(Text(printable(row.name)), f"{row.messages:,}", f"{row.words:,}", bar(row.messages, top))
        out.print(table)
    if statistics.replies:
        out.print()
        table = table_of("answers in chats of two", "answers#", "half of them within#")
        for reply in statistics.replies[:MOST]:
            table.add_row(Text(printable(reply.name)), f"{reply.answers:,}", span(reply.median_s))
        out.print(table)
    if statistics.media:
        out.print()
        table = table_of("media", "files#", "size#")
        for media in statistics.media:
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
