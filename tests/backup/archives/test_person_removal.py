"""Removing a person: nothing of them is left in what others wrote."""

import random
from pathlib import Path

from holdfast.backup import archives
from holdfast.backup.archives.person_removal import Cleaner
from holdfast.backup.schema import Frame
from holdfast.backup.schema.backup_pb2 import DistributionList
from tests.backup.archives.dump import dump
from tests.backup.archives.histories import copies, imported, later
from tests.backup.archives.removals import everything, query, removed, with_secrets


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
