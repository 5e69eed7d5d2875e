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
from tests.backup.archives.histories import copies, import_backups, write, write_later
from tests.backup.archives.removals import (
    archive_bytes,
    archive_with_secrets,
    query,
    remove_content,
    rows_without_snapshots,
    write_without_person,
)


def test_no_byte_of_a_person_is_left(tmp_path: Path) -> None:
    """Messages of others stay, without quotes, reactions and receipts of the person."""
    path, _chat, person = archive_with_secrets(tmp_path)
    ((aci,),) = query(path, "SELECT aci FROM contact WHERE id = ?", person)
    removal = remove_content(path, person=person)
    assert removal.people == 1
    assert removal.edited > 0
    left = archive_bytes(path)
    raw = bytes.fromhex(str(aci).replace("-", ""))
    assert not [
        word
        for word in (b"xylophonsecret", b"quotedsecretword", b"Zyxwonderlich", str(aci).encode(), raw)
        if word in left
    ]
    assert b"groupsecretword by another" in left
    dump(path)
    assert query(path, "SELECT 1 FROM recipient WHERE kind = 'unknown'") == []
    with archives.open(path) as opened:
        (hit,) = opened.search("groupsecretword").hits
        assert hit.message.quote is None
        assert not [reaction for reaction in hit.message.reactions if reaction.emoji == "🦜"]


def test_a_person_goes_from_every_version(tmp_path: Path) -> None:
    """Older versions of records have nothing of the removed person either, and later imports still work."""
    rng = random.Random(3)
    sources = [write_later(tmp_path / f"{number}", rng, days=number) for number in (0, 1, 2)]
    path = tmp_path / "a.db"
    import_backups(path, *sources)
    people = query(
        path, "SELECT id, aci FROM people WHERE kind = 'contact' AND aci IS NOT NULL ORDER BY id LIMIT 4"
    )
    assert len(people) == 4
    for person, aci in people:
        assert isinstance(person, int)
        remove_content(path, person=person)
        left = archive_bytes(path)
        assert str(aci).encode() not in left
        assert bytes.fromhex(str(aci).replace("-", "")) not in left
        dump(path)
    import_backups(path, write_later(tmp_path / "3", rng, days=3))
    dump(path)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_archive_says_what_it_would_say_of_backups_without_the_person(tmp_path: Path, seed: int) -> None:
    """The rows equal those of an archive of the same backups with the person left out."""
    rng = random.Random(seed)
    sources = [
        write_later(tmp_path / f"{day}", rng, days=day, messages=60, duplicates=seed > 1) for day in (0, 1, 2)
    ]
    import_backups(tmp_path / "all.db", *sources)
    people = query(tmp_path / "all.db", "SELECT id, aci FROM people WHERE kind = 'contact' AND aci IS NOT NULL")
    for person, aci in rng.sample(people, 3):
        assert isinstance(person, int)
        raw, path = bytes.fromhex(str(aci).replace("-", "")), tmp_path / f"{person}.db"
        shutil.copy(tmp_path / "all.db", path)
        remove_content(path, person=person)
        never = tmp_path / f"never-{person}.db"
        import_backups(never, *(write_without_person(path, path.with_suffix(".without"), raw) for path in sources))
        assert rows_without_snapshots(path) == rows_without_snapshots(never)


def test_only_a_contact_can_be_removed(tmp_path: Path) -> None:
    """The owner and a group are refused, and the error of the owner says to remove imports instead."""
    path, chat, _person = archive_with_secrets(tmp_path)
    ((owner,),) = query(path, "SELECT id FROM recipient WHERE kind = 'self'")
    assert isinstance(owner, int)
    with pytest.raises(NotInArchive, match="the owner of the backups; remove the imports instead"):
        remove_content(path, person=owner)
    for number in (chat, 5):
        with pytest.raises(NotInArchive, match=f"there is no person {number}"):
            remove_content(path, person=number)


def add_join_update(frame: Frame, *acis: bytes) -> Frame:
    """Add group updates to a message: these people joined the group."""
    for aci in acis:
        frame.chatItem.updateMessage.groupChange.updates.add().groupMemberJoinedUpdate.newMemberAci = aci
    return frame


