"""The Markdown form: one folder for each chat and a file for each year of it, or for each month of a busy one.

It is read as it is, in an editor, or through any renderer of CommonMark. Files are cut in UTC.
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
from holdfast.backup.exports.markdown_text import block, heading, inline, item, prefixed
from holdfast.backup.exports.media import SHOWN, kind_of
from holdfast.backup.exports.names import chat_name
from holdfast.backup.exports.periods import Period, periods
from holdfast.backup.exports.stamps import accounts_of
from holdfast.redacted_repr import redacted

__all__ = ["write_markdown"]

# Of messages in one file: a few hundred kilobytes, which every editor opens at once.
MOST: Final = 3000
HOME: Final = "chats"
UP: Final = "../../"
MEANING: Final = re.compile(r"""[\x00-\x1f"#%&<>?\[\\\]`]""")
MINUTE: Final = 60_000
# A zone may be ahead of UTC by up to a day.
LAST: Final = datetime.max.replace(tzinfo=UTC) - timedelta(days=1)
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@lru_cache(maxsize=4096)
def minute(number: int, zone: tzinfo) -> tuple[str, str, str]:
    """Write the day, the date and the time of a minute, counted from 1970."""
    date = moment(number * MINUTE)
    if date is None or date >= LAST:
        return "Beyond the calendar", "beyond", "the calendar"
    there = date.astimezone(zone)
    return f"{DAYS[there.weekday()]}, {there:%Y-%m-%d}", f"{there:%Y-%m-%d}", f"{there:%H:%M}"


