"""Snapshots of one sample account: renumbered, with fewer messages, edits, reactions or renamed groups."""

import io
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from holdfast import backup
from holdfast.backup.compare.diff import Difference, MessageChange, diff
from holdfast.backup.compare.merge import MergeResult, merge
from holdfast.backup.compare.recipient_pairs import PLAN
from holdfast.backup.compare.union import Conflict
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.schema.backup_pb2 import Chat, ChatItem, Recipient
from holdfast.backup.wire.renumber import renumber
from tests.backup.streams import sample, stream_of

DAY = 86_400_000


@dataclass
class Snapshot:
    """The frames of a backup as message objects, to be changed and written."""

    header: BackupInfo
    frames: list[Frame] = field(default_factory=list)

    @property
    def items(self) -> list[ChatItem]:
        """Its messages."""
        return [frame.chatItem for frame in self.frames if frame.HasField("chatItem")]

    @property
    def recipients(self) -> list[Recipient]:
        """Its recipients."""
        return [frame.recipient for frame in self.frames if frame.HasField("recipient")]

    @property
    def chats(self) -> list[Chat]:
        """Its chats."""
        return [frame.chat for frame in self.frames if frame.HasField("chat")]

    def texts(self) -> list[ChatItem]:
        """List its text messages that were not edited."""
        return [item for item in self.items if item.standardMessage.text.body and not item.revisions]

    def contacts(self) -> list[Recipient]:
        """List its contacts."""
        return [recipient for recipient in self.recipients if recipient.HasField("contact")]

    def groups(self) -> list[Recipient]:
        """List its groups."""
        return [recipient for recipient in self.recipients if recipient.HasField("group")]

    def without(self, unwanted: Callable[[ChatItem], bool]) -> "Snapshot":
        """Remove messages."""
        self.frames = [
            frame for frame in self.frames if not (frame.HasField("chatItem") and unwanted(frame.chatItem))
        ]
        return self

    def later(self, ms: int = DAY) -> "Snapshot":
        """Move the time of the backup; messages that expire before it are removed."""
        self.header.backupTimeMs += ms
        least = self.header.backupTimeMs + DAY
        return self.without(
            lambda item: item.HasField("expireStartDate") and item.expireStartDate + item.expiresInMs < least
        )

    def raw(self) -> bytes:
        """Serialize it as a stream."""
        frames = (frame.SerializeToString(deterministic=True) for frame in self.frames)
        return stream_of([self.header.SerializeToString(deterministic=True), *frames])

    def renumbered(self, seed: int) -> "Snapshot":
        """Replace the ids of recipients and chats, and shuffle lists without an order."""
        rng = random.Random(seed)
        people = shuffled([recipient.id for recipient in self.recipients], rng)
        chats = shuffled([chat.id for chat in self.chats], rng)
        colors = {number: number for number in range(1, 1000)}
        frames = [
            Frame.FromString(renumber(frame.SerializeToString(), PLAN, people, chats, colors))
            for frame in self.frames
        ]
        for frame in frames:
            if frame.HasField("recipient"):
                frame.recipient.id = people[frame.recipient.id]
            for entries in (frame.chatItem.outgoing.sendStatus, frame.chatItem.standardMessage.reactions):
                if len(entries) > 1:
                    reordered = sorted(entries, key=lambda _entry: rng.random())
                    copies = [type(entry).FromString(entry.SerializeToString()) for entry in reordered]
                    del entries[:]
                    entries.extend(copies)  # type: ignore[arg-type]  # both lists are copies of themselves
        account, rest = frames[:1], frames[1:]
        rank = {"recipient": 0, "chat": 2}
        rest.sort(
            key=lambda frame: (
                rank.get(frame.WhichOneof("item") or "", 3) + frame.recipient.HasField("distributionList"),
                rng.random() if frame.WhichOneof("item") in rank else 0,
            )
        )
        return Snapshot(self.header, account + rest)


def shuffled(ids: Sequence[int], rng: random.Random) -> dict[int, int]:
    """Map ids to new ones in random order."""
    new = [number + 5000 for number in range(len(ids))]
    rng.shuffle(new)
    return dict(zip(ids, new, strict=True))


@cache
def parsed(messages: int, seed: int) -> tuple[bytes, ...]:
    """Return the records of a sample."""
    return sample(messages, seed)


def snapshot(messages: int = 150, seed: int = 1) -> Snapshot:
    """Return a snapshot of a sample account."""
    header, *frames = parsed(messages, seed)
    return Snapshot(BackupInfo.FromString(header), [Frame.FromString(raw) for raw in frames])


def opened(raw: bytes) -> backup.Backup:
    """Open a serialized stream."""
    return backup.open(io.BytesIO(raw))


def difference(before: bytes, after: bytes) -> Difference:
    """Compare two streams."""
    with opened(before) as earlier, opened(after) as later:
        return diff(earlier, later)


def changes(before: bytes, after: bytes) -> list[MessageChange]:
    """List every change to a message."""
    message_changes: list[MessageChange] = []
    with opened(before) as earlier, opened(after) as later:
        diff(earlier, later, on_change=message_changes.append)
    return message_changes


def merged(*raws: bytes) -> bytes:
    """Merge streams."""
    return merging(raws)[0]


def merging(raws: Iterable[bytes]) -> tuple[bytes, MergeResult, list[Conflict]]:
    """Merge streams; return the output, the result and the conflicts."""
    out = io.BytesIO()
    conflicts: list[Conflict] = []
    result = merge([opened(raw) for raw in raws], out, to=OutputFormat.STREAM, on_conflict=conflicts.append)
    return out.getvalue(), result, conflicts
