"""A running export: the messages it reads, its progress, and the recipients in it."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from holdfast.backup.archives import Archive
from holdfast.backup.exports import schemas
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.folder import ExportFolder
from holdfast.backup.exports.job import Job, recipients_in
from holdfast.backup.exports.periods import periods


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[ExportFolder]:
    """Begin an export."""
    with ExportFolder(tmp_path / "out", "json") as export_folder:
        yield export_folder


def read(job: Job) -> list[schemas.ExportedMessage]:
    """Read all messages of a job."""
    return [
        message
        for chat in job.chats
        for period in periods(job.archive, chat.id, job.choice, 1000)
        for message in job.messages(chat.id, period)
    ]


def test_all_of_an_archive_is_read_and_counted(opened: Archive, folder: ExportFolder) -> None:
    """Progress is reported every 256 messages, and an export of everything is not limited to some people."""
    progress: list[tuple[int, int]] = []
    job = Job(opened, folder, ChatSelection(), media=False, progress=lambda *now: progress.append(now))
    job.total = 400
    assert job.is_whole
    assert len({message.id for message in read(job)}) == job.completed == 400
    assert progress == [(256, 400)]
    assert job.people() is None
    assert job.occurring_ids == set()


def test_of_a_chosen_chat_those_who_occur_in_it_are_part_of_the_export(
    opened: Archive, folder: ExportFolder
) -> None:
    """The people of a selected chat are the chat itself, the members of the group and the authors."""
    group = max((chat for chat in opened.chats() if chat.kind == "group"), key=lambda chat: chat.messages)
    job = Job(opened, folder, ChatSelection(chats=(group.id,)), media=False)
    assert not job.is_whole
    assert [chat.id for chat in job.chats] == [group.id]
    messages = read(job)
    assert {message.chat_id for message in messages} == {group.id}
    assert len(messages) == job.completed == group.messages
    members = opened.connection.execute(
        "SELECT recipient_id FROM group_member WHERE group_id = ? AND recipient_id IS NOT NULL", (group.id,)
    ).fetchall()
    authors = {message.author_id for message in messages}
    people = job.people()
    assert people is not None
    assert people >= {group.id, *authors, *(member for (member,) in members)}
    assert len(people) < len(opened.people())


def test_everybody_who_is_named_in_a_message_is_involved() -> None:
    """The recipients of a message include those in its quote, reactions, deletion and revisions."""
    named = {
        "author_id": 1,
        "quote": {"author_id": 2, "author": "", "type": "NORMAL"},
        "reactions": [{"author_id": 3, "author": "", "emoji": "x", "sent_ms": 0, "order": 0}],
        "deleted_by_id": 4,
        "revisions": [{"n": 1, "sent_ms": 0, "ranges": [{"start": 0, "length": 1, "mention_id": 5}]}],
    }
    plain = {"account_id": 9, "chat_id": 9, "chat": "", "author": "", "direction": "none", "kind": "", "id": 9}
    times = dict.fromkeys(("sent_ms", "first_sent_ms", "order_ms", "order_n", "first_seen_ms"), 0)
    message = msgspec.convert({"record": "message", **plain, **times, **named}, schemas.ExportedMessage)
    assert set(recipients_in(message)) == {1, 2, 3, 4, 5}
