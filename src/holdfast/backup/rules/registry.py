"""The registry of all rules, by id and by their number in the compiled modules."""

from functools import cache
from typing import Final

from holdfast.backup.rules import (
    account,
    attachment,
    call,
    call_link,
    chat,
    chat_folder,
    chat_style,
    contact,
    contact_card,
    container,
    distribution_list,
    gift_badge,
    group,
    group_update,
    media,
    message,
    notification_profile,
    payment,
    poll,
    quote,
    reaction,
    recipient,
    sticker,
    sticker_pack,
    story_reply,
    stream,
    text,
    update,
    view_once,
)
from holdfast.backup.rules.rule import Profile, Rule, Severity
from holdfast.backup.wire.layout import MOST_RULES

__all__ = ["FAMILIES", "RULES", "error_mask", "rule_named", "rule_numbered"]

# The record families, in the order of their records in a backup.
FAMILIES: Final = {
    "container": container.RULES,
    "stream": stream.RULES,
    "account": account.RULES,
    "chat_style": chat_style.RULES,
    "recipient": recipient.RULES,
    "contact": contact.RULES,
    "group": group.RULES,
    "distribution_list": distribution_list.RULES,
    "call_link": call_link.RULES,
    "chat": chat.RULES,
    "message": message.RULES,
    "text": text.RULES,
    "quote": quote.RULES,
    "reaction": reaction.RULES,
    "attachment": attachment.RULES,
    "contact_card": contact_card.RULES,
    "sticker": sticker.RULES,
    "view_once": view_once.RULES,
    "story_reply": story_reply.RULES,
    "payment": payment.RULES,
    "gift_badge": gift_badge.RULES,
    "poll": poll.RULES,
    "call": call.RULES,
    "update": update.RULES,
    "group_update": group_update.RULES,
    "sticker_pack": sticker_pack.RULES,
    "notification_profile": notification_profile.RULES,
    "chat_folder": chat_folder.RULES,
    "media": media.RULES,
}
RULES: Final[tuple[Rule, ...]] = tuple(rule for family in FAMILIES.values() for rule in family)
BY_ID: Final[dict[str, Rule]] = {rule.id: rule for rule in RULES}
BY_NUMBER: Final[dict[int, Rule]] = {rule.number: rule for rule in RULES}


def rule_named(name: str) -> Rule:
    """Return a rule by its id."""
    return BY_ID[name]


def rule_numbered(number: int) -> Rule:
    """Return a rule by its number in the compiled modules."""
    return BY_NUMBER[number]


@cache
def error_mask(profile: Profile) -> bytes:
    """Return a byte for each rule number: 1 if the rule is an error under a profile."""
    marks = bytearray(MOST_RULES)
    for rule in RULES:
        marks[rule.number] = rule.severity(profile) is Severity.ERROR
    return bytes(marks)
