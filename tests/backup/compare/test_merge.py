"""Merging keeps everything of all backups, in one order, valid, whichever comes first."""

import io
import random
from array import array
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast import backup
from holdfast.backup.compare.index import NOBODY
from holdfast.backup.compare.merge import TIMER, merge, weave
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.errors import DamagedBackup, DifferentAccounts, UnreadableBackup
from holdfast.backup.schema import Frame
from holdfast.backup.schema.backup_pb2 import ChatItem
from holdfast.backup.wire.renumber import Numbered
from tests.backup.compare.snapshots import DAY, Snapshot, difference, merged, merging, opened, snapshot
from tests.backup.compare.valid import check
from tests.backup.streams import KEYS, container_of, folder_of, sample

FEW = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def variant(seed: int, *, later: int = 0, records: bool = True) -> Snapshot:
    """Make a snapshot of the one account: renumbered, with gaps, edits, reactions and other names."""
    dice = random.Random(seed)
    made = snapshot(200).later(later * DAY)
    made.without(lambda _item: dice.random() < 0.3)
    for item in dice.sample(made.texts(), 10):
        if item.standardMessage.attachments or item.standardMessage.HasField("longText"):
            continue
        what = dice.randrange(3)
        if what == 0:
            revision = ChatItem.FromString(item.SerializeToString())
            revision.ClearField("pinDetails")
            item.revisions.append(revision)
            item.standardMessage.text.body = f"edited {seed}"
            del item.standardMessage.text.bodyRanges[:]
        elif what == 1:
            item.remoteDeletedMessage.SetInParent()
        else:
            del item.standardMessage.reactions[:]
            item.standardMessage.reactions.add(emoji="🦀", authorId=item.authorId, sentTimestamp=item.dateSent)
    if records:
        for contact in dice.sample(made.contacts(), 3):
            contact.contact.note = f"note {seed}"
        dice.choice(made.groups()).group.snapshot.title.title = f"Group {seed}"
        made.frames[0].account.bioText = f"bio {seed}"
    return made.renumbered(seed)


@FEW
@given(seed=st.integers(0, 1000))
def test_merging_is_the_same_in_any_order_and_valid(seed: int) -> None:
    """Of two backups made at different times or at the same."""
    one, other = variant(seed), variant(seed + 1, later=seed % 3)
    raws = one.raw(), other.raw()
    made = merged(*raws)
    assert made == merged(*reversed(raws))
    check(made)
    for raw in raws:
        found = difference(raw, made)
        assert sum(chat.removed for chat in found.chats) == 0
        assert not [record for record in found.records if record.what == "removed"]
    later = difference(raws[1], made) if seed % 3 else None
    if later is not None:
        assert later.settings == ()
        assert not [record for record in later.records if record.what == "changed"]


@FEW
@given(seed=st.integers(0, 1000))
def test_a_backup_merged_with_itself_is_itself(seed: int) -> None:
    """Also under other numbers; and once more changes nothing."""
    one = variant(seed)
    assert difference(merged(one.raw(), one.renumbered(seed + 7).raw()), one.raw()).same
    other = variant(seed + 1, later=1)
    made = merged(one.raw(), other.raw())
    assert difference(merged(made, other.raw()), made).same
    assert difference(merged(made, one.raw()), made).same


@FEW
@given(seed=st.integers(0, 1000))
def test_it_does_not_matter_how_three_are_put_together(seed: int) -> None:
    """Where all three have a record the latest counts; messages are those of all."""
    raws = [variant(seed + at, later=at).raw() for at in range(3)]
    together = merged(*raws)
    check(together)
    steps = merged(merged(raws[0], raws[1]), raws[2])
    assert difference(together, steps).same
    other = difference(together, merged(raws[0], merged(raws[1], raws[2])))
    assert not other.records
    assert not other.settings
    assert sum(chat.added + chat.removed for chat in other.chats) == 0


@FEW
@given(seed=st.integers(0, 1000))
def test_both_orders_are_kept(seed: int) -> None:
    """What stood before something in either backup still does."""
    one, other = variant(seed, records=False), variant(seed + 1, later=1, records=False)
    places = {
        (item.dateSent, str(item.WhichOneof("item"))): at
        for at, item in enumerate(
            Frame.FromString(frame.raw).chatItem for frame in opened(merged(one.raw(), other.raw()))
        )
    }
    for side in (one, other):
        found = [
            places[item.dateSent, kind]
            for item in side.items
            if (kind := str(item.WhichOneof("item"))) and (item.dateSent, kind) in places
        ]
        assert found == sorted(found)


def item(time: int) -> Numbered:
    """Make a message that was received at a time."""
    return (0, 1, 1, time, time, time, b"")


