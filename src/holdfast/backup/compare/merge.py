"""Merges several backups of one account: all records of all of them, in one order and with common ids."""

import tempfile
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Final

from holdfast.backup import backup_reader
from holdfast.backup.backup_reader import Backup, BackupSource, opened
from holdfast.backup.compare.canonical import parse_item
from holdfast.backup.compare.index import UNMATCHED, MessageIndex
from holdfast.backup.compare.items import renumbered_items
from holdfast.backup.compare.message_matches import mark_messages, match_changed
from holdfast.backup.compare.recipient_pairs import RecipientPairs, pair_recipients
from holdfast.backup.compare.resolve import adapt_message, resolve
from holdfast.backup.compare.roster import Roster, read_roster
from holdfast.backup.compare.union import LATER_WINS, Conflict, ConflictCallback, merge_rosters
from holdfast.backup.container.attachments import AttachmentKey
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.container.media import AttachmentStore
from holdfast.backup.conversion import (
    BackupTarget,
    Conversion,
    OutputFormat,
    chosen_form,
    convert,
    path_or_file,
    refuse_weak_key,
)
from holdfast.backup.dates import moment
from holdfast.backup.errors import AttachmentError, DifferentAccounts
from holdfast.backup.public import public
from holdfast.backup.target_check import check_target
from holdfast.backup.wire import Names
from holdfast.backup.wire.renumber import Numbered
from holdfast.backup.writer import write_stream
from holdfast.redacted_repr import redacted

__all__ = ["MergeResult", "merge", "same_account"]

TIMER_STOPPED: Final = "it expired before the later backup was made; kept without its timer"


@public
@redacted
@dataclass(frozen=True, slots=True)
class MergeResult:
    """The result of a merge: counts of messages, of those on one side only and of those that differed by aspect.

    With more than two backups the counts are sums over the steps, each of which merges the next later backup.
    """

    messages: int
    only_older: int
    only_newer: int
    differing: Mapping[str, int]
    conflicts: int
    written: Conversion


@redacted
@dataclass
class MergeCounts:
    """Counts during a merge."""

    report: ConflictCallback | None
    only_older: int = 0
    only_newer: int = 0
    conflicts: int = 0
    differing: Counter[str] = field(default_factory=Counter)

    def conflict(self, conflict: Conflict) -> None:
        """Count and report a conflict."""
        self.conflicts += 1
        if self.report is not None:
            self.report(conflict)


@public
def merge(
    sources: Sequence[BackupSource],
    target: BackupTarget,
    key: KeyMaterial | str | None = None,
    *,
    to: OutputFormat | str | None = None,
    keys: KeyMaterial | None = None,
    names: Names = "spec",
    assume_same_account: bool = False,
    on_conflict: ConflictCallback | None = None,
    replace: bool = False,
) -> MergeResult:
    """Merge several backups of one account, and write the result in any form that `convert` writes.

    `key` opens the sources, `keys` encrypt the result. Backups are ordered by the time they were made; the later
    one wins in case of conflict, and `on_conflict` is called. A folder also gets the attachments of all sources.
    Backups of different accounts raise `DifferentAccounts`, unless `assume_same_account` is true. With `replace`
    an existing file is replaced, but never one of the sources.

    >>> _ = hb.crop("chats.binproto", "old.binproto", window=hb.Window.between(None, "2023"))
    >>> merged = hb.merge(["old.binproto", "chats.binproto"], "all.binproto")
    >>> merged.messages, merged.conflicts
    (200, 0)
    """
    with ExitStack() as stack:
        return merge_open(
            [stack.enter_context(opened(source, key)) for source in sources],
            target,
            to=to,
            keys=keys,
            names=names,
            assume_same_account=assume_same_account,
            on_conflict=on_conflict,
            replace=replace,
        )


