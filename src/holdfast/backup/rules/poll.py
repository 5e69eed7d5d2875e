"""Polls (`Poll`), their votes and their end (`PollTerminateUpdate`)."""

from typing import Final

import cython

from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.checks import characters, field, of_kind, refers
from holdfast.backup.rules.graphemes import count_graphemes
from holdfast.backup.rules.repairs import DROP_ELEMENT, DROP_RECORD, MOVE_UP
from holdfast.backup.rules.rule import Breach, Limit, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule

if not cython.compiled:
    from holdfast.backup.rules.notes import NOTE_CHAT

__all__ = ["RULES"]


def max_characters(*, spec: int, current: int) -> Limit:
    """Limit a text to between one and so many characters (grapheme clusters)."""
    return Limit(
        range(1, spec + 1),
        range(1, current + 1),
        measure=lambda text: count_graphemes(text.decode()),
        unit="characters",
    )


QUESTION: Final = max_characters(spec=100, current=200)
OPTION: Final = max_characters(spec=100, current=100)
VOTERS: Final = kinds.CONTACTS | kinds.one_of(kinds.SELF)
FEWEST_OPTIONS: Final = 2

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "poll.question.length",
        "The question of the poll has no character, or too many.",
        "Write 1 to 100 characters, in the current edition up to 200.",
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
        "A voter is not defined earlier.",
        "Write the voter before the poll.",
        "spec 1 rule 2, contract 5.9",
        Breach.REFERENCE,
        refers("Poll.PollOption.PollVote.voterId"),
        repairs=(MOVE_UP, DROP_ELEMENT),
    ),
    rule(
        "poll.vote.voter.kind",
        "A voter is not a person.",
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
        "A poll is in the release notes chat.",
        "Put it into the chat it was held in.",
        "contract 5.9",
        Breach.CARE,
        fields=("ChatItem.poll", "ChatItem.chatId"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "poll-terminate.question.length",
        "The question of the poll that ended has no character, or too many.",
        "Write the question, of 1 to 100 characters, in the current edition up to 200.",
        "spec 8, contract 5.10",
        Breach.FORMAT,
        characters(QUESTION.strictest, "PollTerminateUpdate.question"),
        limit=QUESTION,
    ),
)

if not cython.compiled:
    POLL = field("ChatItem.poll")
    OPTIONS = field("Poll.options")
    ALLOW_MULTIPLE = field("Poll.allowMultiple")
    VOTER = field("Poll.PollOption.PollVote.voterId")
    _FEWEST_OPTIONS = FEWEST_OPTIONS
    OPTIONS_COUNT = number_of_rule("poll.options.count")
    VOTER_UNIQUE = number_of_rule("poll.vote.voter.unique")
    VOTE_SINGLE = number_of_rule("poll.vote.single")
    POLL_CHAT = number_of_rule("poll.chat")
    RELEASE_NOTES = kinds.RELEASE_NOTES
    # A note of a poll: the index, plus one, of an option whose voter had voted for another.
    NOTE_SECOND_VOTE = 0


def check_poll(context: RuleContext, depth: cython.int) -> cython.void:
    """Check the number of options of a poll, and that each voter has one vote if only one is allowed."""
    second: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, context.note(depth, NOTE_SECOND_VOTE))
    if context.value(depth, OPTIONS) < _FEWEST_OPTIONS:
        context.report_field(OPTIONS_COUNT, depth, OPTIONS)
    if second and not context.holds(depth, ALLOW_MULTIPLE):
        context.report(VOTE_SINGLE, depth, OPTIONS, second - 1, 0, 0, 0)


def check_vote(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that nobody votes twice for an option, and store in a note of the poll if somebody votes for two.

    Serial numbers only increase: an entry in `listed_in` set since the poll began is one of its options.
    """
    at: cython.Py_ssize_t = context.start(depth, VOTER)
    if not context.holds(depth, VOTER) or at < 0:
        return
    if context.listed_in[at] == context.serials[depth - 1] << 6:
        context.report_field(VOTER_UNIQUE, depth, VOTER)
    elif (
        context.listed_in[at] > context.serials[depth - 2] << 6 and context.note(depth - 2, NOTE_SECOND_VOTE) == 0
    ):
        option: cython.ulonglong = cython.cast(cython.ulonglong, context.elements[depth - 2] + 1)
        context.set_note(depth - 2, NOTE_SECOND_VOTE, option)
    context.listed_in[at] = context.serials[depth - 1] << 6


def check_poll_chat(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that a poll is in a chat that supports polls."""
    if (context.seen[depth] >> POLL) & 1 and context.note(depth, NOTE_CHAT) == RELEASE_NOTES:
        context.report_field(POLL_CHAT, depth, POLL)


if not cython.compiled:
    CHECKS = {
        "Poll": check_poll,
        "Poll.PollOption.PollVote": check_vote,
        "ChatItem": check_poll_chat,
    }
