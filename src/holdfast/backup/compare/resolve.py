"""Merges two versions of a message, and adapts a message of an older backup to a later one."""

from collections.abc import Iterator, MutableSequence
from dataclasses import dataclass
from typing import Final

from holdfast.backup.compare.canonical import (
    Aspect,
    differing_aspects,
    file_pointers,
    message_summary,
    parse_item,
    reactions_of,
)
from holdfast.backup.schema.backup_pb2 import ChatItem, FilePointer, Frame, Reaction
from holdfast.redacted_repr import redacted

__all__ = ["ResolvedFrame", "adapt_message", "resolve"]

# A disappearing-message timer must end at least this long after the time of the backup.
DAY_MS: Final = 86_400_000


@redacted
@dataclass(frozen=True, slots=True)
class ResolvedFrame:
    """The merge of two versions: the frame, the aspects in which they differed, and those with losses."""

    raw: bytes
    aspects: tuple[Aspect, ...]
    lost: tuple[Aspect, ...]
    kept: str
    dropped: str


def resolve(before: bytes, after: bytes) -> ResolvedFrame:
    """Merge two versions of a message: the one with more edits wins, else that of the later backup.

    Reactions, votes and receipts are always those of the later one. A file only the older version has is kept.
    """
    differences = differing_aspects(parse_item(before), parse_item(after))
    if not differences:
        return ResolvedFrame(after, (), (), "", "")
    old, new = parse_item(before), parse_item(after)
    chat_item = ChatItem()
    chat_item.CopyFrom(new)
    kind = new.WhichOneof("item")
    if kind == old.WhichOneof("item") and len(old.revisions) > len(new.revisions):
        chat_item.CopyFrom(old)
        copy_later_state(chat_item, new)
    elif kind == old.WhichOneof("item"):
        keep_files(old, chat_item)
        keep_target(old, chat_item)
    lost = tuple(aspect for aspect in differences if is_lost(aspect, old, new, chat_item))
    texts = (message_summary(chat_item), message_summary(old if chat_item != old else new)) if lost else ("", "")
    raw = after if chat_item == new else Frame(chatItem=chat_item).SerializeToString(deterministic=True)
    return ResolvedFrame(raw, differences, lost, *texts)


def copy_later_state(chat_item: ChatItem, new: ChatItem) -> None:
    """Copy reactions, receipts, timer and pin from the later version."""
    reactions: MutableSequence[Reaction] = reactions_of(chat_item)
    del reactions[:]
    reactions.extend(reactions_of(new))
    for side in ("incoming", "outgoing"):
        if new.HasField(side) and chat_item.HasField(side):
            getattr(chat_item, side).CopyFrom(getattr(new, side))
    for name in ("expireStartDate", "expiresInMs"):
        if new.HasField(name):
            setattr(chat_item, name, getattr(new, name))
        else:
            chat_item.ClearField(name)
    chat_item.ClearField("pinDetails")
    if new.HasField("pinDetails"):
        chat_item.pinDetails.CopyFrom(new.pinDetails)


def keep_files(old: ChatItem, chat_item: ChatItem) -> None:
    """Copy file pointers of the older version whose files the later one lacks."""
    olds, news = file_pointers(old), file_pointers(chat_item)
    if len(olds) != len(news):
        return
    for first, second in zip(olds, news, strict=True):
        same = first.contentType == second.contentType and first.fileName == second.fileName
        if same and has_file(first) and not has_file(second):
            second.CopyFrom(first)


def keep_target(old: ChatItem, chat_item: ChatItem) -> None:
    """Copy the target of a quote from the older version where the later one lacks it."""
    quote, old_quote = chat_item.standardMessage.quote, old.standardMessage.quote
    lost = chat_item.standardMessage.HasField("quote") and not quote.HasField("targetSentTimestamp")
    if lost and old_quote.HasField("targetSentTimestamp"):
        quote.targetSentTimestamp = old_quote.targetSentTimestamp


