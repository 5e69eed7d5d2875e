"""Lists the changes from one backup to another.

Ids within the file, the order of lists and other differences between exporters are ignored. Contacts are matched
by service id or phone number, groups by master key, messages by chat, author, time first sent and content.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from holdfast.backup.backup_reader import Backup, BackupSource, opened
from holdfast.backup.compare.canonical import differing_aspects, message_summary, parse_item
from holdfast.backup.compare.field_changes import FieldChange, RecordChange
from holdfast.backup.compare.index import MessageGroup, MessageIndex
from holdfast.backup.compare.items import renumbered_items
from holdfast.backup.compare.message_matches import mark_messages, match_changed
from holdfast.backup.compare.recipient_pairs import RecipientPairs, pair_recipients
from holdfast.backup.compare.records import record_changes, setting_changes
from holdfast.backup.compare.roster import read_roster
from holdfast.backup.compare.selection import choose_pairs
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.public import public
from holdfast.redacted_repr import redacted

__all__ = ["ChatDifference", "Difference", "MessageChange", "diff"]


@public
@redacted
@dataclass(frozen=True, slots=True)
class ChatDifference:
    """Changes of the messages of a chat: totals before and after, and counts of changes by kind and aspect."""

    chat: str
    before: int
    after: int
    added: int
    removed: int
    changed: int
    aspects: Mapping[str, int]


@public
@redacted
@dataclass(frozen=True, slots=True)
class MessageChange:
    """An added, removed or changed message. `what` is added, removed, or the aspects in which it changed."""

    chat: str
    author: str
    sent_ms: int
    what: tuple[str, ...]
    before: str
    after: str


@public
@redacted
@dataclass(frozen=True, slots=True)
class Difference:
    """The changes between two backups; `chats` has only chats with changed messages."""

    settings: tuple[FieldChange, ...]
    records: tuple[RecordChange, ...]
    chats: tuple[ChatDifference, ...]
    messages_before: int
    messages_after: int

    @property
    def same(self) -> bool:
        """Whether there are no changes."""
        return not (self.settings or self.records or self.chats)


@public
def diff(
    before: BackupSource,
    after: BackupSource,
    key: KeyMaterial | str | None = None,
    *,
    chats: Collection[str] = (),
    on_change: Callable[[MessageChange], None] | None = None,
) -> Difference:
    """Return the changes from one backup to another.

    `chats` limits the comparison to chats given by name, id or phone number. `on_change` is called for each
    changed message, by chat and time; without it changes are only counted. Both backups are read several times;
    memory holds a few bytes per message.

    >>> _ = hb.crop("chats.binproto", "earlier.binproto", window=hb.Window.between(None, "2025-08"))
    >>> found = hb.diff("earlier.binproto", "chats.binproto")
    >>> found.same, sum(chat.added for chat in found.chats)
    (False, 14)
    """
    with opened(before, key) as backup, opened(after, key) as later:
        return diff_open(backup, later, chats, on_change)


def diff_open(
    before: Backup,
    after: Backup,
    chats: Collection[str],
    on_change: Callable[[MessageChange], None] | None,
) -> Difference:
    """Return the changes between two open backups."""
    pairing = pair_recipients(read_roster(before), read_roster(after))
    only = choose_pairs(pairing, chats) if chats else None
    with MessageIndex() as index:
        index.add("before", renumbered_items(before, pairing.people_before, pairing.chats_before))
        index.add("after", renumbered_items(after, pairing.people_after, pairing.chats_after))
        counter = ChangeCounter(pairing, index, only)
        counter.count(before, after, on_change)
        changed = counter.chats()
        messages = len(index.before), len(index.after)
    return Difference(
        settings=() if only is not None else setting_changes(pairing),
        records=tuple(record_changes(pairing, only)),
        chats=changed,
        messages_before=messages[0],
        messages_after=messages[1],
    )


class ChangeCounter:
    """Counts changes of messages by chat."""

    def __init__(self, pairing: RecipientPairs, index: MessageIndex, only: set[int] | None) -> None:
        self._pairing = pairing
        self._index = index
        self._only = only
        self._added: Counter[int] = Counter()
        self._removed: Counter[int] = Counter()
        self._changed: Counter[int] = Counter()
        self._aspects: dict[int, Counter[str]] = {}

    def count(self, before: Backup, after: Backup, on_change: Callable[[MessageChange], None] | None) -> None:
        """Count all messages that are not equal in both backups."""
        pairing, index = self._pairing, self._index
        marks = bytearray(len(index.before)), bytearray(len(index.after))
        for group in index.match():
            if self._only is not None and group.chat not in self._only:
                continue
            is_ambiguous = bool(group.before and group.after)
            if is_ambiguous:
                index.postpone(group)
            else:
                self._added[group.chat] += len(group.after)
                self._removed[group.chat] += len(group.before)
            if not is_ambiguous and on_change is not None:
                for n in group.before:
                    index.add_change(group, n, None)
                for n in group.after:
                    index.add_change(group, None, n)
            if is_ambiguous or on_change is not None:
                mark_messages(group, marks)
        if any(marks[0]):
            index.keep("before", marks[0], renumbered_items(before, pairing.people_before, pairing.chats_before))
        if any(marks[1]):
            index.keep("after", marks[1], renumbered_items(after, pairing.people_after, pairing.chats_after))
        for group in index.postponed():
            self._count_group(group, keep=on_change is not None)
        if on_change is not None:
            for chat, old, new in index.changes():
                on_change(self._describe(chat, old, new))

    def _count_group(self, group: MessageGroup, *, keep: bool) -> None:
        """Count the added, removed and changed messages of a group."""
        for old, new, differences in match_changed(self._index, group):
            if old is None:
                self._added[group.chat] += 1
            elif new is None:
                self._removed[group.chat] += 1
            elif differences:
                self._changed[group.chat] += 1
                self._aspects.setdefault(group.chat, Counter()).update(aspect.value for aspect in differences)
            else:
                continue
            if keep:
                self._index.add_change(group, old, new)

    def _describe(self, chat: int, old: int | None, new: int | None) -> MessageChange:
        """Return the description of a change."""
        first = None if old is None else parse_item(self._index.raw("before", old))
        second = None if new is None else parse_item(self._index.raw("after", new))
        item = second or first
        assert item is not None  # noqa: S101  # a change has at least one side
        author, sent = item.authorId, item.dateSent
        texts = (
            ("" if first is None else message_summary(first)),
            ("" if second is None else message_summary(second)),
        )
        kinds: tuple[str, ...] = ("added",) if first is None else ("removed",)
        if first is not None and second is not None:
            kinds = tuple(aspect.value for aspect in differing_aspects(first, second))
        return MessageChange(self._pairing.chat_name(chat), self._pairing.author(author), sent, kinds, *texts)

    def chats(self) -> tuple[ChatDifference, ...]:
        """List the chats with changes, those with most changes first."""
        old, new = self._index.counts("before"), self._index.counts("after")
        touched = {chat for counter in (self._added, self._removed, self._changed) for chat in +counter}
        chat_differences = [
            ChatDifference(
                self._pairing.chat_name(chat),
                old.get(chat, 0),
                new.get(chat, 0),
                self._added[chat],
                self._removed[chat],
                self._changed[chat],
                dict(sorted(self._aspects.get(chat, Counter()).items())),
            )
            for chat in sorted(touched)
        ]
        return tuple(sorted(chat_differences, key=lambda chat: -(chat.added + chat.removed + chat.changed)))