def test_versions_and_updates_that_named_only_the_person_are_gone(tmp_path: Path) -> None:
    """Of versions that differ only by the person, one is left, and an update that names nobody else is removed."""
    header, frames = copies(60)
    contacts = [frame.recipient for frame in frames if frame.recipient.contact.aci and frame.recipient.contact.pni]
    person, other = contacts[0], contacts[1]
    groups = {frame.recipient.id: frame.recipient.group for frame in frames if frame.recipient.HasField("group")}
    chat = next(frame.chat for frame in frames if frame.chat.recipientId in groups)
    recipients = [frame.recipient for frame in frames]
    distribution = next(one.distributionList for one in recipients if one.HasField("distributionList"))
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
        del distribution.distributionList.memberRecipientIds[:]
        distribution.distributionList.memberRecipientIds.extend(listed)
        if day == 1:
            members.add(addedByUserId=both[0], timestamp=5).member.userId = b"\x01" + b"i" * 16
            members.add(addedByUserId=both[1], timestamp=5).member.userId = b"\x01" + person.contact.pni
        items = [add_join_update(Frame(), *first), add_join_update(Frame(), *second), Frame()]
        content = items[2].chatItem.standardMessage
        content.text.body = "nothing but words"
        if reacts:
            content.reactions.add(emoji="🦜", authorId=person.id, sentTimestamp=5, sortOrder=1)
        for moment, frame in enumerate(items):
            item = frame.chatItem
            item.chatId, item.authorId, item.dateSent = chat.id, own, 1_765_000_000_000 + moment
            (item.directionless if moment < 2 else item.outgoing).SetInParent()
        sources.append(write(tmp_path / f"{day}", header, [*frames, *items]))
    path, never = tmp_path / "a.db", tmp_path / "never.db"
    import_backups(path, *sources)
    versions = "SELECT count(*) FROM message_version v JOIN message m ON m.id = v.message_id WHERE m.sent_ms = ?"
    assert query(path, versions, 1_765_000_000_001) == [(2,)]
    ((number,),) = query(path, "SELECT id FROM contact WHERE aci = ?", str(uuid.UUID(bytes=both[0])))
    assert isinstance(number, int)
    remove_content(path, person=number)
    import_backups(never, *(write_without_person(src, src.with_suffix(".without"), both[0]) for src in sources))
    assert rows_without_snapshots(path) == rows_without_snapshots(never)
    statement = "SELECT sent_ms FROM message WHERE sent_ms >= 1765000000000 ORDER BY 1"
    assert query(path, statement) == [(1_765_000_000_001,), (1_765_000_000_002,)]
    with archives.open(path) as opened:
        assert len(opened.search("nothing but words").hits) == 1


def test_a_message_loses_what_the_person_added_and_keeps_the_rest() -> None:
    """Reactions, receipts, mentions and a quote of the person are removed, and others keep their order."""
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
    assert [(entry.authorId, entry.emoji) for entry in message.reactions] == [(5, "🎉"), (9, "👍")]
    assert [entry.recipientId for entry in item.outgoing.sendStatus] == [5, 9]
    assert [entry.mentionAci for entry in message.text.bodyRanges] == [b"b" * 16]
    assert (message.text.body, message.HasField("quote")) == ("7", False)
    assert (item.chatId, item.dateSent) == (7, 7)


def test_what_is_about_the_person_is_dropped_as_a_whole() -> None:
    """Messages and calls of the person are dropped, and updates that name nobody else."""
    cleaner = Cleaner({7}, {b"a" * 16})
    assert cleaner.clean(ChatItem(authorId=7)) is False
    call = ChatItem(authorId=5)
    call.updateMessage.groupCall.ringerRecipientId = 7
    assert cleaner.clean(call) is False
    alone, together = add_join_update(Frame(), b"a" * 16), add_join_update(Frame(), b"b" * 16, b"a" * 16)
    assert cleaner.clean(alone.chatItem) is False
    assert cleaner.clean(together.chatItem) is True
    assert together == add_join_update(Frame(), b"b" * 16)


def test_an_aci_and_a_pni_are_written_differently_in_records() -> None:
    """A PNI is searched for with and without its prefix byte, and a value that is no UUID is ignored."""
    aci, pni = uuid.UUID(int=1), uuid.UUID(int=2)
    assert service_ids([("aci", str(aci)), ("pni", str(pni)), ("pni", "none")]) == {
        aci.bytes,
        pni.bytes,
        b"\x01" + pni.bytes,
    }


def test_a_frame_without_the_person_is_not_touched() -> None:
    """Cleaning leaves every frame as it is that does not name the person."""
    _header, frames = copies(120)
    for frame in frames:
        copy = Frame.FromString(frame.SerializeToString())
        assert Cleaner(frozenset({10**9}), frozenset({b"?" * 16})).clean(copy)
        assert copy == frame


def test_a_person_goes_from_lists_of_ids() -> None:
    """The other members of a distribution list stay, and a list without members stays too."""
    cleaner = Cleaner(frozenset({7}), frozenset())
    for ids, left in (([5, 7, 9], [5, 9]), ([7], []), ([5], [5])):
        record = DistributionList(memberRecipientIds=ids)
        assert cleaner.clean(record)
        assert list(record.memberRecipientIds) == left
