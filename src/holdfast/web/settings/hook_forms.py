"""The form of a webhook: the fields of each type, and their conversion to a new or edited webhook."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec
from msgspec import UNSET

from holdfast.hosting.errors import InvalidValue, InvalidWebhookOption
from holdfast.hosting.services.webhooks import SLACK_OPTIONS as SLACK
from holdfast.hosting.services.webhooks import NewWebhook, WebhookEdit
from holdfast.hosting.store.hooks import Hook
from holdfast.redacted_repr import redacted

__all__ = ["EVENT_GROUPS", "KINDS", "HookForm", "HookKind", "form_of", "new_form", "new_webhook", "webhook_edit"]


@dataclass(frozen=True, slots=True)
class HookKind:
    """A type of webhook and the fields of its form."""

    type: str
    name: str
    about: str
    url_hint: str
    fields: frozenset[str] = frozenset()
    """Its fields besides URL, events and branch filter."""
    secret_hint: str = ""


PAYLOAD: Final = frozenset({"content_type", "secret", "authorization"})
SIGNED: Final = "Signs every delivery with HMAC-SHA256 (X-Hub-Signature-256)."
KINDS: Final[Mapping[str, HookKind]] = {
    kind.type: kind
    for kind in (
        HookKind(
            "gitea",
            "Gitea",
            "Signed JSON payloads, for your own programs and for CI.",
            "Events are sent here by POST.",
            PAYLOAD,
            SIGNED,
        ),
        HookKind(
            "gogs",
            "Gogs",
            "The same payloads, for receivers made for Gogs.",
            "Events are sent here by POST.",
            PAYLOAD,
            SIGNED,
        ),
        HookKind(
            "slack",
            "Slack",
            "A message in a Slack channel.",
            "The URL of an incoming webhook from Slack.",
            frozenset({"slack"}),
        ),
        HookKind("discord", "Discord", "A message in a Discord channel.", "The webhook URL from Discord."),
        HookKind(
            "msteams",
            "Microsoft Teams",
            "A card in a Teams channel.",
            "The URL from the channel's workflow.",
        ),
        HookKind(
            "telegram",
            "Telegram",
            "A message by a Telegram bot.",
            "https://api.telegram.org/bot<token>/sendMessage?chat_id=<chat>",
        ),
        HookKind(
            "matrix",
            "Matrix",
            "A message in a Matrix room.",
            "https://<server>/_matrix/client/v3/rooms/<room>/send/m.room.message",
            frozenset({"authorization"}),
        ),
        HookKind(
            "feishu",
            "Feishu and Lark",
            "A message by a custom bot.",
            "The bot's webhook URL.",
            frozenset({"secret"}),
            "The bot's signing key, if it has one.",
        ),
        HookKind(
            "dingtalk",
            "DingTalk",
            "A message by a DingTalk robot.",
            "The robot's webhook URL.",
            frozenset({"secret"}),
            "The robot's signing key, if it has one.",
        ),
        HookKind("wechatwork", "WeCom", "A message by a WeCom group robot.", "The robot's webhook URL."),
        HookKind(
            "packagist",
            "Packagist",
            "Tells Packagist that a package has changed.",
            "https://packagist.org/api/update-package?username=<name>&apiToken=<token>",
            frozenset({"authorization"}),
        ),
    )
}
# The events of the form, in groups. Events that never occur here are not offered; if set over the API, they stay.
EVENT_GROUPS: Final = (
    (
        "Code",
        (
            ("push", "Push", "commits or tags are pushed"),
            ("create", "Create", "a branch or tag is created"),
            ("delete", "Delete", "a branch or tag is deleted"),
        ),
    ),
    (
        "Issues",
        (
            ("issues", "Issues", "opened, edited, closed, reopened or deleted"),
            ("issue_comment", "Comments", "created, edited or deleted"),
            ("issue_assign", "Assignees", "assigned or unassigned"),
            ("issue_label", "Labels", "added or removed"),
            ("issue_milestone", "Milestones", "set or removed"),
            ("issue_dependency", "Dependencies", "added or removed"),
            ("issue_unblocked", "Unblocked", "the last blocking issue was closed"),
        ),
    ),
    (
        "Pull requests",
        (
            ("pull_request", "Pull requests", "opened, edited, closed, reopened or deleted"),
            ("pull_request_comment", "Comments", "created, edited or deleted"),
            ("pull_request_assign", "Assignees", "assigned or unassigned"),
            ("pull_request_label", "Labels", "added or removed"),
            ("pull_request_milestone", "Milestones", "set or removed"),
        ),
    ),
    ("Repositories", (("repository", "Repository", "created, renamed or deleted"),)),
)
OFFERED: Final = frozenset(name for _, events in EVENT_GROUPS for name, _, _ in events)
# In the API these names select a whole group; the checkbox of the form means the single event.
ALONE: Final = {"issues": "issues_only", "pull_request": "pull_request_only"}


@redacted
class HookForm(msgspec.Struct, frozen=True):
    """The fields of the form; an unchecked checkbox is empty."""

    type: str = ""
    name: str = ""
    url: str = ""
    content_type: str = "json"
    secret: str = ""
    drop_secret: str = ""
    authorization: str = ""
    drop_authorization: str = ""
    channel: str = ""
    username: str = ""
    icon_url: str = ""
    color: str = ""
    events: list[str] = []
    branch_filter: str = ""
    active: str = ""
    system: str = ""


def new_form(kind: str) -> HookForm:
    """Return the form of a new webhook."""
    return HookForm(type=kind, events=["push"], active="on", system="on")


def form_of(hook: Hook) -> HookForm:
    """Return the form for an existing webhook; secrets are left empty."""
    meta = msgspec.json.decode(hook.meta, type=dict[str, str]) if hook.type == "slack" else {}
    return HookForm(
        type=hook.type,
        name=hook.name,
        url=hook.url,
        content_type=hook.content_type,
        events=hook.events.split(","),
        branch_filter=hook.branch_filter,
        active="on" if hook.is_active else "",
        system="on" if hook.scope == "system" else "",
        **{key: meta.get(key, "") for key in SLACK},
    )


def new_webhook(form: HookForm) -> NewWebhook:
    """Return the new webhook of a form."""
    if form.type not in KINDS:
        raise InvalidWebhookOption("type", "choose a type", "Invalid hook type")
    slack = {option: getattr(form, option).strip() for option in SLACK} if form.type == "slack" else {}
    return NewWebhook(
        type=form.type,
        url=form.url.strip(),
        content_type=form.content_type or "json",
        secret="" if form.drop_secret else form.secret,
        authorization="" if form.drop_authorization else form.authorization,
        events=chosen_events(form, ()),
        branch_filter=form.branch_filter.strip(),
        is_active=bool(form.active),
        name=form.name,
        is_system=bool(form.system),
        **slack,
    )


def webhook_edit(form: HookForm, hook: Hook) -> WebhookEdit:
    """Return the edit of a form; an empty secret keeps its value.

    Events that were set over the API and that the form does not offer stay.
    """
    slack = {option: getattr(form, option).strip() for option in SLACK} if hook.type == "slack" else {}
    return WebhookEdit(
        url=form.url.strip(),
        content_type=form.content_type or "json",
        secret="" if form.drop_secret else form.secret or UNSET,
        authorization="" if form.drop_authorization else form.authorization or UNSET,
        events=chosen_events(form, hook.events.split(",")),
        branch_filter=form.branch_filter.strip(),
        is_active=bool(form.active),
        name=form.name,
        **slack,
    )


def chosen_events(form: HookForm, previous: Iterable[str]) -> tuple[str, ...]:
    """Return the checked events, and those of the webhook that the form does not offer."""
    chosen = (ALONE.get(event, event) for event in form.events if event in OFFERED)
    events = (*chosen, *(event for event in previous if event not in OFFERED))
    if not events:
        raise InvalidValue("Events", "choose at least one event")
    return events