def merge_open(
    sources: Sequence[Backup],
    target: BackupTarget,
    *,
    to: OutputFormat | str | None,
    keys: KeyMaterial | None,
    names: Names,
    assume_same_account: bool,
    on_conflict: ConflictCallback | None,
    replace: bool,
) -> MergeResult:
    """Merge several open backups."""
    if isinstance(target, str | PathLike):
        for source in sources:
            check_target(source, Path(target))
    refuse_weak_key(chosen_form(path_or_file(target), to), keys, sources)
    rosters = [read_roster(source) for source in sources]
    if not assume_same_account:
        check_accounts(sources, rosters)
    order = sorted(zip(rosters, sources, strict=True), key=lambda entry: entry[0].sort_key)
    counts = MergeCounts(on_conflict)
    with ExitStack() as stack:
        (roster, current), *later = order
        for following, source in later:
            file: BinaryIO = stack.enter_context(tempfile.TemporaryFile())
            merge_pair(
                pair_recipients(roster, following, names=(current.name, source.name), strict=True),
                current,
                source,
                file,
                counts,
            )
            file.seek(0)
            current = stack.enter_context(backup_reader.open(file))
            roster = read_roster(current)
        stores = tuple(source.media for _roster, source in reversed(order) if source.media is not None)
        current.media = AttachmentStores(stores) if stores else None
        current.recovery_keys = tuple(key for source in sources for key in source.recovery_keys)
        written = convert(current, target, to=to, keys=keys, names=names, replace=replace)
    return MergeResult(
        roster.messages, counts.only_older, counts.only_newer, dict(counts.differing), counts.conflicts, written
    )


def check_accounts(sources: Sequence[Backup], rosters: Sequence[Roster]) -> None:
    """Raise `DifferentAccounts` unless account identifiers connect all backups, directly or through others."""
    accepted = [rosters[0]]
    waiting = list(zip(rosters[1:], sources[1:], strict=True))
    while waiting:
        related = [entry for entry in waiting if any(same_account(entry[0], roster) for roster in accepted)]
        if not related:
            raise DifferentAccounts(
                f"{waiting[0][1].name} and {sources[0].name} look like backups of two accounts: "
                "profile key, media key and subscriptions all differ"
            )
        accepted += [roster for roster, _source in related]
        waiting = [entry for entry in waiting if entry not in related]


def same_account(roster: Roster, other: Roster) -> bool:
    """Return whether two backups share an account identifier; a backup does not have the id of its account."""
    return bool(set(account_identifiers(roster)) & set(account_identifiers(other)))


def account_identifiers(roster: Roster) -> Iterator[tuple[str, bytes | str]]:
    """Yield the unique identifiers of an account; usernames are excluded, since they can be reassigned."""
    account = roster.account
    if roster.header.mediaRootBackupKey:
        yield "media key", roster.header.mediaRootBackupKey
    if account is None:
        return
    if account.profileKey:
        yield "profile key", account.profileKey
    if account.usernameLink.serverId:
        yield "username link", account.usernameLink.serverId
    for subscriber in (account.donationSubscriberData.subscriberId, account.backupsSubscriberData.subscriberId):
        if subscriber:
            yield "subscriber", subscriber


def merge_pair(pairing: RecipientPairs, older: Backup, newer: Backup, file: BinaryIO, counts: MergeCounts) -> None:
    """Write the merge of two backups as a plain stream."""
    header, frames = merge_rosters(pairing, counts.conflict)
    numbers_old = pairing.people_before, pairing.chats_before
    numbers_new = pairing.people_after, pairing.chats_after
    with MessageIndex() as index, write_stream(file, header, unchecked=True) as out:
        index.add("before", renumbered_items(older, *numbers_old))
        index.add("after", renumbered_items(newer, *numbers_new))
        replaced = match_messages(index, pairing, older, newer, counts)
        for frame in frames:
            out.write(frame)
        olds = chain.from_iterable(renumbered_items(older, *numbers_old))
        news = chain.from_iterable(renumbered_items(newer, *numbers_new))
        for is_newer, n, item in interleave(olds, news, index.before, index.after):
            raw = item[-1]
            if is_newer:
                counts.only_newer += index.after[n] == UNMATCHED
                out.write(index.raw("after", n) if replaced[n] else raw)
            else:
                counts.only_older += 1
                out.write(adapted_frame(item, pairing, counts))


