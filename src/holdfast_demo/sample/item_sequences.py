"""The sequences that every history of sufficient length contains, and the random items between them."""

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
from holdfast_demo.sample.delivery import failed, pending, with_all_send_statuses
from holdfast_demo.sample.groups import ENDED
from holdfast_demo.sample.item_context import Edition, ItemSequence, ItemTemplate

__all__ = ["COMMON_ITEMS", "SMS_ITEMS", "item_sequences"]

# Random items; the number of repetitions is the relative frequency.
COMMON_ITEMS: tuple[ItemTemplate, ...] = (
    *(ItemTemplate(text_messages.plain),) * 158,
    *(ItemTemplate(text_messages.reply),) * 16,
    *(ItemTemplate(attachment_messages.photo),) * 8,
    *(ItemTemplate(attachment_messages.sticker),) * 4,
    *(ItemTemplate(text_messages.styled),) * 2,
    *(ItemTemplate(text_messages.with_mention),) * 2,
    *(ItemTemplate(text_messages.edited),) * 2,
    *(ItemTemplate(attachment_messages.voice),) * 2,
    ItemTemplate(text_messages.with_link_preview),
    ItemTemplate(text_messages.unusual),
    ItemTemplate(text_messages.long_text),
    ItemTemplate(attachment_messages.album),
    ItemTemplate(attachment_messages.animation),
    ItemTemplate(attachment_messages.document),
)

# SMS chats have text only.
SMS_ITEMS: tuple[ItemTemplate, ...] = (ItemTemplate(text_messages.plain),)

MESSAGE_SEQUENCES: tuple[ItemSequence, ...] = (
    ItemSequence(
        "group",
        (
            ItemTemplate(text_messages.with_many_reactions),
            ItemTemplate(text_messages.reply_last),
            ItemTemplate(text_messages.with_mention),
        ),
    ),
    ItemSequence(
        "friend",
        (
            ItemTemplate(attachment_messages.photo),
            ItemTemplate(text_messages.reply_last),
            ItemTemplate(attachment_messages.voice),
        ),
    ),
    ItemSequence(
        "group",
        (
            ItemTemplate(attachment_messages.album),
            ItemTemplate(text_messages.with_link_preview),
            ItemTemplate(text_messages.unusual),
            ItemTemplate(text_messages.long_text),
        ),
    ),
    ItemSequence("group", (ItemTemplate(text_messages.with_all_styles), ItemTemplate(polls.poll(multiple=True)))),
    ItemSequence(
        "friend", (ItemTemplate(text_messages.edited, "me"), ItemTemplate(text_messages.edited, "other"))
    ),
    ItemSequence(
        "group",
        (
            ItemTemplate(attachment_messages.sticker_with_reactions),
            ItemTemplate(attachment_messages.animation),
            ItemTemplate(attachment_messages.borderless),
        ),
    ),
    ItemSequence(
        "group",
        (ItemTemplate(polls.poll()), ItemTemplate(text_messages.reply_last), ItemTemplate(text_messages.plain)),
    ),
    ItemSequence(
        "group", (ItemTemplate(polls.poll(multiple=True, ended=True)), ItemTemplate(polls.end_poll, "same"))
    ),
    ItemSequence(
        "friend",
        (
            ItemTemplate(attachment_messages.view_once, "other"),
            ItemTemplate(text_messages.reply_last),
            ItemTemplate(attachment_messages.viewed_once),
        ),
    ),
    ItemSequence(
        "friend",
        (
            ItemTemplate(attachment_messages.contact_card),
            ItemTemplate(attachment_messages.document),
            ItemTemplate(attachment_messages.undownloaded_video, "other"),
        ),
    ),
    ItemSequence(
        "friend",
        (
            ItemTemplate(attachment_messages.story_reply),
            ItemTemplate(attachment_messages.story_emoji_reply),
            ItemTemplate(attachment_messages.long_story_reply),
        ),
    ),
    ItemSequence(
        "friend",
        (ItemTemplate(attachment_messages.gift_badge, "other"), ItemTemplate(text_messages.reply_last, "me")),
    ),
    ItemSequence(
        "friend", (ItemTemplate(text_messages.expiring, "other"), ItemTemplate(text_messages.expiring, "me"))
    ),
    ItemSequence("friend", (ItemTemplate(text_messages.unread_expiring, "other"),)),
    ItemSequence("group", (ItemTemplate(text_messages.deleted), ItemTemplate(text_messages.quote_of_missing))),
    ItemSequence("friend", (ItemTemplate(pending, "me"), ItemTemplate(failed, "me"))),
    ItemSequence("group", (ItemTemplate(with_all_send_statuses, "me"),), chat_index=0),
    ItemSequence("number", (ItemTemplate(text_messages.plain, "other"), ItemTemplate(text_messages.plain, "me"))),
    ItemSequence(
        "self",
        (
            ItemTemplate(text_messages.plain),
            ItemTemplate(text_messages.with_link_preview),
            ItemTemplate(attachment_messages.photo),
        ),
    ),
    ItemSequence("news", (ItemTemplate(text_messages.release_note, "other"),)),
    ItemSequence("stranger", (ItemTemplate(text_messages.unusual, "other"),), chat_index=0),
    *(ItemSequence("friend", (ItemTemplate(attachment_messages.photo_at(chat_kind)),)) for chat_kind in LOCATIONS),
    *(ItemSequence("friend", (ItemTemplate(payments.payment(status), "me"),)) for status in payments.STATUSES),
    *(ItemSequence("friend", (ItemTemplate(payments.payment(status), "other"),)) for status in payments.STATUSES),
    *(
        ItemSequence("friend", (ItemTemplate(payments.failed_payment(reason), "me"),))
        for reason in payments.FAILURES
    ),
    ItemSequence("friend", (ItemTemplate(payments.bare_payment, "other"),)),
)

