"""Export to Markdown (CommonMark): a folder per chat with a file per year, or per month of a busy year.

The calendar periods are in UTC.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from pathlib import Path
from typing import Final

from holdfast.backup.archives import Archive, Chat
from holdfast.backup.dates import moment
from holdfast.backup.exports import schemas
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.folder import ExportFolder, ExportSummary
from holdfast.backup.exports.html.files import size_label
from holdfast.backup.exports.job import Job, Progress
from holdfast.backup.exports.markdown_text import block, heading, inline, item, prefix_lines
from holdfast.backup.exports.media import DISPLAYED_TYPES, normalize_type
from holdfast.backup.exports.names import chat_name
from holdfast.backup.exports.periods import Period, periods
from holdfast.backup.exports.stamps import account_digests
from holdfast.counts import count_of
from holdfast.redacted_repr import redacted

__all__ = ["write_markdown"]

# Maximum number of messages per file: a few hundred kilobytes, which every editor opens quickly.
MAX_MESSAGES: Final = 3000
CHATS_FOLDER: Final = "chats"
ROOT: Final = "../../"
RESERVED: Final = re.compile(r"""[\x00-\x1f"#%&<>?\[\\\]`]""")
MINUTE: Final = 60_000
# A time zone can be ahead of UTC by up to a day.
LAST: Final = datetime.max.replace(tzinfo=UTC) - timedelta(days=1)
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@lru_cache(maxsize=4096)
def format_minute(number: int, zone: tzinfo) -> tuple[str, str, str]:
    """Format the day, the date and the time of a minute since 1970."""
    date = moment(number * MINUTE)
    if date is None or date >= LAST:
        return "Beyond the calendar", "beyond", "the calendar"
    local = date.astimezone(zone)
    return f"{DAYS[local.weekday()]}, {local:%Y-%m-%d}", f"{local:%Y-%m-%d}", f"{local:%H:%M}"


