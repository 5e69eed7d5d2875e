"""Plays a history: scenes at their places, everyday talk between them, until enough has been said."""

from collections.abc import Iterator, Sequence

from holdfast.backup.schema.backup_pb2 import Frame
from holdfast_demo.sample.chats import Kind, Room
from holdfast_demo.sample.delivery import address, vanish
from holdfast_demo.sample.item_context import Beat, By, Moment, Scene, Stage
from holdfast_demo.sample.item_sequences import BY_SMS, EVERYDAY, programme
from holdfast_demo.sample.message_times import Clock
from holdfast_demo.sample.people import SamplePerson
from holdfast_demo.sample.seeded_random import Dice

__all__ = ["history"]

TALKATIVE: tuple[Kind, ...] = ("friend", "group", "self", "number")
# How many messages a conversation has before another one begins elsewhere.
BURSTS = (1, 2, 2, 3, 4, 5, 6, 8, 10, 14, 20)
# Once in so many conversations something special happens.
SPECIAL = 30


def history(stage: Stage, rooms: Sequence[Room], messages: int, dice: Dice) -> Iterator[bytes]:
    """Yield exactly `messages` chat items, each as a serialized frame, in the order in which they arrived."""
    clock = Clock(dice, messages, stage.backup_time)
    talkative = [room for room in rooms if room.kind in TALKATIVE]
    by_kind: dict[Kind, list[Room]] = {}
    for room in rooms:
        by_kind.setdefault(room.kind, []).append(room)
    scenes = programme(stage.edition)
    repeatable = [scene for scene in scenes if scene.only is None]
    moment = Moment(stage, dice, rooms[0], stage.me)
    done = 0
    for scene, due in staged(scenes, messages, dice):
        while done < due:
            clock.wake(done)
            if dice.one_in(SPECIAL):
                chosen = dice.pick(repeatable)
                moment.enter(dice.pick_early(by_kind[chosen.where]))
                beats: Sequence[Beat] = chosen.beats
            else:
                moment.enter(dice.pick_early(talkative))
                choice = BY_SMS if moment.room.kind == "number" else EVERYDAY
                beats = [dice.pick(choice) for _ in range(dice.pick(BURSTS))]
            beats = beats[: due - done]
            yield from play(beats, moment, clock)
            done += len(beats)
        if scene is not None:
            clock.wake(done)
            candidates = by_kind[scene.where]
            only = scene.only
            moment.enter(dice.pick_early(candidates) if only is None else candidates[only % len(candidates)])
            yield from play(scene.beats, moment, clock)
            done += len(scene.beats)


def staged(scenes: Sequence[Scene], messages: int, dice: Dice) -> Iterator[tuple[Scene | None, int]]:
    """Spread scenes evenly: yield each with the number of messages before it, and at last the end.

    Scenes take up at most half of the messages, so a short history has only the first of them.
    """
    chosen: list[Scene] = []
    beats = 0
    for scene in scenes:
        if beats + len(scene.beats) <= messages // 2:
            chosen.append(scene)
            beats += len(scene.beats)
    everyday = messages - beats
    played = 0
    for number, scene in enumerate(dice.mix(chosen), 1):
        yield scene, played + everyday * number // (len(chosen) + 1)
        played += len(scene.beats)
    yield None, messages


def play(beats: Sequence[Beat], at: Moment, clock: Clock) -> Iterator[bytes]:
    """Play items one after the other in the room of the moment."""
    for beat in beats:
        at.author = speaker(beat.by, at)
        at.sent, at.arrived = clock.tick()
        frame = Frame()
        item = frame.chatItem
        address(item, at)
        beat.fill(item, at)
        if at.room.timer:
            vanish(item, at)
        yield frame.SerializeToString()


def speaker(by: By, at: Moment) -> SamplePerson:
    """Choose who writes the next item in the room of the moment: mostly somebody else than the item before."""
    me, people = at.stage.me, at.room.people
    if by == "same":
        return at.author
    if at.room.kind == "news" and by != "me":
        return at.stage.news
    if by == "me" or not people:
        return me
    if by == "anyone" and at.author is not me and at.dice.random() < (0.8 if len(people) == 1 else 0.35):
        return me
    person = at.dice.pick(people)
    return at.dice.pick(people) if person is at.author else person
