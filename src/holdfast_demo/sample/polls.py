"""Polls and their termination."""

from dataclasses import dataclass

from holdfast.backup.schema.backup_pb2 import ChatItem, Poll, Quote
from holdfast_demo.sample.chats import QuotableMessage
from holdfast_demo.sample.item_context import Fill, ItemContext, react

__all__ = ["end_poll", "poll"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its options."""

    text: str
    options: tuple[str, ...]


QUESTIONS = (
    Question("Where do we walk next month?", ("Crow Rock", "Heron Lake", "Juniper Hill", "Nowhere, it is wet")),
    Question("Wann treffen wir uns?", ("Freitag 18:30", "Samstag 10:00", "Sonntag 15:00")),
    Question("¿Qué cocinamos?", ("Tortilla", "Paella", "Sopa de ajo")),
    Question("誰が車を出せますか", ("出せます", "出せません")),
    Question("هل نلتقي غدا؟", ("نعم", "لا", "ربما")),
    Question("Is <b>this</b> 'poll' \"safe\"?", ("Yes; obviously", "No -- but why", "42 🤷")),
)

# The limit was raised from 100 to 200 characters after the specification.
LONG_QUESTION = Question(
    "Which of the songs from the autumn programme shall we sing again at the summer concert, given that the organ"
    " is being repaired and half of the basses are on a boat?",
    ("The one about the mill", "The one with the difficult pause", "All of them, twice"),
)


def poll(*, multiple: bool = False, ended: bool = False) -> Fill:
    """Return a function that adds a poll with votes of the participants."""

    def fill(item: ChatItem, context: ItemContext) -> None:
        asked = (
            context.rng.pick((*QUESTIONS, LONG_QUESTION))
            if context.sample.current
            else context.rng.pick(QUESTIONS)
        )
        body = item.poll
        body.question = asked.text
        body.allowMultiple = multiple
        body.hasEnded = ended
        for text in asked.options:
            body.options.add(option=text)
        vote(body, context)
        react(body.reactions, context, 1)
        context.chat.recent.append(QuotableMessage(context.sent, context.author.id, asked.text, Quote.POLL))

    return fill


def vote(body: Poll, context: ItemContext) -> None:
    """Add votes of the participants for one or two options."""
    for person in context.participants:
        first = context.rng.below(len(body.options))
        chosen = {first, context.rng.below(len(body.options))} if body.allowMultiple else {first}
        for option in sorted(chosen):
            body.options[option].votes.add(voterId=person.id, voteCount=context.rng.between(1, 3))


def end_poll(item: ChatItem, context: ItemContext) -> None:
    """Add an update that ends the previous poll."""
    asked = context.chat.recent[-1]
    item.directionless.SetInParent()
    item.updateMessage.pollTerminate.targetSentTimestamp = asked.sent
    item.updateMessage.pollTerminate.question = asked.text
