"""Renders statistics as a self-contained SVG image."""

from html import escape
from typing import Final

from holdfast.backup.archives.statistics import MessageCount, Statistics

__all__ = ["chart"]

WIDTH: Final = 900
STYLE: Final = (
    "text{font:13px system-ui,sans-serif;fill:#222}.t{font-weight:600;font-size:15px}.b{fill:#2c6bed}.f{fill:#eef}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.f{fill:#334}svg{background:#111}}"
)
DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MOST: Final = 12
# Characters that XML does not allow.
UNFIT: Final = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF, *range(0xD800, 0xE000)])


def clean(text: str) -> str:
    """Escape text for XML, and drop characters that XML does not allow."""
    return escape(text.translate(UNFIT))


def chart(statistics: Statistics, zone: str = "UTC") -> str:
    """Return an SVG image of the messages by month, hour, chat and person."""
    parts: list[str] = []
    y = months(parts, statistics, 30)
    y = hours(parts, statistics, y + 40, zone)
    y = counts(parts, "Messages by chat", statistics.chats[:MOST], y + 40)
    y = counts(parts, "Messages by person", statistics.people[:MOST], y + 40)
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 20}" width="{WIDTH}" role="img">\n'
        f"<title>{statistics.messages:,} messages</title>\n<style>{STYLE}</style>\n{body}\n</svg>\n"
    )


def title(parts: list[str], text: str, y: int) -> int:
    """Draw a heading."""
    parts.append(f'<text class="t" x="20" y="{y}">{clean(text)}</text>')
    return y + 14


def months(parts: list[str], statistics: Statistics, y: int) -> int:
    """Draw a bar chart of messages by month."""
    y = title(parts, f"{statistics.messages:,} messages by month", y)
    most = max((count for _, count in statistics.months), default=1) or 1
    step = (WIDTH - 40) / max(1, len(statistics.months))
    for number, (month, count) in enumerate(statistics.months):
        height = 120 * count / most
        parts.append(
            f'<rect class="b" x="{20 + number * step:.1f}" y="{y + 120 - height:.1f}" '
            f'width="{max(1, step * 0.8):.1f}" height="{height:.1f}">'
            f"<title>{clean(month)}: {count:,}</title></rect>"
        )
    if statistics.months:
        parts.append(f'<text x="20" y="{y + 138}">{clean(statistics.months[0][0])}</text>')
        parts.append(
            f'<text x="{WIDTH - 20}" y="{y + 138}" text-anchor="end">{clean(statistics.months[-1][0])}</text>'
        )
    return y + 140


def hours(parts: list[str], statistics: Statistics, y: int, zone: str) -> int:
    """Draw a heat map of messages by weekday and hour."""
    y = title(parts, f"By weekday and hour ({zone})", y)
    most = max((count for day in statistics.hours for count in day), default=1) or 1
    for row, (name, day) in enumerate(zip(DAYS, statistics.hours, strict=True)):
        parts.append(f'<text x="20" y="{y + row * 22 + 15}">{name}</text>')
        for hour, count in enumerate(day):
            x = 60 + hour * 34
            parts.append(
                f'<rect class="f" x="{x}" y="{y + row * 22}" width="32" height="20"/>'
                f'<rect class="b" opacity="{count / most:.2f}" x="{x}" y="{y + row * 22}" width="32" height="20">'
                f"<title>{name} {hour}:00: {count:,}</title></rect>"
            )
    return y + 7 * 22


def counts(parts: list[str], heading: str, rows: tuple[MessageCount, ...], y: int) -> int:
    """Draw a horizontal bar chart of chats or people."""
    y = title(parts, heading, y)
    most = max((message_count.messages for message_count in rows), default=1) or 1
    for number, count in enumerate(rows):
        top = y + number * 24
        name = count.name if len(count.name) <= 28 else f"{count.name[:27]}…"
        parts.append(f'<text x="20" y="{top + 15}">{clean(name)}</text>')
        size = 520 * count.messages / most
        parts.append(f'<rect class="b" x="260" y="{top + 2}" width="{size:.1f}" height="18"/>')
        parts.append(f'<text x="{266 + size:.1f}" y="{top + 15}">{count.messages:,}</text>')
    return y + len(rows) * 24
