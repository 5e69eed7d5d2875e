"""Generates the chat items: required sequences at scheduled positions, and random items between them."""

from collections.abc import Iterator, Sequence

from holdfast.backup.schema.backup_pb2 import Frame
from holdfast_demo.sample.chats import ChatKind, SampleChat
from holdfast_demo.sample.delivery import fill_delivery, fill_expiration
from holdfast_demo.sample.item_context import By, ItemContext, ItemSequence, ItemTemplate, SampleContext
from holdfast_demo.sample.item_sequences import COMMON_ITEMS, SMS_ITEMS, item_sequences
from holdfast_demo.sample.message_times import MessageTimes
from holdfast_demo.sample.people import SamplePerson
from holdfast_demo.sample.seeded_random import SeededRandom

__all__ = ["chat_items"]

ACTIVE_KINDS: tuple[ChatKind, ...] = ("friend", "group", "self", "number")
# The numbers of messages sent in a chat before another chat continues.
BURST_SIZES = (1, 2, 2, 3, 4, 5, 6, 8, 10, 14, 20)
# One burst in this many is a random sequence.
SEQUENCE_CHANCE = 30


def chat_items(
    sample: SampleContext, chats: Sequence[SampleChat], messages: int, rng: SeededRandom
) -> Iterator[bytes]:
    """Yield exactly `messages` chat items as serialized frames, in the order in which they were received."""
    times = MessageTimes(rng, messages, sample.backup_time)
    active_chats = [chat for chat in chats if chat.kind in ACTIVE_KINDS]
    by_kind: dict[ChatKind, list[SampleChat]] = {}
    for chat in chats:
        by_kind.setdefault(chat.kind, []).append(chat)
    sequences = item_sequences(sample.edition)
    repeatable = [sequence for sequence in sequences if sequence.chat_index is None]
    context = ItemContext(sample, rng, chats[0], sample.me)
    done = 0
    for sequence, due in schedule(sequences, messages, rng):
        while done < due:
            times.advance(done)
            if rng.one_in(SEQUENCE_CHANCE):
                chosen = rng.pick(repeatable)
                context.switch_to(rng.pick_biased(by_kind[chosen.chat_kind]))
                items: Sequence[ItemTemplate] = chosen.items
            else:
                context.switch_to(rng.pick_biased(active_chats))
                choice = SMS_ITEMS if context.chat.kind == "number" else COMMON_ITEMS
                items = [rng.pick(choice) for _ in range(rng.pick(BURST_SIZES))]
            items = items[: due - done]
            yield from item_frames(items, context, times)
            done += len(items)
        if sequence is not None:
            times.advance(done)
            candidates = by_kind[sequence.chat_kind]
            chat_index = sequence.chat_index
            context.switch_to(
                rng.pick_biased(candidates) if chat_index is None else candidates[chat_index % len(candidates)]
            )
            yield from item_frames(sequence.items, context, times)
            done += len(sequence.items)


def schedule(
    sequences: Sequence[ItemSequence], messages: int, rng: SeededRandom
) -> Iterator[tuple[ItemSequence | None, int]]:
    """Distribute sequences evenly: yield each with the number of messages before it, then None with the total.

    Sequences take up at most half of the messages, so a short history has only the first ones.
    """
    chosen: list[ItemSequence] = []
    items = 0
    for sequence in sequences:
        if items + len(sequence.items) <= messages // 2:
            chosen.append(sequence)
            items += len(sequence.items)
    everyday = messages - items
    done_items = 0
    for number, sequence in enumerate(rng.shuffled(chosen), 1):
        yield sequence, done_items + everyday * number // (len(chosen) + 1)
        done_items += len(sequence.items)
    yield None, messages


def item_frames(items: Sequence[ItemTemplate], context: ItemContext, times: MessageTimes) -> Iterator[bytes]:
    """Yield items of the current chat, one for each template."""
    for template in items:
        context.author = choose_author(template.by, context)
        context.sent, context.arrived = times.next_message()
        frame = Frame()
        item = frame.chatItem
        fill_delivery(item, context)
        template.fill(item, context)
        if context.chat.timer:
            fill_expiration(item, context)
        yield frame.SerializeToString()


def choose_author(by: By, context: ItemContext) -> SamplePerson:
    """Choose the author of the next item, mostly another than that of the previous one."""
    me, people = context.sample.me, context.chat.people
    if by == "same":
        return context.author
    if context.chat.kind == "news" and by != "me":
        return context.sample.news
    if by == "me" or not people:
        return me
    if by == "anyone" and context.author is not me and context.rng.random() < (0.8 if len(people) == 1 else 0.35):
        return me
    person = context.rng.pick(people)
    return context.rng.pick(people) if person is context.author else person
