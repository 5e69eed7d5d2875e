"""The records of a sample backup, each after those it refers to."""

from collections.abc import Iterator

from holdfast.backup.schema.backup_pb2 import Frame
from holdfast_demo.sample import other_records
from holdfast_demo.sample.account import account, header
from holdfast_demo.sample.chat_items import history
from holdfast_demo.sample.chats import arrange, chat
from holdfast_demo.sample.item_context import Edition, Stage
from holdfast_demo.sample.media import library
from holdfast_demo.sample.people import DAY
from holdfast_demo.sample.recipients import assemble, recipients
from holdfast_demo.sample.seeded_random import Dice

__all__ = ["sample_records"]

# Backups are made within some months of this day, 2025-11-20 in UTC; on which day and when, the seed decides.
FIRST_BACKUP = 1_763_596_800_000


def sample_records(messages: int, seed: int = 1, *, edition: Edition = "current") -> Iterator[bytes]:
    """Yield the serialized header of a made-up backup, then each serialized frame, without length prefixes.

    The backup has exactly `messages` chat items. From 400 on, every kind of record, message and update is among
    them. Edition "spec" keeps to the specification; "current" also has what was added to the format later.
    """
    if messages < 1:
        raise ValueError(f"a sample has at least one message, not {messages}")
    return records(messages, seed, edition)


def records(messages: int, seed: int, edition: Edition) -> Iterator[bytes]:
    """Yield what `sample_records` promises."""
    current = edition == "current"
    dice = Dice(seed)
    now = FIRST_BACKUP + dice.below(200) * DAY + dice.between(DAY // 2, DAY - 1)
    files = library(seed)
    cast = assemble(dice, messages, now, current=current)
    rooms = arrange(cast.me, cast.news, cast.people, cast.circles)
    packs = other_records.packs(dice)

    yield header(dice, now).SerializeToString()
    yield Frame(account=account(cast.me, files, dice, now, current=current)).SerializeToString()
    for recipient in recipients(cast, dice, now, current=current):
        yield Frame(recipient=recipient).SerializeToString()
    for room in rooms:
        yield Frame(chat=chat(room, files, dice, now)).SerializeToString()
    for pack in packs:
        yield Frame(stickerPack=pack.record()).SerializeToString()
    for call in other_records.ad_hoc_calls(dice, cast.links, 2 + messages // 1000, now):
        yield Frame(adHocCall=call).SerializeToString()
    for profile in other_records.notification_profiles(dice, cast.people, cast.circles, now):
        yield Frame(notificationProfile=profile).SerializeToString()
    for folder in other_records.chat_folders(dice, cast.me, cast.people, cast.circles):
        yield Frame(chatFolder=folder).SerializeToString()

    outsiders, invitees = cast.standing("gone", "stranger"), cast.standing("invitee")
    stage = Stage(edition, now, cast.me, cast.news, outsiders, invitees, packs, files)
    yield from history(stage, rooms, messages, dice)
