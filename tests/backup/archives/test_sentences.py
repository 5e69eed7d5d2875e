"""Every update has a readable sentence."""

import re
from collections.abc import Iterator
from itertools import product

import pytest
from google.protobuf.message import Message

from holdfast.backup.archives.sentences import SENTENCES, format_duration, sentence
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.archives.updates import events_of
from holdfast.backup.schema import backup_pb2 as pb

OWNER, FRIEND, NOBODY = b"\x01" * 16, b"\x02" * 16, b"\x03" * 16
NAMES = {
    1: "",
    2: "Ada",
    "01010101-0101-0101-0101-010101010101": "",
    "02020202-0202-0202-0202-020202020202": "Ada",
}


def name(identifier: object) -> str | None:
    """Return the name of the owner or of one friend; others have none."""
    return NAMES.get(identifier)


def fill_fields(message: Message, aci: bytes | None, *, flag: bool, number: int) -> None:
    """Fill every field of an update."""
    for field in message.DESCRIPTOR.fields:
        if field.is_repeated:
            continue
        if field.type == field.TYPE_BYTES and aci is not None:
            setattr(message, field.name, aci)
        elif field.type == field.TYPE_BOOL:
            setattr(message, field.name, flag)
        elif field.type in {field.TYPE_UINT32, field.TYPE_UINT64}:
            setattr(message, field.name, number)
        elif field.type == field.TYPE_STRING:
            setattr(message, field.name, "words")


def updates() -> Iterator[pb.ChatUpdateMessage]:
    """Yield every update with every enum value, by the owner, a friend, an unknown person, and nobody."""
    choices = tuple(product((OWNER, FRIEND, NOBODY, None), (False, True), (0, 1, 2, 86_400_000)))
    for field in pb.ChatUpdateMessage.DESCRIPTOR.oneofs_by_name["update"].fields:
        if field.name == "groupChange":
            for change in pb.GroupChangeChatUpdate.Update.DESCRIPTOR.oneofs_by_name["update"].fields:
                for aci, flag, number in choices:
                    update = pb.ChatUpdateMessage()
                    inner = getattr(update.groupChange.updates.add(), change.name)
                    inner.SetInParent()
                    fill_fields(inner, aci, flag=flag, number=number)
                    yield from with_every_value(
                        update, lambda message, name=change.name: getattr(message.groupChange.updates[0], name)
                    )
        else:
            for aci, flag, number in choices:
                update = pb.ChatUpdateMessage()
                getattr(update, field.name).SetInParent()
                fill_fields(getattr(update, field.name), aci, flag=flag, number=number)
                yield from with_every_value(update, lambda message, name=field.name: getattr(message, name))


def with_every_value(update: pb.ChatUpdateMessage, inner: object) -> Iterator[pb.ChatUpdateMessage]:
    """Vary the enums of an update."""
    assert callable(inner)
    enums = [field for field in inner(update).DESCRIPTOR.fields if field.enum_type is not None]
    for values in product(*([value.number for value in field.enum_type.values] for field in enums)):
        copy = pb.ChatUpdateMessage()
        copy.CopyFrom(update)
        for field, value in zip(enums, values, strict=True):
            setattr(inner(copy), field.name, value)
        yield copy


def test_every_update_of_the_format_has_a_sentence() -> None:
    """A new kind or enum value of the format fails here until it has a sentence."""
    people = {0: 0, 1: 1, 2: 2}
    count = 0
    for update in updates():
        for author in (1, 2):
            for kind, details in events_of(update, people, Notes()):
                text = sentence(kind, details, author, name)
                assert re.fullmatch(r"[^{}\n]+[.”]", text), (kind, text)
                assert "None" not in text, (kind, details, text)
                assert not re.match(r"You (is|was|has|asks) ", text), text
                if not kind.startswith("genericGroup"):
                    assert text not in {SENTENCES["genericGroupUpdate"], SENTENCES["genericGroupUpdate.you"]}, kind
                count += 1
    assert count > 1000


def test_every_simple_update_has_its_own() -> None:
    """Every type of a simple update has a sentence under its own name."""
    for value in pb.SimpleChatUpdate.Type.DESCRIPTOR.values:
        assert not value.number or f"simpleUpdate.{value.name}" in SENTENCES, value.name


@pytest.mark.parametrize(
    ("kind", "details", "author", "expected"),
    [
        ("groupMemberLeftUpdate", {"aci": 1}, 2, "You left the group."),
        ("groupAdminStatusUpdate", {"memberAci": 1, "wasAdminStatusGranted": True}, 2, "You are now an admin."),
        ("groupMemberRemovedUpdate", {"removerAci": 2, "removedAci": 1}, 2, "Ada removed you from the group."),
        ("groupMemberRemovedUpdate", {"removedAci": "x"}, 2, "Somebody was removed from the group."),
        ("expirationTimerChange", {"expiresInMs": 0}, 2, "Ada turned off disappearing messages."),
        ("groupCall", {"state": "GENERIC", "startedCallRecipientId": 2}, 2, "Ada started a group call."),
        ("simpleUpdate.CHANGE_NUMBER", {}, 2, "Ada has a new phone number."),
        (
            "groupJoinRequestApprovalUpdate",
            {"requestorAci": 1, "wasApproved": True},
            2,
            "You were accepted into the group.",
        ),
        ("groupJoinRequestCanceledUpdate", {"requestorAci": 1}, 2, "You canceled a request to join the group."),
        ("groupInviteLinkResetUpdate", {"updaterAci": 2}, 2, "Ada reset the group link."),
        ("individualCall", {"direction": "OUTGOING", "state": "ACCEPTED"}, 1, "Outgoing voice call."),
    ],
)
def test_sentences_read_well(kind: str, details: dict[str, object], author: int, expected: str) -> None:
    """The owner of the archive is addressed as "you", with the matching verb."""
    assert sentence(kind, details, author, name) == expected


def test_times_are_said_in_the_largest_unit_that_fits() -> None:
    """A duration is given in the largest unit that divides it, so a week is not seven days."""
    assert [format_duration(ms) for ms in (604_800_000, 90_000, 3_600_000, 1)] == [
        "1 week",
        "90 seconds",
        "1 hour",
        "1 second",
    ]
