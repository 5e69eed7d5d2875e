"""The records of a generated backup, each after those it refers to."""

from collections.abc import Iterator

from holdfast.backup.schema.backup_pb2 import Frame
from holdfast_demo.sample import other_records
from holdfast_demo.sample.account import account, header
from holdfast_demo.sample.chat_items import chat_items
from holdfast_demo.sample.chats import chat_record, make_chats
from holdfast_demo.sample.item_context import Edition, SampleContext
from holdfast_demo.sample.media import library
from holdfast_demo.sample.people import DAY
from holdfast_demo.sample.recipients import make_recipients, recipient_records
from holdfast_demo.sample.seeded_random import SeededRandom

__all__ = ["sample_records"]

# 2025-11-20 in UTC. The seed determines the time of the backup, up to 200 days later.
FIRST_BACKUP = 1_763_596_800_000


def sample_records(messages: int, seed: int = 1, *, edition: Edition = "current") -> Iterator[bytes]:
    """Yield the serialized header of a generated backup, then each serialized frame, without length prefixes.

    The backup has exactly `messages` chat items. From 400 on, every kind of record, message and update is among
    them. Edition "spec" follows the specification; "current" also has later additions.
    """
    if messages < 1:
        raise ValueError(f"a sample has at least one message, not {messages}")
    return records(messages, seed, edition)


def records(messages: int, seed: int, edition: Edition) -> Iterator[bytes]:
    """Yield the records; `sample_records` has checked the arguments."""
    current = edition == "current"
    rng = SeededRandom(seed)
    now = FIRST_BACKUP + rng.below(200) * DAY + rng.between(DAY // 2, DAY - 1)
    files = library(seed)
    recipients = make_recipients(rng, messages, now, current=current)
    chats = make_chats(recipients.me, recipients.news, recipients.people, recipients.groups)
    packs = other_records.packs(rng)

    yield header(rng, now).SerializeToString()
    yield Frame(account=account(recipients.me, files, rng, now, current=current)).SerializeToString()
    for recipient in recipient_records(recipients, rng, now, current=current):
        yield Frame(recipient=recipient).SerializeToString()
    for chat in chats:
        yield Frame(chat=chat_record(chat, files, rng, now)).SerializeToString()
    for pack in packs:
        yield Frame(stickerPack=pack.record()).SerializeToString()
    for call in other_records.ad_hoc_calls(rng, recipients.links, 2 + messages // 1000, now):
        yield Frame(adHocCall=call).SerializeToString()
    for profile in other_records.notification_profiles(rng, recipients.people, recipients.groups, now):
        yield Frame(notificationProfile=profile).SerializeToString()
    for folder in other_records.chat_folders(rng, recipients.me, recipients.people, recipients.groups):
        yield Frame(chatFolder=folder).SerializeToString()

    outsiders, invitees = recipients.of_kind("gone", "stranger"), recipients.of_kind("invitee")
    sample = SampleContext(edition, now, recipients.me, recipients.news, outsiders, invitees, packs, files)
    yield from chat_items(sample, chats, messages, rng)
