"""Removing a person, with all references in messages of others."""

import random
import shutil
import uuid
from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives.person_removal import Cleaner, service_ids
from holdfast.backup.errors import NotInArchive
from holdfast.backup.schema import Frame
from holdfast.backup.schema.backup_pb2 import ChatItem, DistributionList
from tests.backup.archives.dump import dump
from tests.backup.archives.histories import copies, imported, later, write
from tests.backup.archives.removals import (
    everything,
    query,
    removed,
    with_secrets,
    without_person,
    without_snapshots,
)


def test_no_byte_of_a_person_is_left(tmp_path: Path) -> None:
    """What others wrote stays, without quotes, reactions and receipts of the person."""
    place, _chat, person = with_secrets(tmp_path)
    ((aci,),) = query(place, "SELECT aci FROM contact WHERE id = ?", person)
    done = removed(place, person=person)
    assert done.people == 1
    assert done.edited > 0
    left = everything(place)
    raw = bytes.fromhex(str(aci).replace("-", ""))
    assert not [
        word
        for word in (b"xylophonsecret", b"quotedsecretword", b"Zyxwonderlich", str(aci).encode(), raw)
        if word in left
    ]
    assert b"groupsecretword by another" in left
    dump(place)
    assert query(place, "SELECT 1 FROM recipient WHERE kind = 'unknown'") == []
    with archives.open(place) as opened:
        (hit,) = opened.search("groupsecretword").hits
        assert hit.message.quote is None
        assert not [one for one in hit.message.reactions if one.emoji == "🦜"]


def test_a_person_goes_from_every_version(tmp_path: Path) -> None:
    """Earlier snapshots and their versions have nothing of them either, and later imports still work."""
    dice = random.Random(3)
    sources = [later(tmp_path / f"{number}", dice, days=number) for number in (0, 1, 2)]
    place = tmp_path / "a.db"
    imported(place, *sources)
    people = query(
        place, "SELECT id, aci FROM people WHERE kind = 'contact' AND aci IS NOT NULL ORDER BY id LIMIT 4"
    )
    for person, aci in people:
        assert isinstance(person, int)
        removed(place, person=person)
        left = everything(place)
        assert str(aci).encode() not in left
        assert bytes.fromhex(str(aci).replace("-", "")) not in left
        dump(place)
    imported(place, later(tmp_path / "3", dice, days=3))
    dump(place)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_archive_says_what_it_would_say_of_backups_without_the_person(tmp_path: Path, seed: int) -> None:
    """Of every version of messages, groups and lists, and of who was a member of what."""
    dice = random.Random(seed)
    sources = [later(tmp_path / f"{day}", dice, days=day, messages=60, twins=seed > 1) for day in (0, 1, 2)]
    imported(tmp_path / "all.db", *sources)
    people = query(tmp_path / "all.db", "SELECT id, aci FROM people WHERE kind = 'contact' AND aci IS NOT NULL")
    for person, aci in dice.sample(people, 3):
        assert isinstance(person, int)
        raw, place = bytes.fromhex(str(aci).replace("-", "")), tmp_path / f"{person}.db"
        shutil.copy(tmp_path / "all.db", place)
        removed(place, person=person)
        never = tmp_path / f"never-{person}.db"
        imported(never, *(without_person(one, one.with_suffix(".without"), raw) for one in sources))
        assert without_snapshots(place) == without_snapshots(never)


def test_only_a_contact_can_be_removed(tmp_path: Path) -> None:
    """The owner is told what to do instead; a group is no person."""
    place, chat, _person = with_secrets(tmp_path)
    ((owner,),) = query(place, "SELECT id FROM recipient WHERE kind = 'self'")
    assert isinstance(owner, int)
    with pytest.raises(NotInArchive, match="the owner of the backups; remove the imports instead"):
        removed(place, person=owner)
    for number in (chat, 5):
        with pytest.raises(NotInArchive, match=f"there is no person {number}"):
            removed(place, person=number)


def joined(frame: Frame, *acis: bytes) -> Frame:
    """Let a message say that people have joined the group."""
    for aci in acis:
        frame.chatItem.updateMessage.groupChange.updates.add().groupMemberJoinedUpdate.newMemberAci = aci
    return frame