@redacted
@dataclass(frozen=True, slots=True)
class Times:
    """Writes days and times of one time zone."""

    zone: tzinfo = UTC

    def day(self, ms: int) -> str:
        """Write a day."""
        return minute(ms // MINUTE, self.zone)[0]

    def time(self, ms: int, below: str | None = None) -> str:
        """Write a time, with its date where that is not the day it is written below."""
        day, date, time = minute(ms // MINUTE, self.zone)
        return time if day == below else f"{date} {time}"


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
    """Write an archive, or what was chosen of it, as Markdown; `zone` is the time zone times are told in."""
    times = Times(zone)
    with ExportFolder(target, "markdown", stamp, accounts_of(archive)) as folder:
        if (summary := folder.settled()) is not None:
            return summary
        job = Job(archive, folder, choice, media, progress)
        cuts = {chat.id: periods(archive, chat.id, choice, MOST) for chat in job.chats}
        job.total = sum(period.messages for chat_periods in cuts.values() for period in chat_periods)
        for chat in job.chats:
            home = home_of(chat)
            for n, period in enumerate(cuts[chat.id]):
                folder.put(f"{home}/{period.name}.md", page(job, chat, cuts[chat.id], n, times))
            folder.put(f"{home}/index.md", contents(chat, cuts[chat.id]))
        folder.put("index.md", index(job.chats, cuts, times))
        return folder.finish()


def home_of(chat: Chat) -> str:
    """Name the folder of a chat."""
    return f"{HOME}/{chat_name(chat.name, chat.id)}"


def title_of(chat: Chat) -> str:
    """Write the name of a chat."""
    return heading(chat.name) or "Chat"


def index(chats: Sequence[Chat], cuts: dict[int, list[Period]], times: Times) -> bytes:
    """Write the page that leads to all chats."""
    lines = ["# Chats", ""]
    account = None
    several = len({chat.account_id for chat in chats}) > 1
    for chat in chats:
        if several and chat.account_id != account:
            account = chat.account_id
            lines += [*([""] if lines[-1] else []), f"## {heading(chat.account) or 'Account'}", ""]
        facts = [counted(sum(period.messages for period in cuts[chat.id]), "message"), *spanned(cuts[chat.id])]
        facts += ["no longer there"] if chat.vanished else []
        lines.append(f"- {link(title_of(chat), f'{home_of(chat)}/index.md')}, {', '.join(facts)}")
    return "\n".join([*lines, "", f"All times are in {times.zone}.", ""]).encode()


def spanned(cuts: Sequence[Period]) -> list[str]:
    """Say which years there are, if any."""
    if not cuts:
        return []
    first, last = cuts[0].name[:4], cuts[-1].name[:4]
    return [first if first == last else f"{first} to {last}"]


def contents(chat: Chat, cuts: Sequence[Period]) -> bytes:
    """Write the page that leads to the files of a chat."""
    lines = [f"# {title_of(chat)}", "", link("All chats", f"{UP}index.md"), ""]
    lines += [
        f"- {link(period.name, f'{period.name}.md')}, {counted(period.messages, 'message')}" for period in cuts
    ]
    return "\n".join([*lines, ""]).encode()


def page(job: Job, chat: Chat, cuts: Sequence[Period], n: int, times: Times) -> Iterator[bytes]:
    """Write one file of a chat."""
    around = [link("All chats", f"{UP}index.md"), link("this chat", "index.md")]
    around += [link(f"before: {period.name}", f"{period.name}.md") for period in cuts[max(n - 1, 0) : n]]
    around += [link(f"after: {period.name}", f"{period.name}.md") for period in cuts[n + 1 : n + 2]]
    links = " · ".join(around)
    yield f"# {title_of(chat)}, {cuts[n].name}\n\n{links}\n".encode()
    today = None
    for message in job.messages(chat.id, cuts[n]):
        day = times.day(message.order_ms)
        if day != today:
            today = day
            yield f"\n## {day}\n".encode()
        yield f"\n{written(message, day, times)}\n".encode()
    yield f"\n---\n\n{links}\n".encode()


def counted(number: int, noun: str) -> str:
    """Count things."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def link(label: str, path: str) -> str:
    """Lead to a file of the export; `label` is text of ours or was escaped.

    Between angles a path stays readable in every script; what would mean something in it is written as a code.
    """
    return f"[{label}](<{MEANING.sub(lambda sign: f'%{ord(sign[0]):02X}', path)}>)"


def written(message: schemas.ExportedMessage, day: str, times: Times) -> str:
    """Write a message: who and when, and below it all that it has."""
    marks = marks_of(message, times)
    suffix = f" ({'; '.join(marks)})" if marks else ""
    time = times.time(message.sent_ms, day)
    if message.kind == "update":
        sentence = inline(message.sentence or "") or "Something happened."
        return f"*{time} {sentence}*{suffix}"
    parts = [f"**{inline(message.author) or 'Unknown'}** {time}{suffix}"]
    if message.quote is not None:
        parts.append(quoted(message, message.quote, times))
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


def marks_of(message: schemas.ExportedMessage, times: Times) -> list[str]:
    """Say what is special about a message."""
    marks = {
        "edited": bool(message.revisions),
        "pinned": message.pinned_ms is not None,
        "SMS": message.sms,
    }
    labels = [mark for mark, holds in marks.items() if holds]
    if message.expires_in_ms:
        labels.append(f"disappears after {span(message.expires_in_ms // 1000)}")
    if message.vanished_ms is not None:
        labels.append(f"no longer there since {times.time(message.vanished_ms)}")
    return labels


ROLES: Final = frozenset({"attachment", "sticker", "long_text"})
# What a file without a name is called.
CALLED: Final = {"image": "picture", "video": "video", "audio": "recording"}


def span(seconds: int) -> str:
    """Say how long a time is."""
    for unit, length in (("week", 604_800), ("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= length and seconds % length == 0:
            return counted(seconds // length, unit)
    return counted(seconds, "second")


def quoted(message: schemas.ExportedMessage, quote: schemas.ExportedQuote, times: Times) -> str:
    """Write what a message answers to."""
    when = "" if quote.target_sent_ms is None else f" {times.time(quote.target_sent_ms)}"
    parts = [f"**{inline(quote.author) or 'Unknown'}**{when}:"]
    if quote.text:
        parts.append(block(quote.text, quote.ranges))
    parts += [
        f"*{label(exported_attachment)}*"
        for exported_attachment in message.attachments
        if exported_attachment.role == "quoted"
    ]
    return prefixed("\n\n".join(parts), "> ")


def poll(exported_poll: schemas.ExportedPoll) -> str:
    """Write a poll with who chose what."""
    marks = ["several answers allowed"] if exported_poll.allow_multiple else []
    marks += ["ended"] if exported_poll.has_ended else []
    suffix = f" ({', '.join(marks)})" if marks else ""
    lines = [f"**Poll: {inline(exported_poll.question) or '?'}**{suffix}", ""]
    for option in exported_poll.options:
        names = ", ".join(inline(vote.voter) for vote in option.votes)
        votes = counted(len(option.votes), "vote")
        lines.append(f"- {item(option.text) or '?'}: {votes}{f' ({names})' if names else ''}")
    return "\n".join(lines)


def card(contact_card: schemas.ExportedContactCard) -> str:
    """Write a contact card."""
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
    """Name a file."""
    kind = kind_of(exported_attachment.content_type)
    called = "long text" if exported_attachment.role == "long_text" else CALLED.get(kind.partition("/")[0], "file")
    if exported_attachment.flag == "VOICE_MESSAGE":
        called = "voice message"
    return inline(exported_attachment.file_name or "") or (
        "sticker" if exported_attachment.role == "sticker" else called
    )


def attachment(exported_attachment: schemas.ExportedAttachment) -> str:
    """Write a file: a picture as such, others as links, and what is not there by its name."""
    kind = kind_of(exported_attachment.content_type)
    facts = ", ".join(
        part
        for part in (inline(kind), size_label(exported_attachment.size) if exported_attachment.size else "")
        if part
    )
    if exported_attachment.file is None:
        line = f"*{label(exported_attachment)}* ({facts}; not in this export)"
    elif SHOWN.get(kind, ("file", ""))[0] == "image":
        line = f"!{link(label(exported_attachment), UP + exported_attachment.file)}"
    else:
        line = f"{link(label(exported_attachment), UP + exported_attachment.file)} ({facts})"
    return f"{line}\n\n{block(exported_attachment.caption)}" if exported_attachment.caption else line


def preview(exported_link: schemas.ExportedLink) -> str:
    """Write the preview of a page, whose address stays text."""
    parts = [f"*{inline(part)}*" for part in (exported_link.title,) if part and inline(part)]
    return " ".join([*parts, block(exported_link.url.replace("\n", ""))]) or "?"


def reactions(exported_reactions: Sequence[schemas.ExportedReaction]) -> str:
    """Write who reacted how, those alike together."""
    by: dict[str, list[str]] = {}
    for reaction in exported_reactions:
        by.setdefault(inline(reaction.emoji), []).append(inline(reaction.author) or "Unknown")
    return "Reactions: " + "; ".join(f"{emoji} {', '.join(names)}" for emoji, names in by.items())


def revision(exported_revision: schemas.ExportedRevision, day: str, times: Times) -> str:
    """Write an earlier wording."""
    text = block(exported_revision.text or "", exported_revision.ranges)
    return prefixed(f"*At {times.time(exported_revision.sent_ms, day)} it read:*\n\n{text}".rstrip("\n"), "> ")
