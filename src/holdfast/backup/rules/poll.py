"""Polls (`Poll`), their votes and their end (`PollTerminateUpdate`)."""

from typing import Final

from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.checks import characters, of_kind, refers
from holdfast.backup.rules.graphemes import count_graphemes
from holdfast.backup.rules.repairs import DROP_ELEMENT, DROP_RECORD, MOVE_UP
from holdfast.backup.rules.rule import Breach, Limit, Rule, rule

__all__ = ["RULES"]


def max_characters(*, spec: int, current: int) -> Limit:
    """Limit a text to between one and so many characters, as people count them."""
    return Limit(
        range(1, spec + 1),
        range(1, current + 1),
        measure=lambda text: count_graphemes(text.decode()),
        unit="characters",
    )


QUESTION: Final = max_characters(spec=100, current=200)
OPTION: Final = max_characters(spec=100, current=100)
VOTERS: Final = kinds.CONTACTS | kinds.one_of(kinds.SELF)

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "poll.question.length",
        "The question of the poll has no character, or too many.",
        "Ask in 1 to 100 characters, today up to 200.",
        "spec 8, contract 5.9",
        Breach.FORMAT,
        characters(QUESTION.strictest, "Poll.question"),
        limit=QUESTION,
    ),
    rule(
        "poll.option.length",
        "An option of the poll has no character, or more than 100.",
        "Write 1 to 100 characters.",
        "spec 8, contract 5.9",
        Breach.FORMAT,
        characters(OPTION.strictest, "Poll.PollOption.option"),
        limit=OPTION,
    ),
    rule(
        "poll.options.count",
        "The poll has fewer than two options.",
        "Write all options.",
        "spec 8, contract 5.9",
        Breach.FORMAT,
        fields=("Poll.options",),
    ),
    rule(
        "poll.vote.voter.known",
        "Somebody who voted has not appeared.",
        "Write the voter before the poll.",
        "spec 1 rule 2, contract 5.9",
        Breach.REFERENCE,
        refers("Poll.PollOption.PollVote.voterId"),
        repairs=(MOVE_UP, DROP_ELEMENT),
    ),
    rule(
        "poll.vote.voter.kind",
        "One that voted is not a person.",
        "Name the user or a contact.",
        "spec 2, contract 5.9",
        Breach.REFERENCE,
        of_kind(VOTERS, "Poll.PollOption.PollVote.voterId"),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "poll.vote.voter.unique",
        "Somebody voted for an option twice.",
        "Write each vote once; how often it was cast is a number of its own.",
        "contract 5.9",
        Breach.CARE,
        fields=("Poll.PollOption.PollVote.voterId",),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "poll.vote.single",
        "Somebody voted for two options of a poll that allows one.",
        "Keep the last vote of each.",
        "contract 5.9",
        Breach.CARE,
        fields=("Poll.options", "Poll.allowMultiple", "Poll.PollOption.PollVote.voterId"),
    ),
    rule(
        "poll.chat",
        "A poll stands among the release notes.",
        "Put it into the chat it was held in.",
        "contract 5.9",
        Breach.CARE,
        fields=("ChatItem.poll", "ChatItem.chatId"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "poll-terminate.question.length",
        "The question of the poll that ended has no character, or too many.",
        "Write the question, of 1 to 100 characters, today up to 200.",
        "spec 8, contract 5.10",
        Breach.FORMAT,
        characters(QUESTION.strictest, "PollTerminateUpdate.question"),
        limit=QUESTION,
    ),
)
