"""The statistics page, with plots as server-rendered SVG and the same figures as text."""

from dataclasses import dataclass
from typing import Final

import msgspec
from markupsafe import Markup

from holdfast.backup.archives import Archive, Statistics
from holdfast.web.chats.open_archive import OpenArchive
from holdfast.web.chats.view import ConversationRequest, TemplateResult, to_datetime, truncate

__all__ = ["cached_statistics", "hour_plot", "month_plot", "show_figures", "store_statistics"]

DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
# In SVG user units; one is about a CSS pixel on a phone, and texts are smaller on a wide screen.
WIDTH: Final = 400
HEIGHT: Final = 110
MOST_LABELS: Final = 8
LABELS: Final = 34
CELL: Final = (WIDTH - LABELS) / 24
ROW: Final = 20
LISTED: Final = 15
MOST_KINDS: Final = 4
# The kinds of messages in an archive, with their singular and plural.
KIND_WORDS: Final = {
    "contact": ("contact", "contacts"),
    "sticker": ("sticker", "stickers"),
    "deleted": ("deleted", "deleted"),
    "update": ("update", "updates"),
    "payment": ("payment", "payments"),
    "gift_badge": ("donation badge", "donation badges"),
    "view_once": ("view-once media", "view-once media"),
    "story_reply": ("story reply", "story replies"),
    "poll": ("poll", "polls"),
    "deleted_by_admin": ("deleted by an admin", "deleted by an admin"),
}
# With more months, a bar is a year.
MOST_MONTHS: Final = 240


@dataclass(frozen=True, slots=True)
class ChartBar:
    """A bar of a chart: a count, and its length in percent of the longest."""

    name: str
    address: str
    count: int
    share: float
    more: str


def show_figures(view: ConversationRequest) -> TemplateResult:
    """Show the statistics of an archive or of one chat."""
    wanted = view.query.get("chat", "")
    chat = view.chat(wanted) if wanted else None
    number = None if chat is None else chat.id
    statistics = cached_statistics(view.opened, view.archive, number)
    return TemplateResult(
        "chats/statistics.html",
        f"Statistics of {chat.name}" if chat else "Statistics",
        {
            "chat": chat,
            "found": statistics,
            "kinds": name_kinds(statistics),
            "first": to_datetime(statistics.first_ms),
            "last": to_datetime(statistics.last_ms),
            "days": days_between(statistics),
            "months": count_by_time(statistics),
            "month_plot": month_plot(count_by_time(statistics)),
            "hour_plot": hour_plot(statistics),
            "busiest": busiest_hours(statistics),
            "chats": chart_bars(view, statistics, "chat"),
            "people": chart_bars(view, statistics, "person"),
            "replies": [
                (truncate(reply_time.name), reply_time.answers, format_duration(reply_time.median_s))
                for reply_time in statistics.replies[:LISTED]
            ],
        },
    )


def name_kinds(statistics: Statistics) -> list[tuple[str, int]]:
    """Return the most frequent kinds other than plain messages, in words, with their counts."""
    named_kinds = [(KIND_WORDS[kind], count) for kind, count in statistics.kinds if kind in KIND_WORDS]
    return [
        (singular if count == 1 else several, count) for (singular, several), count in named_kinds[:MOST_KINDS]
    ]


def cached_statistics(opened: OpenArchive, archive: Archive, chat: int | None = None) -> Statistics:
    """Return the statistics, computed once: a million messages take seconds."""
    return opened.cached(("statistics", chat), lambda: read_statistics(archive, chat) or archive.statistics(chat))


def store_statistics(archive: Archive) -> None:
    """Compute the statistics and store them in the archive."""
    packed = msgspec.json.encode(archive.statistics())
    archive.connection.execute("CREATE TABLE page_statistics (json BLOB)")
    archive.connection.execute("INSERT INTO page_statistics VALUES (?)", (packed,))


def read_statistics(archive: Archive, chat: int | None) -> Statistics | None:
    """Read the statistics stored at import; None if there are none."""
    table = archive.connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'page_statistics'").fetchone()
    if table is None or chat is not None:
        return None
    ((packed,),) = archive.connection.execute("SELECT json FROM page_statistics").fetchall()
    return msgspec.json.decode(packed, type=Statistics)