def without_target(item: ChatItem) -> ChatItem:
    """Copy a message without the target of its quote."""
    copy = ChatItem()
    copy.CopyFrom(item)
    if copy.standardMessage.HasField("quote"):
        copy.standardMessage.quote.ClearField("targetSentTimestamp")
    return copy


def has_file(pointer: FilePointer) -> bool:
    """Return whether the file was available when the backup was made."""
    return bool(pointer.locatorInfo.plaintextHash)


def is_lost(aspect: Aspect, old: ChatItem, new: ChatItem, chat_item: ChatItem) -> bool:
    """Return whether the merged message lacks something of either version in this aspect."""
    if aspect is Aspect.DELETED:
        return True
    if aspect is Aspect.EDITED:
        kept = {message_summary(version) for version in (chat_item, *chat_item.revisions)}
        if any(message_summary(version) not in kept for side in (old, new) for version in (side, *side.revisions)):
            return True
        is_edited = Aspect.EDITED in differing_aspects(without_target(old), without_target(chat_item))
        return is_edited and not (old.revisions or new.revisions)
    if aspect is Aspect.REACTIONS:
        kept_reactions = {(reaction.authorId, reaction.emoji) for reaction in reactions_of(chat_item)}
        return any((reaction.authorId, reaction.emoji) not in kept_reactions for reaction in reactions_of(old))
    if aspect is Aspect.VOTES:
        cast_votes = set(votes(chat_item))
        return any(vote not in cast_votes for vote in votes(old))
    if aspect is Aspect.PIN:
        return old.HasField("pinDetails")
    return aspect is Aspect.OTHER


def votes(item: ChatItem) -> Iterator[tuple[int, int]]:
    """Yield the option and the voter of each vote."""
    for number, option in enumerate(item.poll.options):
        for vote in option.votes:
            yield number, vote.voterId


def adapt_message(raw: bytes, backup_time_ms: int, collapsed: frozenset[int]) -> tuple[bytes, bool]:
    """Adapt a message of the older backup to one made at `backup_time_ms`; return whether its timer was removed.

    An expired message is invalid in the later backup, so it is kept without its timer. `collapsed` are recipients
    that were two in the older backup, and may have reacted or voted twice.
    """
    item = parse_item(raw)
    versions = [item, *item.revisions]
    expiring = [version for version in versions if is_expiring(version, backup_time_ms)]
    for version in expiring:
        version.ClearField("expireStartDate")
        version.ClearField("expiresInMs")
    has_duplicates = bool(collapsed) and sum(map(deduplicate_actions, versions)) > 0
    if not (expiring or has_duplicates):
        return raw, False
    return Frame(chatItem=item).SerializeToString(deterministic=True), bool(expiring)


def is_expiring(item: ChatItem, backup_time_ms: int) -> bool:
    """Return whether a message expires within a day of the backup, or before."""
    if not item.HasField("expireStartDate"):
        return False
    return item.expireStartDate + item.expiresInMs < backup_time_ms + DAY_MS


def deduplicate_actions(item: ChatItem) -> bool:
    """Keep the last reaction and the first vote of each recipient; return whether any were removed."""
    reactions: MutableSequence[Reaction] = reactions_of(item)
    last = {reaction.authorId: reaction for reaction in sorted(reactions, key=lambda entry: entry.sentTimestamp)}
    changed = len(last) < len(reactions)
    if changed:
        kept = [Reaction.FromString(reaction.SerializeToString()) for reaction in last.values()]
        del reactions[:]
        reactions.extend(kept)
    voters: set[int] = set()
    for option in item.poll.options:
        option_voters: set[int] = set()
        for vote in list(option.votes):
            if vote.voterId in option_voters or (vote.voterId in voters and not item.poll.allowMultiple):
                option.votes.remove(vote)
                changed = True
            option_voters.add(vote.voterId)
        voters |= option_voters
    return changed
