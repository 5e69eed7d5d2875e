"""Records of a sample: ordered, complete and reproducible."""

from collections import Counter
from hashlib import sha256
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.schema import RECORDS
from holdfast.backup.schema.backup_pb2 import BackupInfo, Frame
from holdfast_demo.sample import Edition, sample_records
from tests.examples import examples
from tests.holdfast_demo.sample.sample_parts import frames, values

EDITIONS: tuple[Edition, ...] = ("spec", "current")
TO_RECIPIENTS = {
    "recipientId",
    "authorId",
    "voterId",
    "adminId",
    "ringerRecipientId",
    "startedCallRecipientId",
    "memberRecipientIds",
    "allowedMembers",
    "includedRecipientIds",
    "excludedRecipientIds",
}


def digest(messages: int, seed: int, edition: Edition) -> str:
    """Hash all records of a sample."""
    return sha256(b"".join(sample_records(messages, seed, edition=edition))).hexdigest()


@pytest.mark.parametrize(
    ("edition", "expected"),
    [
        ("spec", "8a536b7eb45b608f7cc34fbf5c4bee3f18da3166dee832aac2b88b53cd0235ad"),
        ("current", "ac06a84e085628bc05f08592481bdc52247ddd207655cf84cb4056b8f94450aa"),
    ],
)
def test_a_sample_is_the_same_on_every_machine(edition: Edition, expected: str) -> None:
    """The digests were written down; they change only when the sample is changed on purpose."""
    assert digest(1000, 1, edition) == expected


@given(st.integers(1, 60), st.integers(0, 2**32))
@settings(max_examples=examples(15))
def test_the_same_arguments_give_the_same_bytes(messages: int, seed: int) -> None:
    """Two samples with the same arguments have the same bytes."""
    assert digest(messages, seed, "current") == digest(messages, seed, "current")


def test_another_seed_gives_another_sample() -> None:
    """Samples of different seeds and editions are different."""
    assert len({digest(50, seed, edition) for seed in range(4) for edition in EDITIONS}) == 8


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("messages", [1, 2, 3, 4, 5, 7, 10, 50, 100, 287, 288, 399, 400, 1234])
def test_a_sample_has_exactly_the_messages_asked_for(messages: int, edition: Edition) -> None:
    """Messages of all kinds are counted, and nothing follows the last one."""
    kinds = [frame.WhichOneof("item") for frame in frames(messages, 3, edition)]
    assert kinds.count("chatItem") == messages
    assert set(kinds[-messages:]) == {"chatItem"}


@pytest.mark.parametrize("messages", [0, -1])
def test_an_empty_sample_is_refused_at_once(messages: int) -> None:
    """The mistake is reported where it is made, not when the first record is wanted."""
    with pytest.raises(ValueError, match="at least one message"):
        sample_records(messages)


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize(("messages", "seed"), [(1, 1), (40, 2), (3000, 3)])
def test_records_come_after_those_they_refer_to(messages: int, seed: int, edition: Edition) -> None:
    """The account is first, ids are unique, and every id that is referred to has been seen."""
    recipients: set[int] = set()
    chats: set[int] = set()
    records = frames(messages, seed, edition)
    assert [frame.HasField("account") for frame in records] == [True] + [False] * (len(records) - 1)
    for frame in records:
        if frame.HasField("recipient"):
            assert frame.recipient.id not in recipients
            recipients.add(frame.recipient.id)
        if frame.HasField("chat"):
            assert frame.chat.id not in chats
            chats.add(frame.chat.id)
        if frame.HasField("chatItem"):
            assert frame.chatItem.chatId in chats
        for field, value in values(frame):
            if field.name in TO_RECIPIENTS:
                assert value in recipients


@pytest.mark.parametrize("edition", EDITIONS)
def test_records_are_encoded_canonically(edition: Edition) -> None:
    """Parsing a record and writing it again changes nothing, and leaves no field unknown."""
    records = list(sample_records(5000, 4, edition=edition))
    assert BackupInfo.FromString(records[0]).SerializeToString() == records[0]
    for record in records[1:]:
        assert Frame.FromString(record).SerializeToString(deterministic=True) == record


def test_every_record_kind_is_there_from_the_start() -> None:
    """Even a sample of one message has every kind of record."""
    kinds = Counter(frame.WhichOneof("item") for frame in frames(1))
    assert set(kinds) == set(RECORDS) - {"empty"}


def test_the_cast_grows_slowly() -> None:
    """A small sample has about a dozen people, a large one about the square root of its messages."""

    def people(messages: int) -> int:
        # Contacts come long before the history begins, so the rest need not be made.
        start = islice(sample_records(messages), 1, 3000)
        return sum(Frame.FromString(record).recipient.HasField("contact") for record in start)

    assert people(10) == 14
    assert people(10_000) == 100
    assert people(1_000_000) == 1000
