"""`holdfast archive stats`: in the terminal, as JSON, or as one SVG."""

from collections import Counter
from datetime import UTC
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from holdfast.backup.archives.chart import chart
from holdfast.backup.archives.statistics import Statistics
from holdfast.backup.container.atomic_write import write_atomically
from holdfast.cli.archive.shared import ArchiveArgument
from holdfast.cli.output import JsonOption, console, print_json, print_note, print_table, printable
from holdfast.cli.passphrases import PassphraseFileOption, open_archive
from holdfast.cli.summary import human_size
from holdfast.cli.times import Zone, ZoneOption, zone_of
from holdfast.counts import count_of

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
    zone: ZoneOption = None,
    passphrase_file: PassphraseFileOption = None,
    json: JsonOption = False,
) -> None:
    """Show statistics: messages by month, hour, weekday, chat and person; reply times; media by size.

    With --json, times are in UTC unless --zone is given.
    """
    times = Zone(UTC) if json and zone is None else zone_of(zone)
    with open_archive(archive_file, passphrase_file) as opened:
        statistics = opened.statistics(opened.chat_id(chat) if chat else None, zone=times.zone)
    if svg is not None:
        with write_atomically(svg) as target:
            target.write(chart(statistics, times.name).encode())
        print_note(f"{svg} was written")
    if json:
        print_json(statistics)
    elif svg is None:
        show(console(), statistics, times)


def show(out: Console, statistics: Statistics, times: Zone) -> None:
    """Print the statistics."""
    first, last = times.bare(statistics.first_ms), times.bare(statistics.last_ms)
    dates = "" if statistics.first_ms is None else f", {first} to {last} {times.name}"
    out.print(f"{count_of(statistics.messages, 'message')}{dates}")
    out.print()
    most = max((count for _, count in statistics.months[-MONTHS:]), default=1) or 1
    earlier, shown = statistics.months[:-MONTHS], statistics.months[-MONTHS:]
    if earlier:
        # Years are shorter than months: a decade fits a screen.
        years: Counter[str] = Counter()
        for month, count in earlier:
            years[month.partition("-")[0]] += count
        for year, count in years.items():
            whole = "" if year != shown[0][0].partition("-")[0] else f" (before {shown[0][0]})"
            out.print(f"{year:<7}  {count:,}{whole}")
    for month, count in shown:
        out.print(f"{month}  {bar(count, most)} {count:,}")
    out.print()
    busiest = max((count for day in statistics.hours for count in day), default=0) or 1
    out.print("     " + "".join(f"{hour:<6}" for hour in range(0, 24, 3)))
    for name, day in zip(DAYS, statistics.hours, strict=True):
        shades = "".join(SHADES[-(-count * (len(SHADES) - 1) // busiest)] * 2 for count in day)
        out.print(f"{name}  {shades}")
    for title, counts in (("chat", statistics.chats), ("person", statistics.people)):
        out.print()
        top = max((row.messages for row in counts), default=1)
        rows = [
            [printable(row.name), f"{row.messages:,}", f"{row.words:,}", bar(row.messages, top)]
            for row in counts[:MOST]
        ]
        print_table((title, "messages#", "words#", ""), rows, optional=("",))
        if len(counts) > MOST:
            out.print(f"... and {len(counts) - MOST:,} more; --json lists all")
    if statistics.replies:
        out.print()
        rows = [
            [printable(reply_time.name), f"{reply_time.answers:,}", span(reply_time.median_s)]
            for reply_time in statistics.replies[:MOST]
        ]
        print_table(("answers in chats of two", "answers#", "half of them within#"), rows)
    if statistics.media:
        out.print()
        rows = [
            [printable(file_type_count.type), f"{file_type_count.files:,}", human_size(file_type_count.bytes)]
            for file_type_count in statistics.media
        ]
        print_table(("media", "files#", "size#"), rows)


def bar(count: int, most: int) -> str:
    """Return a bar with a resolution of an eighth of a character."""
    eighths = round(count * BAR * 8 / most)
    return "█" * (eighths // 8) + (("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8])


def span(seconds: int) -> str:
    """Format a duration."""
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"