def match_messages(
    index: MessageIndex, pairing: RecipientPairs, older: Backup, newer: Backup, counts: MergeCounts
) -> bytearray:
    """Match all messages and merge those that differ; return a mark for each newer one that was replaced."""
    selected = bytearray(len(index.before)), bytearray(len(index.after))
    for group in index.match():
        if group.before and group.after:
            index.postpone(group)
            mark_messages(group, selected)
    if any(selected[0]):
        index.keep("before", selected[0], renumbered_items(older, pairing.people_before, pairing.chats_before))
        index.keep("after", selected[1], renumbered_items(newer, pairing.people_after, pairing.chats_after))
    replaced = bytearray(len(index.after))
    for group in index.postponed():
        for old, new, differences in list(match_changed(index, group)):
            if old is None or new is None:
                continue
            index.join(old, new)
            if not differences:
                continue
            frame = resolve(index.raw("before", old), index.raw("after", new))
            counts.differing.update(aspect.value for aspect in frame.aspects)
            index.replace(new, frame.raw)
            replaced[new] = 1
            if frame.lost:
                where = message_location(pairing, group.chat, group.author, parse_item(frame.raw).dateSent)
                lost = ", ".join(frame.lost)
                counts.conflict(Conflict("message", where, lost, frame.kept, frame.dropped, LATER_WINS))
    return replaced


def adapted_frame(item: Numbered, pairing: RecipientPairs, counts: MergeCounts) -> bytes:
    """Return the frame of a message that only the older backup has, adapted to the later one."""
    _frame, chat, author, sent, _origin, _received, raw = item
    record, stopped = adapt_message(raw, pairing.after.backup_time_ms, pairing.collapsed)
    if stopped:
        counts.conflict(
            Conflict("message", message_location(pairing, chat, author, sent), "timer", "", "timer", TIMER_STOPPED)
        )
    return record


def message_location(pairing: RecipientPairs, chat: int, author: int, sent_ms: int) -> str:
    """Return the chat, author and time of a message, for a conflict report."""
    date = moment(sent_ms)
    when = f"{date:%Y-%m-%d %H:%M:%S}" if date else "at an unknown time"
    return f"{pairing.chat_name(chat)}, {pairing.author(author)}, {when}"


def interleave(
    olds: Iterator[Numbered], news: Iterator[Numbered], before: "array[int]", after: "array[int]"
) -> Iterator[tuple[bool, int, Numbered]]:
    """Yield the messages of both sides in one order: whether it is of the newer side, its position, the message.

    Messages of both sides are taken from the newer side, in its order. Messages of the older side only keep their
    order relative to those; where that leaves a choice, the earlier time goes first.
    """
    e = n = 0
    old, new = next(olds, None), next(news, None)
    while old is not None or new is not None:
        if old is not None and before[e] != UNMATCHED and (before[e] < n or new is None):
            old = next(olds, None)
            e += 1
        elif new is None or (old is not None and before[e] == UNMATCHED and precedes(old, new, after[n])):
            assert old is not None  # noqa: S101  # the loop ends when both are at their end
            yield False, e, old
            old = next(olds, None)
            e += 1
        else:
            yield True, n, new
            new = next(news, None)
            n += 1


def precedes(old: Numbered, new: Numbered, partner: int) -> bool:
    """Return whether a message of the older side only comes before the next one of the newer side.

    If that one has a match, the match is still to come on the older side: matched messages are passed there only
    after they were written.
    """
    return partner != UNMATCHED or (old[5] or old[3]) <= (new[5] or new[3])


@redacted
@dataclass(frozen=True, slots=True)
class AttachmentStores:
    """The attachment stores of several backups, searched in order."""

    stores: tuple[AttachmentStore, ...]

    @contextmanager
    def open(self, attachment: AttachmentKey) -> Iterator[BinaryIO]:
        """Open an attachment in the first store that has it."""
        with self._find_store(attachment).open(attachment) as file:
            yield file

    def check(self, attachment: AttachmentKey) -> None:
        """Raise `AttachmentError` if no store has the attachment."""
        self._find_store(attachment)

    def has_files(self) -> bool:
        """Return whether any of the backups includes attachments."""
        return any(store.has_files() for store in self.stores)

    def _find_store(self, attachment: AttachmentKey) -> AttachmentStore:
        """Return the first store that has the attachment."""
        for store in self.stores[:-1]:
            try:
                store.check(attachment)
            except AttachmentError:
                continue
            return store
        self.stores[-1].check(attachment)
        return self.stores[-1]