def test_what_only_the_older_side_has_goes_between_its_neighbours() -> None:
    """By time where the newer side has something of its own there."""
    olds, news = [item(1), item(2), item(9), item(4)], [item(1), item(3), item(4)]
    before, after = array("i", [0, NOBODY, NOBODY, 2]), array("i", [0, NOBODY, 3])
    woven = [(late, n) for late, n, _item in weave(iter(olds), iter(news), before, after)]
    assert woven == [(True, 0), (False, 1), (True, 1), (False, 2), (True, 2)]


def test_two_accounts_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    """Unless somebody knows better."""
    one, other = snapshot(60), snapshot(60, seed=2)
    target = tmp_path / "out.binproto"
    with pytest.raises(DifferentAccounts, match="two accounts"):
        merge([opened(one.raw()), opened(other.raw())], target, to=OutputFormat.STREAM)
    assert not target.exists()
    merge([opened(one.raw()), opened(other.raw())], target, to=OutputFormat.STREAM, assume_same_account=True)
    check(target.read_bytes())


def test_a_third_backup_may_connect_two() -> None:
    """A profile key that was changed, and a backup from in between."""
    first, middle, last = snapshot(60), snapshot(60), snapshot(60)
    account = last.frames[0].account
    account.profileKey = b"n" * 32
    account.ClearField("username")
    account.ClearField("usernameLink")
    account.ClearField("donationSubscriberData")
    account.ClearField("backupsSubscriberData")
    last.header.mediaRootBackupKey = b"m" * 32
    middle.header.mediaRootBackupKey = last.header.mediaRootBackupKey
    with pytest.raises(DifferentAccounts):
        merged(first.raw(), last.raw())
    assert merged(first.raw(), last.raw(), middle.raw())


def test_a_dangling_reference_is_an_error() -> None:
    """It must not come to mean somebody else."""
    one, other = snapshot(60), snapshot(60)
    other.items[5].authorId = 9999
    with pytest.raises(UnreadableBackup, match="refers to recipient 9999"):
        merged(one.raw(), other.raw())


def test_a_cut_file_leaves_nothing_behind(tmp_path: Path) -> None:
    """Neither of the result nor of the steps to it."""
    raw = snapshot(60).raw()
    with pytest.raises(DamagedBackup):
        merge([opened(raw), opened(raw[:-2])], tmp_path / "out.binproto", to=OutputFormat.STREAM)
    assert list(tmp_path.iterdir()) == []


def test_a_message_whose_time_ran_out_is_told() -> None:
    """It stays, because the older backup has it."""
    old, new = snapshot(), snapshot().later(3650 * DAY)
    gone = len(old.items) - len(new.items)
    assert gone
    raw, done, conflicts = merging([old.raw(), new.raw()])
    check(raw)
    assert done.messages == len(old.items)
    assert sum(conflict.why == TIMER for conflict in conflicts) == gone


def test_conflicts_are_counted_and_told() -> None:
    """Each with what stayed and what did not."""
    old, new = snapshot(), snapshot().later(1)
    text = new.texts()[0].standardMessage.text
    said, text.body = text.body, "changed"
    del text.bodyRanges[:]
    _raw, done, conflicts = merging([old.raw(), new.raw()])
    (conflict,) = conflicts
    assert (conflict.what, conflict.kept, conflict.dropped) == ("message", "changed", said)
    assert (done.conflicts, done.differing, done.only_older, done.only_newer) == (1, {"edited": 1}, 0, 0)


def test_a_folder_gets_the_attachments_of_both(tmp_path: Path) -> None:
    """From whichever of them has the file."""
    records = sample(60)
    half = records[:1] + tuple(raw for raw in records[1:] if not Frame.FromString(raw).HasField("chatItem"))
    snapshots = [folder_of(records, tmp_path / "a"), folder_of(half, tmp_path / "b")]
    with backup.open(snapshots[0], KEYS) as one, backup.open(snapshots[1], KEYS) as other:
        done = merge([one, other], tmp_path / "c", to=OutputFormat.FOLDER, keys=KEYS)
    assert done.written.problems == ()
    assert done.written.attachments > 0
    found = backup.info(tmp_path / "c", KEYS, verify_media=True)
    assert found.media is not None
    assert (found.media.missing, found.media.damaged) == (0, 0)


def test_forms_and_keys_are_those_of_convert() -> None:
    """Encrypted on one side, plain on the other, JSON out."""
    out = io.BytesIO()
    sources = [backup.open(io.BytesIO(container_of(sample(60))), KEYS), opened(snapshot(60).raw())]
    merge(sources, out, to=OutputFormat.JSONL)
    assert difference(out.getvalue(), snapshot(60).raw()).same