UPDATE_SEQUENCES: tuple[ItemSequence, ...] = (
    *(
        ItemSequence(chat_kind, (ItemTemplate(chat_updates.simple(kind), by),))
        for kind, chat_kind, by in chat_updates.SIMPLE_UPDATES
    ),
    ItemSequence("friend", (ItemTemplate(chat_updates.timer(28)), ItemTemplate(chat_updates.timer(0)))),
    ItemSequence("group", (ItemTemplate(chat_updates.profile_change, "other"),)),
    ItemSequence("friend", (ItemTemplate(chat_updates.learned_number, "other"),)),
    ItemSequence("friend", (ItemTemplate(chat_updates.learned_username, "other"),)),
    ItemSequence("friend", (ItemTemplate(chat_updates.thread_merge, "other"),), chat_index=1),
    ItemSequence("friend", (ItemTemplate(chat_updates.session_switchover, "other"),), chat_index=2),
    *(
        ItemSequence("friend", (ItemTemplate(calls.call(kind, state)),))
        for kind in calls.CALL_TYPES
        for state in calls.CALL_STATES
    ),
    *(ItemSequence("group", (ItemTemplate(calls.group_call(state)),)) for state in calls.GROUP_CALL_STATES),
)

GROUP_UPDATE_SEQUENCES: tuple[ItemSequence, ...] = (
    *(
        ItemSequence("group", (ItemTemplate(group_updates.group_change(made), by),))
        for by, made in group_updates.GROUP_UPDATES
    ),
    ItemSequence(
        "group",
        (ItemTemplate(group_updates.group_change(*(made for _, made in group_updates.GROUP_UPDATES[2:5])), "me"),),
    ),
)

LATER_SEQUENCES: tuple[ItemSequence, ...] = (
    ItemSequence("group", (ItemTemplate(text_messages.admin_deleted, "other"),)),
    ItemSequence("group", (ItemTemplate(text_messages.pinned), ItemTemplate(chat_updates.pin, "me"))),
    ItemSequence("friend", (ItemTemplate(text_messages.pinned_forever), ItemTemplate(chat_updates.pin, "other"))),
    # The group with this index is the one whose record says that it was ended.
    *(
        ItemSequence("group", (ItemTemplate(group_updates.group_change(made), by),), chat_index=ENDED)
        for by, made in group_updates.LATER_GROUP_UPDATES
    ),
)


def item_sequences(edition: Edition) -> tuple[ItemSequence, ...]:
    """Return the sequences of an edition, the most important ones first."""
    later = LATER_SEQUENCES if edition == "current" else ()
    return (*MESSAGE_SEQUENCES, *later, *UPDATE_SEQUENCES, *GROUP_UPDATE_SEQUENCES)