def test_versions_and_updates_that_named_only_the_person_are_gone(tmp_path: Path) -> None:
    """Of messages, groups and lists of which two versions differ by the person alone, one version is left."""
    header, frames = copies(60)
    contacts = [frame.recipient for frame in frames if frame.recipient.contact.aci and frame.recipient.contact.pni]
    person, other = contacts[0], contacts[1]
    groups = {frame.recipient.id: frame.recipient.group for frame in frames if frame.recipient.HasField("group")}
    chat = next(frame.chat for frame in frames if frame.chat.recipientId in groups)
    spread = next(one.recipient.distributionList for one in frames if one.recipient.HasField("distributionList"))
    own = next(frame.recipient.id for frame in frames if frame.recipient.HasField("self"))
    members = groups[chat.recipientId].snapshot.membersPendingProfileKey
    both = (person.contact.aci, other.contact.aci)
    sources = []
    # By day: who joins in the first and in the second message, who reacts to the third, and who is in the list.
    for day, (first, second, reacts, listed) in enumerate(
        (
            ([both[0]], [both[0]], True, [person.id, other.id]),
            ([both[0]], both, False, [other.id]),
            ([both[0]], both, True, [person.id, other.id]),
        )
    ):
        header.backupTimeMs += day * 86_400_000
        del spread.distributionList.memberRecipientIds[:]
        spread.distributionList.memberRecipientIds.extend(listed)
        if day == 1:
            members.add(addedByUserId=both[0], timestamp=5).member.userId = b"\x01" + b"i" * 16
            members.add(addedByUserId=both[1], timestamp=5).member.userId = b"\x01" + person.contact.pni
        said = [joined(Frame(), *first), joined(Frame(), *second), Frame()]
        words = said[2].chatItem.standardMessage
        words.text.body = "nothing but words"
        if reacts:
            words.reactions.add(emoji="🦜", authorId=person.id, sentTimestamp=5, sortOrder=1)
        for moment, frame in enumerate(said):
            item = frame.chatItem
            item.chatId, item.authorId, item.dateSent = chat.id, own, 1_765_000_000_000 + moment
            (item.directionless if moment < 2 else item.outgoing).SetInParent()
        sources.append(write(tmp_path / f"{day}", header, [*frames, *said]))
    place, never = tmp_path / "a.db", tmp_path / "never.db"
    imported(place, *sources)
    versions = "SELECT count(*) FROM message_version v JOIN message m ON m.id = v.message_id WHERE m.sent_ms = ?"
    assert query(place, versions, 1_765_000_000_001) == [(2,)]
    ((number,),) = query(place, "SELECT id FROM contact WHERE aci = ?", str(uuid.UUID(bytes=both[0])))
    assert isinstance(number, int)
    removed(place, person=number)
    imported(never, *(without_person(one, one.with_suffix(".without"), both[0]) for one in sources))
    assert without_snapshots(place) == without_snapshots(never)
    kept = "SELECT sent_ms FROM message WHERE sent_ms >= 1765000000000 ORDER BY 1"
    assert query(place, kept) == [(1_765_000_000_001,), (1_765_000_000_002,)]
    with archives.open(place) as opened:
        assert len(opened.search("nothing but words").hits) == 1


def test_a_message_loses_what_the_person_added_and_keeps_the_rest() -> None:
    """Reactions, receipts and mentions in their order, and a quote of what the person said."""
    cleaner = Cleaner({7}, {b"a" * 16})
    item = ChatItem(chatId=7, authorId=5, dateSent=7)
    message = item.standardMessage
    for author, emoji in ((5, "🎉"), (7, "🦜"), (9, "👍")):
        message.reactions.add(authorId=author, emoji=emoji, sentTimestamp=author)
        item.outgoing.sendStatus.add(recipientId=author)
    message.text.body = "7"
    message.text.bodyRanges.add(start=1, length=1, mentionAci=b"a" * 16)
    message.text.bodyRanges.add(start=2, length=1, mentionAci=b"b" * 16)
    message.quote.authorId = 7
    assert cleaner.clean(item) is True
    assert [(one.authorId, one.emoji) for one in message.reactions] == [(5, "🎉"), (9, "👍")]
    assert [one.recipientId for one in item.outgoing.sendStatus] == [5, 9]
    assert [one.mentionAci for one in message.text.bodyRanges] == [b"b" * 16]
    assert (message.text.body, message.HasField("quote")) == ("7", False)
    assert (item.chatId, item.dateSent) == (7, 7)


def test_what_is_about_the_person_is_dropped_as_a_whole() -> None:
    """What they wrote, a call they started, and an update that names nobody else."""
    cleaner = Cleaner({7}, {b"a" * 16})
    assert cleaner.clean(ChatItem(authorId=7)) is False
    call = ChatItem(authorId=5)
    call.updateMessage.groupCall.ringerRecipientId = 7
    assert cleaner.clean(call) is False
    alone, together = joined(Frame(), b"a" * 16), joined(Frame(), b"b" * 16, b"a" * 16)
    assert cleaner.clean(alone.chatItem) is False
    assert cleaner.clean(together.chatItem) is True
    assert together == joined(Frame(), b"b" * 16)


def test_an_aci_and_a_pni_are_written_differently_in_records() -> None:
    """A PNI with a mark before it or without; what is no UUID is written nowhere."""
    aci, pni = uuid.UUID(int=1), uuid.UUID(int=2)
    assert service_ids([("aci", str(aci)), ("pni", str(pni)), ("pni", "none")]) == {
        aci.bytes,
        pni.bytes,
        b"\x01" + pni.bytes,
    }


def test_a_frame_without_the_person_is_not_touched() -> None:
    """Cleaning is for those who are named only."""
    _header, frames = copies(120)
    for frame in frames:
        again = Frame.FromString(frame.SerializeToString())
        assert Cleaner(frozenset({10**9}), frozenset({b"?" * 16})).clean(again)
        assert again == frame


def test_a_person_goes_from_lists_of_ids() -> None:
    """The others of the list stay, and so does a list that names nobody any more."""
    cleaner = Cleaner(frozenset({7}), frozenset())
    for ids, left in (([5, 7, 9], [5, 9]), ([7], []), ([5], [5])):
        record = DistributionList(memberRecipientIds=ids)
        assert cleaner.clean(record)
        assert list(record.memberRecipientIds) == left