def days_between(statistics: Statistics) -> int:
    """Return the number of days between the first message and the last."""
    return max(1, ((statistics.last_ms or 0) - (statistics.first_ms or 0)) // 86_400_000 + 1)


def count_by_time(statistics: Statistics) -> list[tuple[str, int]]:
    """Return the counts by month without gaps, or by year if there are more than `MOST_MONTHS` months."""
    if not statistics.months:
        return []
    by_month = dict(statistics.months)
    first, last = (
        tuple(map(int, name.split("-"))) for name in (statistics.months[0][0], statistics.months[-1][0])
    )
    length = (last[0] - first[0]) * 12 + last[1] - first[1] + 1
    if length > MOST_MONTHS:
        years: dict[str, int] = {}
        for name, count in statistics.months:
            years[name[:4]] = years.get(name[:4], 0) + count
        return sorted(years.items())[-MOST_MONTHS:]
    names = [f"{first[0] + (first[1] - 1 + n) // 12:04d}-{(first[1] - 1 + n) % 12 + 1:02d}" for n in range(length)]
    return [(name, by_month.get(name, 0)) for name in names]


def month_plot(counts: list[tuple[str, int]]) -> Markup:
    """Draw a bar for each month."""
    most = max((count for _, count in counts), default=0) or 1
    step = WIDTH / max(1, len(counts))
    parts = []
    for number, (name, count) in enumerate(counts):
        height = HEIGHT * count / most
        x, width = number * step, min(max(0.3, step * 0.82), 24)
        parts.append(
            Markup(
                '<rect class="bar" x="{}" y="{}" width="{}" height="{}" rx="1"><title>{}: {}</title></rect>'
            ).format(f"{x:.1f}", f"{HEIGHT - height:.1f}", f"{width:.1f}", f"{height:.1f}", name, f"{count:,}")
        )
    marks = []
    for number, (name, _) in enumerate(counts):
        if name.endswith("-01") or (number == 0 and len(counts) < 12) or len(name) == 4:
            marks.append(
                Markup('<text x="{}" y="{}">{}</text>').format(f"{number * step:.1f}", HEIGHT + 15, name[:4])
            )
    step_of = len(marks) // (MOST_LABELS + 1) + 1
    return Markup(
        '<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="Messages by month; the figures are below">'
        "{}{}</svg>"
    ).format(WIDTH, HEIGHT + 20, Markup("").join(parts), Markup("").join(marks[::step_of]))


def hour_plot(statistics: Statistics) -> Markup:
    """Draw a square for each hour of the week."""
    most = max((count for day in statistics.hours for count in day), default=0) or 1
    parts = []
    for row, (name, day) in enumerate(zip(DAYS, statistics.hours, strict=True)):
        y = row * ROW
        parts.append(Markup('<text x="0" y="{}">{}</text>').format(y + 14, name))
        for hour, count in enumerate(day):
            x = f"{LABELS + hour * CELL:.1f}"
            parts.append(
                Markup(
                    '<rect class="cell" x="{x}" y="{y}" width="14" height="18" rx="2"/>'
                    '<rect class="bar" x="{x}" y="{y}" width="14" height="18" rx="2" fill-opacity="{share}">'
                    "<title>{name} {hour}:00: {count}</title></rect>"
                ).format(x=x, y=y, share=f"{count / most:.2f}", name=name, hour=hour, count=f"{count:,}")
            )
    parts += [
        Markup('<text x="{}" y="{}">{}:00</text>').format(f"{LABELS + hour * CELL:.1f}", 7 * ROW + 13, hour)
        for hour in range(0, 24, 6)
    ]
    return Markup(
        '<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="Messages by weekday and hour, in UTC; '
        'the busiest hours are below">{}</svg>'
    ).format(WIDTH, 7 * ROW + 18, Markup("").join(parts))


def busiest_hours(statistics: Statistics) -> list[tuple[str, int]]:
    """Return the hours of the week with the most messages."""
    hours = [
        (count, f"{DAYS[row]} {hour}:00 to {hour + 1}:00")
        for row, day in enumerate(statistics.hours)
        for hour, count in enumerate(day)
        if count
    ]
    return [(name, count) for count, name in sorted(hours, key=lambda hour: -hour[0])[:5]]


def chart_bars(view: ConversationRequest, statistics: Statistics, of: str) -> list[ChartBar]:
    """Return the bars of the chats or people with the most messages."""
    listing = statistics.chats if of == "chat" else statistics.people
    most = max((message_count.messages for message_count in listing), default=0) or 1
    bars: list[ChartBar] = []
    for count in listing[:LISTED]:
        if of == "chat":
            address = view.address("statistics", chat=count.id) if count.id in view.chats() else ""
        else:
            address = view.address("search", **{"from": count.id})
        bars.append(
            ChartBar(
                truncate(count.name),
                address,
                count.messages,
                100 * count.messages / most,
                f"{count.words:,} words",
            )
        )
    return bars


def format_duration(seconds: int) -> str:
    """Format a duration."""
    if seconds < 90:
        return f"{seconds} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
