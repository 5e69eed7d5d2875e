"""The terminal output of `backup info`."""

from collections.abc import Iterator, Sequence
from typing import Final

import typer

from holdfast.backup.dates import moment
from holdfast.backup.summary import Info
from holdfast.cli.output import printable
from holdfast.counts import count_of

__all__ = ["aligned", "human_size", "show"]

KINDS = {
    "standardMessage": "messages",
    "updateMessage": "updates in chats",
    "stickerMessage": "stickers",
    "contactMessage": "contact cards",
    "remoteDeletedMessage": "deleted messages",
    "adminDeletedMessage": "deleted by an admin",
    "paymentNotification": "payments",
    "giftBadge": "gift badges",
    "viewOnceMessage": "view-once media",
    "directStoryReplyMessage": "story replies",
    "poll": "polls",
}
RECIPIENTS = {
    "contact": ("person", "people"),
    "group": ("group", "groups"),
    "distributionList": ("story list", "story lists"),
    "callLink": ("call link", "call links"),
}
BAR = 40
MOST_BARS = 24
STEPS = " ▁▂▃▄▅▆▇█"
# The spaces between two columns of a table.
GAP: Final = "  "


def human_size(size: float) -> str:
    """Format a number of bytes."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


def day(ms: int | None) -> str:
    """Format a date."""
    date = None if ms is None else moment(ms)
    return f"{date:%Y-%m-%d}" if date else "unknown"


def show(info: Info) -> None:
    """Print the summary of a backup."""
    for line in aligned(list(facts(info))):
        typer.echo(line)
    if info.counts["chatItem"]:
        kinds = sorted(info.messages.items(), key=lambda row: -row[1])
        print_table(("message", "count"), [(KINDS.get(kind, kind), f"{count:,}") for kind, count in kinds])
    if info.largest_chats:
        chats = [(printable(chat.name), f"{chat.messages:,}") for chat in info.largest_chats]
        print_table(("largest chats", "messages"), chats)
    if info.months:
        print_table(*histogram(info))


def aligned(rows: Sequence[Sequence[str]], *, last_right: bool = False) -> Iterator[str]:
    """Yield the lines of a table; importing the tables of rich would take longer than the whole command."""
    widths = [max(map(columns_of, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell + " " * (width - columns_of(cell)) for cell, width in zip(row, widths, strict=True)]
        if last_right:
            cells[-1] = " " * (widths[-1] - columns_of(row[-1])) + row[-1]
        yield GAP.join(cells).rstrip(" ")


def columns_of(text: str) -> int:
    """Return the number of terminal columns a text occupies."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    return cell_len(text)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print an empty line and a table with numbers in its last column."""
    typer.echo()
    first, *others = aligned([header, *rows], last_right=True)
    typer.secho(first, bold=True)
    for line in others:
        typer.echo(line)


def facts(info: Info) -> Iterator[tuple[str, str]]:
    """Yield the properties of a backup and their labels."""
    header, counts = info.header, info.counts
    made_at = header.made_at
    yield "what", f"{info.form}, format version {header.version}, {human_size(info.bytes)} of frames"
    yield (
        "made",
        f"{made_at:%Y-%m-%d %H:%M:%S} UTC" if made_at else f"unknown (the header says {header.made_at_ms})",
    )
    yield "by", printable(header.app_version) or "unknown"
    yield "first by", printable(header.first_app_version) or "unknown"
    yield "account", printable(info.account) or "unnamed"
    yield "chats", f"{counts['chat']:,}"
    recipients = [
        count_of(info.recipients[kind], *nouns) for kind, nouns in RECIPIENTS.items() if info.recipients.get(kind)
    ]
    yield "with", ", ".join(recipients) or "nobody"
    span = "" if info.first_ms is None else f", from {day(info.first_ms)} to {day(info.last_ms)}"
    yield "messages", f"{counts['chatItem']:,}{span}"
    yield "media", media(info)
    others = [
        count_of(counts[record], label, plural)
        for record, label, plural in (
            ("stickerPack", "sticker pack", None),
            ("adHocCall", "call by link", "calls by link"),
            ("notificationProfile", "notification profile", None),
            ("chatFolder", "chat folder", None),
        )
        if counts[record]
    ]
    if others:
        yield "also", ", ".join(others)
    if info.empty_frames:
        yield "empty", f"{count_of(info.empty_frames, 'frame')} without a record"


def media(info: Info) -> str:
    """Format the counts of attachments."""
    text = f"{count_of(info.attachments, 'attachment')}, {human_size(info.attachment_bytes)}"
    media = info.media
    if media is None:
        return text
    how = "verified" if media.verified else "there"
    return f"{text}; {count_of(media.present, 'file')} {how}, {media.missing:,} missing, {media.damaged:,} damaged"


def histogram(info: Info) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return the header and rows of a histogram of messages per month, a row per year if there are many months."""
    most = max(info.months.values())
    if len(info.months) <= MOST_BARS:
        bars = ((month, "█" * max(1, round(BAR * count / most)), count) for month, count in info.months.items())
        return ("month", "", "messages"), [(month, bar, f"{count:,}") for month, bar, count in bars]
    rows = []
    for year in sorted({month.partition("-")[0] for month in info.months}):
        counts = [info.months.get(f"{year}-{month:02}", 0) for month in range(1, 13)]
        signs = [STEPS[-(-count * (len(STEPS) - 1) // most)] * 2 for count in counts]
        total = sum(count for month, count in info.months.items() if month.partition("-")[0] == year)
        rows.append((year, " ".join(signs), f"{total:,}"))
    return ("year", "J  F  M  A  M  J  J  A  S  O  N  D", "messages"), rows
