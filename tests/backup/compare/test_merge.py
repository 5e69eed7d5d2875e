"""A merge keeps all records of all backups and is valid, and does not depend on the order of its sources."""

import io
import random
from array import array
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast import backup
from holdfast.backup.compare.index import UNMATCHED
from holdfast.backup.compare.merge import TIMER_STOPPED, interleave, merge
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
    """Return a snapshot of the account: renumbered, with gaps, edits, reactions and other names."""
    rng = random.Random(seed)
    result = snapshot(200).later(later * DAY)
    result.without(lambda _item: rng.random() < 0.3)
    for item in rng.sample(result.texts(), 10):
        if item.standardMessage.attachments or item.standardMessage.HasField("longText"):
            continue
        choice = rng.randrange(3)
        if choice == 0:
            revision = ChatItem.FromString(item.SerializeToString())
            revision.ClearField("pinDetails")
            item.revisions.append(revision)
            item.standardMessage.text.body = f"edited {seed}"
            del item.standardMessage.text.bodyRanges[:]
        elif choice == 1:
            item.remoteDeletedMessage.SetInParent()
        else:
            del item.standardMessage.reactions[:]
            item.standardMessage.reactions.add(emoji="🦀", authorId=item.authorId, sentTimestamp=item.dateSent)
    if records:
        for contact in rng.sample(result.contacts(), 3):
            contact.contact.note = f"note {seed}"
        rng.choice(result.groups()).group.snapshot.title.title = f"Group {seed}"
        result.frames[0].account.bioText = f"bio {seed}"
    return result.renumbered(seed)


@FEW
@given(seed=st.integers(0, 1000))
def test_merging_is_the_same_in_any_order_and_valid(seed: int) -> None:
    """Merging two backups gives the same valid backup in either order, and removes nothing."""
    first, second = variant(seed), variant(seed + 1, later=seed % 3)
    raws = first.raw(), second.raw()
    merged_raw = merged(*raws)
    assert merged_raw == merged(*reversed(raws))
    check(merged_raw)
    for raw in raws:
        differences = difference(raw, merged_raw)
        assert sum(chat.removed for chat in differences.chats) == 0
        assert not [record for record in differences.records if record.what == "removed"]
    later = difference(raws[1], merged_raw) if seed % 3 else None
    if later is not None:
        assert later.settings == ()
        assert not [record for record in later.records if record.what == "changed"]


@FEW
@given(seed=st.integers(0, 1000))
def test_a_backup_merged_with_itself_is_itself(seed: int) -> None:
    """Merging a backup with a renumbered copy or with its own merge result changes nothing."""
    first = variant(seed)
    assert difference(merged(first.raw(), first.renumbered(seed + 7).raw()), first.raw()).same
    second = variant(seed + 1, later=1)
    merged_raw = merged(first.raw(), second.raw())
    assert difference(merged(merged_raw, second.raw()), merged_raw).same
    assert difference(merged(merged_raw, first.raw()), merged_raw).same


@FEW
@given(seed=st.integers(0, 1000))
def test_it_does_not_matter_how_three_are_put_together(seed: int) -> None:
    """Merging three backups at once or in steps gives the same records and messages."""
    raws = [variant(seed + index, later=index).raw() for index in range(3)]
    together = merged(*raws)
    check(together)
    steps = merged(merged(raws[0], raws[1]), raws[2])
    assert difference(together, steps).same
    differences = difference(together, merged(raws[0], merged(raws[1], raws[2])))
    assert not differences.records
    assert not differences.settings
    assert sum(chat.added + chat.removed for chat in differences.chats) == 0


@FEW
@given(seed=st.integers(0, 1000))
def test_both_orders_are_kept(seed: int) -> None:
    """The messages of each backup keep their order in the merged one."""
    first, second = variant(seed, records=False), variant(seed + 1, later=1, records=False)
    indexes = {
        (item.dateSent, str(item.WhichOneof("item"))): index
        for index, item in enumerate(
            Frame.FromString(frame.raw).chatItem for frame in opened(merged(first.raw(), second.raw()))
        )
    }
    for side in (first, second):
        positions = [
            indexes[item.dateSent, kind]
            for item in side.items
            if (kind := str(item.WhichOneof("item"))) and (item.dateSent, kind) in indexes
        ]
        assert positions == sorted(positions)


def item(time: int) -> Numbered:
    """Return a message received at a time."""
    return (0, 1, 1, time, time, time, b"")