@redacted
@dataclass(frozen=True, slots=True)
class Times:
    """Formats days and times in a time zone."""

    zone: tzinfo = UTC

    def day(self, ms: int) -> str:
        """Format a day with its weekday."""
        return format_minute(ms // MINUTE, self.zone)[0]

    def time(self, ms: int, heading_day: str | None = None) -> str:
        """Format a time, with its date if that is not the day of the heading above."""
        day, date, time = format_minute(ms // MINUTE, self.zone)
        return time if day == heading_day else f"{date} {time}"


def write_markdown(
    archive: Archive,
    target: Path,
    choice: ChatSelection,
    *,
    media: bool = True,
    zone: tzinfo = UTC,
    progress: Progress | None = None,
    stamp: str = "",
) -> ExportSummary:
    """Write an archive, or a selection of it, as Markdown; `zone` is the time zone of times."""
    times = Times(zone)
    with ExportFolder(target, "markdown", stamp, account_digests(archive)) as folder:
        if (summary := folder.finish_unchanged()) is not None:
            return summary
        job = Job(archive, folder, choice, media, progress)
        periods_by_chat = {chat.id: periods(archive, chat.id, choice, MAX_MESSAGES) for chat in job.chats}
        job.total = sum(period.messages for chat_periods in periods_by_chat.values() for period in chat_periods)
        for chat in job.chats:
            folder_name = chat_folder(chat)
            for n, period in enumerate(periods_by_chat[chat.id]):
                folder.put(f"{folder_name}/{period.name}.md", page(job, chat, periods_by_chat[chat.id], n, times))
            folder.put(f"{folder_name}/index.md", chat_index(chat, periods_by_chat[chat.id]))
        folder.put("index.md", index(job.chats, periods_by_chat, times))
        return folder.finish()


def chat_folder(chat: Chat) -> str:
    """Return the folder of a chat."""
    return f"{CHATS_FOLDER}/{chat_name(chat.name, chat.id)}"


def chat_title(chat: Chat) -> str:
    """Return the escaped name of a chat."""
    return heading(chat.name) or "Chat"


def index(chats: Sequence[Chat], periods_by_chat: dict[int, list[Period]], times: Times) -> bytes:
    """Return the index page with all chats."""
    lines = ["# Chats", ""]
    account = None
    several = len({chat.account_id for chat in chats}) > 1
    for chat in chats:
        if several and chat.account_id != account:
            account = chat.account_id
            lines += [*([""] if lines[-1] else []), f"## {heading(chat.account) or 'Account'}", ""]
        facts = [
            count_of(sum(period.messages for period in periods_by_chat[chat.id]), "message"),
            *year_range(periods_by_chat[chat.id]),
        ]
        facts += ["no longer there"] if chat.vanished else []
        lines.append(f"- {link(chat_title(chat), f'{chat_folder(chat)}/index.md')}, {', '.join(facts)}")
    return "\n".join([*lines, "", f"All times are in {times.zone}.", ""]).encode()


def year_range(chat_periods: Sequence[Period]) -> list[str]:
    """Return the range of years as text, in a list that is empty if there are none."""
    if not chat_periods:
        return []
    first, last = chat_periods[0].name[:4], chat_periods[-1].name[:4]
    return [first if first == last else f"{first} to {last}"]


def chat_index(chat: Chat, chat_periods: Sequence[Period]) -> bytes:
    """Return the index page of a chat with its files."""
    lines = [f"# {chat_title(chat)}", "", link("All chats", f"{ROOT}index.md"), ""]
    lines += [
        f"- {link(period.name, f'{period.name}.md')}, {count_of(period.messages, 'message')}"
        for period in chat_periods
    ]
    return "\n".join([*lines, ""]).encode()


def page(job: Job, chat: Chat, chat_periods: Sequence[Period], n: int, times: Times) -> Iterator[bytes]:
    """Yield the content of a file of a chat."""
    nav_links = [link("All chats", f"{ROOT}index.md"), link("this chat", "index.md")]
    nav_links += [
        link(f"before: {period.name}", f"{period.name}.md") for period in chat_periods[max(n - 1, 0) : n]
    ]
    nav_links += [link(f"after: {period.name}", f"{period.name}.md") for period in chat_periods[n + 1 : n + 2]]
    links = " · ".join(nav_links)
    yield f"# {chat_title(chat)}, {chat_periods[n].name}\n\n{links}\n".encode()
    heading_day = None
    for message in job.messages(chat.id, chat_periods[n]):
        day = times.day(message.order_ms)
        if day != heading_day:
            heading_day = day
            yield f"\n## {day}\n".encode()
        yield f"\n{message_markdown(message, day, times)}\n".encode()
    yield f"\n---\n\n{links}\n".encode()


def link(label: str, path: str) -> str:
    """Return a link to a file of the export; `label` must be escaped.

    In angle brackets a path is readable in any script; reserved characters are percent-encoded.
    """
    return f"[{label}](<{RESERVED.sub(lambda character: f'%{ord(character[0]):02X}', path)}>)"


def message_markdown(message: schemas.ExportedMessage, day: str, times: Times) -> str:
    """Return a message: author and time, and below them its content."""
    marks = message_labels(message, times)
    suffix = f" ({'; '.join(marks)})" if marks else ""
    time = times.time(message.sent_ms, day)
    if message.kind == "update":
        sentence = inline(message.sentence or "") or "Something happened."
        return f"*{time} {sentence}*{suffix}"
    parts = [f"**{inline(message.author) or 'Unknown'}** {time}{suffix}"]
    if message.quote is not None:
        parts.append(quote_markdown(message, message.quote, times))
    if message.sentence:
        parts.append(f"*{inline(message.sentence)}*")
    if message.poll is not None:
        parts.append(poll(message.poll))
    elif message.text:
        parts.append(block(message.text, message.ranges))
    if message.contact_card is not None:
        parts.append(card(message.contact_card))
    parts += [
        attachment(exported_attachment)
        for exported_attachment in message.attachments
        if exported_attachment.role in ROLES
    ]
    parts += [preview(exported_link) for exported_link in message.links]
    if message.reactions:
        parts.append(reactions(message.reactions))
    parts += [revision(exported_revision, day, times) for exported_revision in reversed(message.revisions)]
    return "\n\n".join(parts)


def message_labels(message: schemas.ExportedMessage, times: Times) -> list[str]:
    """Return the labels of a message, such as edited, pinned or disappearing."""
    marks = {
        "edited": bool(message.revisions),
        "pinned": message.pinned_ms is not None,
        "SMS": message.sms,
    }
    labels = [mark for mark, is_set in marks.items() if is_set]
    if message.expires_in_ms:
        labels.append(f"disappears after {format_duration(message.expires_in_ms // 1000)}")
    if message.vanished_ms is not None:
        labels.append(f"no longer there since {times.time(message.vanished_ms)}")
    return labels


ROLES: Final = frozenset({"attachment", "sticker", "long_text"})
# Labels of files without a name.
FILE_LABELS: Final = {"image": "picture", "video": "video", "audio": "recording"}


def format_duration(seconds: int) -> str:
    """Format a duration."""
    for unit, length in (("week", 604_800), ("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= length and seconds % length == 0:
            return count_of(seconds // length, unit)
    return count_of(seconds, "second")


def quote_markdown(message: schemas.ExportedMessage, quote: schemas.ExportedQuote, times: Times) -> str:
    """Return the quote of a message."""
    sent = "" if quote.target_sent_ms is None else f" {times.time(quote.target_sent_ms)}"
    parts = [f"**{inline(quote.author) or 'Unknown'}**{sent}:"]
    if quote.text:
        parts.append(block(quote.text, quote.ranges))
    parts += [
        f"*{label(exported_attachment)}*"
        for exported_attachment in message.attachments
        if exported_attachment.role == "quoted"
    ]
    return prefix_lines("\n\n".join(parts), "> ")


def poll(exported_poll: schemas.ExportedPoll) -> str:
    """Return a poll with its votes."""
    marks = ["several answers allowed"] if exported_poll.allow_multiple else []
    marks += ["ended"] if exported_poll.has_ended else []
    suffix = f" ({', '.join(marks)})" if marks else ""
    lines = [f"**Poll: {inline(exported_poll.question) or '?'}**{suffix}", ""]
    for option in exported_poll.options:
        names = ", ".join(inline(vote.voter) for vote in option.votes)
        votes = count_of(len(option.votes), "vote")
        lines.append(f"- {item(option.text) or '?'}: {votes}{f' ({names})' if names else ''}")
    return "\n".join(lines)


def card(contact_card: schemas.ExportedContactCard) -> str:
    """Return a contact card."""
    lines = [
        f"- {item(part)}"
        for part in (contact_card.name or contact_card.nickname, contact_card.organization)
        if part and inline(part)
    ]
    for contact_field in contact_card.fields:
        kind = inline(contact_field.label or contact_field.type).lower()
        lines.append(f"- {contact_field.field}{f' ({kind})' if kind else ''}: {inline(contact_field.value)}")
    return "\n".join(lines) or "- ?"


def label(exported_attachment: schemas.ExportedAttachment) -> str:
    """Return the label of a file."""
    kind = normalize_type(exported_attachment.content_type)
    file_label = (
        "long text" if exported_attachment.role == "long_text" else FILE_LABELS.get(kind.partition("/")[0], "file")
    )
    if exported_attachment.flag == "VOICE_MESSAGE":
        file_label = "voice message"
    return inline(exported_attachment.file_name or "") or (
        "sticker" if exported_attachment.role == "sticker" else file_label
    )


def attachment(exported_attachment: schemas.ExportedAttachment) -> str:
    """Return a file: an image, a link, or the name of a file that is not in the export."""
    kind = normalize_type(exported_attachment.content_type)
    facts = ", ".join(
        part
        for part in (inline(kind), size_label(exported_attachment.size) if exported_attachment.size else "")
        if part
    )
    if exported_attachment.file is None:
        line = f"*{label(exported_attachment)}* ({facts}; not in this export)"
    elif DISPLAYED_TYPES.get(kind, ("file", ""))[0] == "image":
        line = f"!{link(label(exported_attachment), ROOT + exported_attachment.file)}"
    else:
        line = f"{link(label(exported_attachment), ROOT + exported_attachment.file)} ({facts})"
    return f"{line}\n\n{block(exported_attachment.caption)}" if exported_attachment.caption else line


def preview(exported_link: schemas.ExportedLink) -> str:
    """Return a link preview; its address is plain text."""
    parts = [f"*{inline(part)}*" for part in (exported_link.title,) if part and inline(part)]
    return " ".join([*parts, block(exported_link.url.replace("\n", ""))]) or "?"


def reactions(exported_reactions: Sequence[schemas.ExportedReaction]) -> str:
    """Return the reactions, grouped by emoji."""
    authors_by_emoji: dict[str, list[str]] = {}
    for reaction in exported_reactions:
        authors_by_emoji.setdefault(inline(reaction.emoji), []).append(inline(reaction.author) or "Unknown")
    return "Reactions: " + "; ".join(f"{emoji} {', '.join(names)}" for emoji, names in authors_by_emoji.items())


def revision(exported_revision: schemas.ExportedRevision, day: str, times: Times) -> str:
    """Return an earlier version of a message."""
    text = block(exported_revision.text or "", exported_revision.ranges)
    return prefix_lines(f"*At {times.time(exported_revision.sent_ms, day)} it read:*\n\n{text}".rstrip("\n"), "> ")
