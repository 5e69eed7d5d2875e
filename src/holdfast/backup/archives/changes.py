"""Computes what changed between two versions of a message: edits, reactions, receipts, votes."""

from collections.abc import Iterator, Mapping

from holdfast.backup.archives.item_rows import KINDS, STATUSES
from holdfast.backup.archives.rows import text_of
from holdfast.backup.schema.backup_pb2 import ChatItem, SendStatus

__all__ = ["Change", "differences"]

# kind, person (an id of the archive), before, after
Change = tuple[str, int | None, str | None, str | None]


def differences(
    before: ChatItem, earlier: Mapping[int, int], after: ChatItem, later: Mapping[int, int]
) -> list[Change]:
    """List the changes; `earlier` and `later` map ids of the two backups to ids of the archive."""
    changes: list[Change] = []
    kinds = kind_of(before), kind_of(after)
    texts = text_of(before), text_of(after)
    if kinds[0] != kinds[1]:
        deleted = kinds[1] in {"deleted", "deleted_by_admin"}
        changes.append(("deleted" if deleted else "kind", None, texts[0] if deleted else kinds[0], kinds[1]))
    elif texts[0] != texts[1]:
        changes.append(("edited", None, *texts))
    changes += compare_by_person("reaction", reactions(before, earlier), reactions(after, later))
    changes += compare_by_person("receipt", receipts(before, earlier), receipts(after, later))
    changes += compare_by_person("vote", votes(before, earlier), votes(after, later))
    if before.incoming.read != after.incoming.read:
        changes.append(("read", None, str(before.incoming.read).lower(), str(after.incoming.read).lower()))
    return changes or [("details", None, None, None)]


def kind_of(item: ChatItem) -> str:
    """Return the archive's name for the kind of a message."""
    name = item.WhichOneof("item")
    return KINDS[ChatItem.DESCRIPTOR.fields_by_name[name].number] if name else ""


def compare_by_person(kind: str, before: Mapping[int, str], after: Mapping[int, str]) -> Iterator[Change]:
    """Yield the persons whose values differ."""
    for person in sorted({*before, *after}):
        if before.get(person) != after.get(person):
            yield kind, person or None, before.get(person), after.get(person)


def reactions(item: ChatItem, people: Mapping[int, int]) -> dict[int, str]:
    """Return the reaction of each person; the last one if there are several."""
    content = getattr(item, item.WhichOneof("item") or "", None)
    ordered = sorted(
        getattr(content, "reactions", ()),
        key=lambda reaction: (reaction.sortOrder, reaction.sentTimestamp, reaction.emoji),
    )
    return {people.get(reaction.authorId, 0): reaction.emoji for reaction in ordered}


def receipts(item: ChatItem, people: Mapping[int, int]) -> dict[int, str]:
    """Return the delivery status of each recipient; the furthest one if there are several."""
    fields = SendStatus.DESCRIPTOR.fields_by_name
    furthest: dict[int, int] = {}
    for send_status in item.outgoing.sendStatus:
        person, name = people.get(send_status.recipientId, 0), send_status.WhichOneof("deliveryStatus")
        furthest[person] = max(furthest.get(person, 0), fields[name].number if name else 0)
    return {person: STATUSES[number] for person, number in furthest.items()}


def votes(item: ChatItem, people: Mapping[int, int]) -> dict[int, str]:
    """Return the options that each person voted for."""
    choices: dict[int, list[str]] = {}
    for option in item.poll.options:
        for vote in option.votes:
            choices.setdefault(people.get(vote.voterId, 0), []).append(option.option)
    return {person: ", ".join(sorted(chosen)) for person, chosen in choices.items()}
