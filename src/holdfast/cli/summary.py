"""The terminal output of `backup info`."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from holdfast.backup.dates import moment
from holdfast.backup.summary import Info
from holdfast.cli.output import printable

__all__ = ["human_size", "show"]

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
    "contact": "people",
    "group": "groups",
    "distributionList": "story lists",
    "callLink": "call links",
}
BAR = 40
MOST_BARS = 24
STEPS = " ▁▂▃▄▅▆▇█"


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


def show(out: Console, info: Info) -> None:
    """Print the summary of a backup."""
    out.print(fact_table(info))
    if info.counts["chatItem"]:
        out.print()
        out.print(count_table({KINDS.get(kind, kind): count for kind, count in info.messages.items()}, "message"))
    if info.largest_chats:
        out.print()
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("largest chats")
        table.add_column("messages", justify="right")
        for chat in info.largest_chats:
            table.add_row(Text(printable(chat.name)), f"{chat.messages:,}")
        out.print(table)
    if info.months:
        out.print()
        out.print(histogram(info))


def fact_table(info: Info) -> Table:
    """Return a table of the properties of a backup."""
    header, counts = info.header, info.counts
    table = Table.grid(padding=(0, 2))
    made_at = header.made_at
    table.add_row("what", f"{info.form}, format version {header.version}, {human_size(info.bytes)} of frames")
    table.add_row(
        "made", f"{made_at:%Y-%m-%d %H:%M:%S} UTC" if made_at else f"unknown (the header says {header.made_at_ms})"
    )
    table.add_row("by", Text(printable(header.app_version) or "unknown"))
    table.add_row("first by", Text(printable(header.first_app_version) or "unknown"))
    table.add_row("account", Text(printable(info.account) or "unnamed"))
    table.add_row("chats", f"{counts['chat']:,}")
    known = [
        f"{info.recipients[kind]:,} {label}" for kind, label in RECIPIENTS.items() if info.recipients.get(kind)
    ]
    table.add_row("with", ", ".join(known) or "nobody")
    table.add_row("messages", f"{counts['chatItem']:,}, from {day(info.first_ms)} to {day(info.last_ms)}")
    table.add_row("media", media(info))
    others = [
        f"{counts[record]:,} {label}"
        for record, label in (
            ("stickerPack", "sticker packs"),
            ("adHocCall", "calls by link"),
            ("notificationProfile", "notification profiles"),
            ("chatFolder", "chat folders"),
        )
        if counts[record]
    ]
    if others:
        table.add_row("also", ", ".join(others))
    if info.empty_frames:
        table.add_row("empty", f"{info.empty_frames:,} frames without a record")
    return table


def media(info: Info) -> str:
    """Format the counts of attachments."""
    text = f"{info.attachments:,} attachments, {human_size(info.attachment_bytes)}"
    media = info.media
    if media is None:
        return text
    how = "verified" if media.verified else "there"
    return f"{text}; {media.present:,} files {how}, {media.missing:,} missing, {media.damaged:,} damaged"


def count_table(rows: dict[str, int], heading: str) -> Table:
    """Return a table of counts, largest first."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(heading)
    table.add_column("count", justify="right")
    for label, count in sorted(rows.items(), key=lambda row: -row[1]):
        table.add_row(label, f"{count:,}")
    return table


def histogram(info: Info) -> Table:
    """Return a histogram of messages per month, one line per year if there are many months."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    most = max(info.months.values())
    if len(info.months) <= MOST_BARS:
        for heading in ("month", ""):
            table.add_column(heading)
        table.add_column("messages", justify="right")
        for month, count in info.months.items():
            table.add_row(month, "█" * max(1, round(BAR * count / most)), f"{count:,}")
        return table
    table.add_column("year")
    table.add_column("J  F  M  A  M  J  J  A  S  O  N  D")
    table.add_column("messages", justify="right")
    for year in sorted({month.partition("-")[0] for month in info.months}):
        counts = [info.months.get(f"{year}-{month:02}", 0) for month in range(1, 13)]
        signs = [STEPS[-(-count * (len(STEPS) - 1) // most)] * 2 for count in counts]
        total = sum(count for month, count in info.months.items() if month.partition("-")[0] == year)
        table.add_row(year, " ".join(signs), f"{total:,}")
    return table
