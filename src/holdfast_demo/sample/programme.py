"""What a history shows: the scenes that must be in it once it is long enough, and the everyday between them."""

from holdfast_demo.sample import calls, group_updates, payments, polls, shares, talk, updates
from holdfast_demo.sample.attachments import LOCATIONS
from holdfast_demo.sample.delivery import delivered_in_every_way, refused, still_going_out
from holdfast_demo.sample.groups import ENDED
from holdfast_demo.sample.stage import Beat, Edition, Scene

__all__ = ["BY_SMS", "EVERYDAY", "programme"]

# What people mostly do; how often a thing stands here is how common it is.
EVERYDAY: tuple[Beat, ...] = (
    *(Beat(talk.plain),) * 158,
    *(Beat(talk.reply),) * 16,
    *(Beat(shares.photo),) * 8,
    *(Beat(shares.sticker),) * 4,
    *(Beat(talk.styled),) * 2,
    *(Beat(talk.addressed),) * 2,
    *(Beat(talk.edited),) * 2,
    *(Beat(shares.voice),) * 2,
    Beat(talk.link),
    Beat(talk.curiosity),
    Beat(talk.letter),
    Beat(shares.album),
    Beat(shares.animation),
    Beat(shares.document),
)

# A phone number alone can be sent words and nothing else.
BY_SMS: tuple[Beat, ...] = (Beat(talk.plain),)

MESSAGES: tuple[Scene, ...] = (
    Scene("group", (Beat(talk.praised), Beat(talk.reply_last), Beat(talk.addressed))),
    Scene("friend", (Beat(shares.photo), Beat(talk.reply_last), Beat(shares.voice))),
    Scene("group", (Beat(shares.album), Beat(talk.link), Beat(talk.curiosity), Beat(talk.letter))),
    Scene("group", (Beat(talk.styled_in_every_way), Beat(polls.poll(multiple=True)))),
    Scene("friend", (Beat(talk.edited, "me"), Beat(talk.edited, "other"))),
    Scene(
        "group",
        (
            Beat(shares.liked_sticker),
            Beat(shares.animation),
            Beat(shares.borderless),
        ),
    ),
    Scene("group", (Beat(polls.poll()), Beat(talk.reply_last), Beat(talk.plain))),
    Scene("group", (Beat(polls.poll(multiple=True, ended=True)), Beat(polls.end_poll, "same"))),
    Scene(
        "friend",
        (
            Beat(shares.view_once, "other"),
            Beat(talk.reply_last),
            Beat(shares.viewed_once),
        ),
    ),
    Scene(
        "friend",
        (
            Beat(shares.card),
            Beat(shares.document),
            Beat(shares.clip, "other"),
        ),
    ),
    Scene(
        "friend",
        (
            Beat(shares.story_text),
            Beat(shares.story_emoji),
            Beat(shares.story_letter),
        ),
    ),
    Scene("friend", (Beat(shares.gift, "other"), Beat(talk.reply_last, "me"))),
    Scene("friend", (Beat(talk.expiring, "other"), Beat(talk.expiring, "me"))),
    Scene("friend", (Beat(talk.unread_expiring, "other"),)),
    Scene("group", (Beat(talk.deleted), Beat(talk.forgotten_quote))),
    Scene("friend", (Beat(still_going_out, "me"), Beat(refused, "me"))),
    Scene("group", (Beat(delivered_in_every_way, "me"),), only=0),
    Scene("number", (Beat(talk.plain, "other"), Beat(talk.plain, "me"))),
    Scene("self", (Beat(talk.plain), Beat(talk.link), Beat(shares.photo))),
    Scene("news", (Beat(talk.announcement, "other"),)),
    Scene("stranger", (Beat(talk.curiosity, "other"),), only=0),
    *(Scene("friend", (Beat(shares.kept(where)),)) for where in LOCATIONS),
    *(Scene("friend", (Beat(payments.payment(status), "me"),)) for status in payments.STATUSES),
    *(Scene("friend", (Beat(payments.payment(status), "other"),)) for status in payments.STATUSES),
    *(Scene("friend", (Beat(payments.failed_payment(reason), "me"),)) for reason in payments.FAILURES),
    Scene("friend", (Beat(payments.bare_payment, "other"),)),
)

UPDATES: tuple[Scene, ...] = (
    *(Scene(where, (Beat(updates.simple(kind), by),)) for kind, where, by in updates.SIMPLE_UPDATES),
    Scene("friend", (Beat(updates.timer(28)), Beat(updates.timer(0)))),
    Scene("group", (Beat(updates.profile_change, "other"),)),
    Scene("friend", (Beat(updates.learned_number, "other"),)),
    Scene("friend", (Beat(updates.learned_username, "other"),)),
    Scene("friend", (Beat(updates.thread_merge, "other"),), only=1),
    Scene("friend", (Beat(updates.session_switchover, "other"),), only=2),
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
    Scene("group", (Beat(talk.admin_deleted, "other"),)),
    Scene("group", (Beat(talk.pinned), Beat(updates.pin, "me"))),
    Scene("friend", (Beat(talk.pinned_for_good), Beat(updates.pin, "other"))),
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