def test_what_only_the_older_side_has_goes_between_its_neighbours() -> None:
    """Messages of the older backup are placed between their neighbours, by time among new ones."""
    olds, newer = [item(1), item(2), item(9), item(4)], [item(1), item(3), item(4)]
    before, after = array("i", [0, UNMATCHED, UNMATCHED, 2]), array("i", [0, UNMATCHED, 3])
    interleaved = [(is_newer, n) for is_newer, n, _item in interleave(iter(olds), iter(newer), before, after)]
    assert interleaved == [(True, 0), (False, 1), (True, 1), (False, 2), (True, 2)]


def test_two_accounts_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    """Backups of two accounts are refused, unless they are declared to be of the same account."""
    first, second = snapshot(60), snapshot(60, seed=2)
    target = tmp_path / "out.binproto"
    with pytest.raises(DifferentAccounts, match="two accounts"):
        merge([opened(first.raw()), opened(second.raw())], target, to=OutputFormat.STREAM)
    assert not target.exists()
    merge([opened(first.raw()), opened(second.raw())], target, to=OutputFormat.STREAM, assume_same_account=True)
    check(target.read_bytes())


def test_a_third_backup_may_connect_two() -> None:
    """A backup with the profile key of one and the media key of the other links two backups."""
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
    """A reference to an unknown recipient raises an error, so that it never leads to somebody else."""
    first, second = snapshot(60), snapshot(60)
    second.items[5].authorId = 9999
    with pytest.raises(UnreadableBackup, match="refers to recipient 9999"):
        merged(first.raw(), second.raw())


def test_a_cut_file_leaves_nothing_behind(tmp_path: Path) -> None:
    """A truncated backup raises an error, and neither a result nor a temporary file is left."""
    raw = snapshot(60).raw()
    with pytest.raises(DamagedBackup):
        merge([opened(raw), opened(raw[:-2])], tmp_path / "out.binproto", to=OutputFormat.STREAM)
    assert list(tmp_path.iterdir()) == []


def test_a_message_whose_time_ran_out_is_told() -> None:
    """An expired message of the older backup is kept without its timer and reported as a conflict."""
    old, new = snapshot(), snapshot().later(3650 * DAY)
    removed = len(old.items) - len(new.items)
    assert removed
    raw, result, conflicts = merging([old.raw(), new.raw()])
    check(raw)
    assert result.messages == len(old.items)
    assert sum(conflict.why == TIMER_STOPPED for conflict in conflicts) == removed


def test_conflicts_are_counted_and_told() -> None:
    """A conflict has the text that was kept and the one that was dropped."""
    old, new = snapshot(), snapshot().later(1)
    text = new.texts()[0].standardMessage.text
    old_text, text.body = text.body, "changed"
    del text.bodyRanges[:]
    _raw, result, conflicts = merging([old.raw(), new.raw()])
    (conflict,) = conflicts
    assert (conflict.what, conflict.kept, conflict.dropped) == ("message", "changed", old_text)
    assert (result.conflicts, result.differing, result.only_older, result.only_newer) == (1, {"edited": 1}, 0, 0)


def test_a_folder_gets_the_attachments_of_both(tmp_path: Path) -> None:
    """The merged folder has all attachments, although one of the two backups has none."""
    records = sample(60)
    subset = records[:1] + tuple(raw for raw in records[1:] if not Frame.FromString(raw).HasField("chatItem"))
    snapshots = [folder_of(records, tmp_path / "a"), folder_of(subset, tmp_path / "b")]
    with backup.open(snapshots[0], KEYS) as first, backup.open(snapshots[1], KEYS) as second:
        result = merge([first, second], tmp_path / "c", to=OutputFormat.FOLDER, keys=KEYS)
    assert result.written.problems == ()
    assert result.written.attachments > 0
    info = backup.info(tmp_path / "c", KEYS, verify_media=True)
    assert info.media is not None
    assert (info.media.missing, info.media.damaged) == (0, 0)


def test_backups_of_different_forms_are_merged_to_another_form() -> None:
    """An encrypted and a plain backup can be merged to JSON Lines."""
    out = io.BytesIO()
    sources = [backup.open(io.BytesIO(container_of(sample(60))), KEYS), opened(snapshot(60).raw())]
    merge(sources, out, to=OutputFormat.JSONL)
    with opened(out.getvalue()) as result:
        assert result.form is backup.Form.LINES
    assert difference(out.getvalue(), snapshot(60).raw()).same
