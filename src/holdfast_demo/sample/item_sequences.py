"""What a history shows: the scenes that must be in it once it is long enough, and the everyday between them."""

from holdfast_demo.sample import (
    attachment_messages,
    calls,
    chat_updates,
    group_updates,
    payments,
    polls,
    text_messages,
)
from holdfast_demo.sample.attachments import LOCATIONS
from holdfast_demo.sample.delivery import delivered_in_every_way, refused, still_going_out
from holdfast_demo.sample.groups import ENDED
from holdfast_demo.sample.item_context import Beat, Edition, Scene

__all__ = ["BY_SMS", "EVERYDAY", "programme"]

# What people mostly do; how often a thing stands here is how common it is.
EVERYDAY: tuple[Beat, ...] = (
    *(Beat(text_messages.plain),) * 158,
    *(Beat(text_messages.reply),) * 16,
    *(Beat(attachment_messages.photo),) * 8,
    *(Beat(attachment_messages.sticker),) * 4,
    *(Beat(text_messages.styled),) * 2,
    *(Beat(text_messages.addressed),) * 2,
    *(Beat(text_messages.edited),) * 2,
    *(Beat(attachment_messages.voice),) * 2,
    Beat(text_messages.link),
    Beat(text_messages.curiosity),
    Beat(text_messages.letter),
    Beat(attachment_messages.album),
    Beat(attachment_messages.animation),
    Beat(attachment_messages.document),
)

# A phone number alone can be sent words and nothing else.
BY_SMS: tuple[Beat, ...] = (Beat(text_messages.plain),)

MESSAGES: tuple[Scene, ...] = (
    Scene("group", (Beat(text_messages.praised), Beat(text_messages.reply_last), Beat(text_messages.addressed))),
    Scene(
        "friend",
        (Beat(attachment_messages.photo), Beat(text_messages.reply_last), Beat(attachment_messages.voice)),
    ),
    Scene(
        "group",
        (
            Beat(attachment_messages.album),
            Beat(text_messages.link),
            Beat(text_messages.curiosity),
            Beat(text_messages.letter),
        ),
    ),
    Scene("group", (Beat(text_messages.styled_in_every_way), Beat(polls.poll(multiple=True)))),
    Scene("friend", (Beat(text_messages.edited, "me"), Beat(text_messages.edited, "other"))),
    Scene(
        "group",
        (
            Beat(attachment_messages.liked_sticker),
            Beat(attachment_messages.animation),
            Beat(attachment_messages.borderless),
        ),
    ),
    Scene("group", (Beat(polls.poll()), Beat(text_messages.reply_last), Beat(text_messages.plain))),
    Scene("group", (Beat(polls.poll(multiple=True, ended=True)), Beat(polls.end_poll, "same"))),
    Scene(
        "friend",
        (
            Beat(attachment_messages.view_once, "other"),
            Beat(text_messages.reply_last),
            Beat(attachment_messages.viewed_once),
        ),
    ),
    Scene(
        "friend",
        (
            Beat(attachment_messages.card),
            Beat(attachment_messages.document),
            Beat(attachment_messages.clip, "other"),
        ),
    ),
    Scene(
        "friend",
        (
            Beat(attachment_messages.story_text),
            Beat(attachment_messages.story_emoji),
            Beat(attachment_messages.story_letter),
        ),
    ),
    Scene("friend", (Beat(attachment_messages.gift, "other"), Beat(text_messages.reply_last, "me"))),
    Scene("friend", (Beat(text_messages.expiring, "other"), Beat(text_messages.expiring, "me"))),
    Scene("friend", (Beat(text_messages.unread_expiring, "other"),)),
    Scene("group", (Beat(text_messages.deleted), Beat(text_messages.forgotten_quote))),
    Scene("friend", (Beat(still_going_out, "me"), Beat(refused, "me"))),
    Scene("group", (Beat(delivered_in_every_way, "me"),), only=0),
    Scene("number", (Beat(text_messages.plain, "other"), Beat(text_messages.plain, "me"))),
    Scene("self", (Beat(text_messages.plain), Beat(text_messages.link), Beat(attachment_messages.photo))),
    Scene("news", (Beat(text_messages.announcement, "other"),)),
    Scene("stranger", (Beat(text_messages.curiosity, "other"),), only=0),
    *(Scene("friend", (Beat(attachment_messages.kept(where)),)) for where in LOCATIONS),
    *(Scene("friend", (Beat(payments.payment(status), "me"),)) for status in payments.STATUSES),
    *(Scene("friend", (Beat(payments.payment(status), "other"),)) for status in payments.STATUSES),
    *(Scene("friend", (Beat(payments.failed_payment(reason), "me"),)) for reason in payments.FAILURES),
    Scene("friend", (Beat(payments.bare_payment, "other"),)),
)

UPDATES: tuple[Scene, ...] = (
    *(Scene(where, (Beat(chat_updates.simple(kind), by),)) for kind, where, by in chat_updates.SIMPLE_UPDATES),
    Scene("friend", (Beat(chat_updates.timer(28)), Beat(chat_updates.timer(0)))),
    Scene("group", (Beat(chat_updates.profile_change, "other"),)),
    Scene("friend", (Beat(chat_updates.learned_number, "other"),)),
    Scene("friend", (Beat(chat_updates.learned_username, "other"),)),
    Scene("friend", (Beat(chat_updates.thread_merge, "other"),), only=1),
    Scene("friend", (Beat(chat_updates.session_switchover, "other"),), only=2),
    *(
        Scene("friend", (Beat(calls.call(kind, state)),))
        for kind in calls.CALL_TYPES
        for state in calls.CALL_STATES
    ),
    *(Scene("group", (Beat(calls.group_call(state)),)) for state in calls.GROUP_CALL_STATES),
)

GROUP_CHANGES: tuple[Scene, ...] = (
    *(Scene("group", (Beat(group_updates.change(made), by),)) for by, made in group_updates.GROUP_UPDATES),
    Scene("group", (Beat(group_updates.change(*(made for _, made in group_updates.GROUP_UPDATES[2:5])), "me"),)),
)

LATER: tuple[Scene, ...] = (
    Scene("group", (Beat(text_messages.admin_deleted, "other"),)),
    Scene("group", (Beat(text_messages.pinned), Beat(chat_updates.pin, "me"))),
    Scene("friend", (Beat(text_messages.pinned_for_good), Beat(chat_updates.pin, "other"))),
    # The group at this place is the one whose record says that it was ended.
    *(
        Scene("group", (Beat(group_updates.change(made), by),), only=ENDED)
        for by, made in group_updates.LATER_GROUP_UPDATES
    ),
)


def programme(edition: Edition) -> tuple[Scene, ...]:
    """List the scenes of an edition, the most telling first."""
    later = LATER if edition == "current" else ()
    return (*MESSAGES, *later, *UPDATES, *GROUP_CHANGES)
