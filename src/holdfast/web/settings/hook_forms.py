"""The form of a webhook: which fields each type has, in what words, and what the API is asked with them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.store.hooks import Hook
from holdfast.redacted_repr import redacted

__all__ = ["EVENT_GROUPS", "KINDS", "HookForm", "HookKind", "body_of", "form_of", "new_form"]


@dataclass(frozen=True, slots=True)
class HookKind:
    """A type of webhook, as people choose it."""

    type: str
    name: str
    about: str
    url_hint: str
    fields: frozenset[str] = frozenset()
    """What it has besides an address, events and a branch filter."""
    secret_hint: str = ""


PAYLOAD: Final = frozenset({"content_type", "secret", "authorization"})
SIGNED: Final = "Every delivery is signed with it (HMAC-SHA256 in X-Hub-Signature-256 and its siblings)."
KINDS: Final[Mapping[str, HookKind]] = {
    kind.type: kind
    for kind in (
        HookKind(
            "gitea",
            "Your own program (Gitea's form)",
            "The whole event as JSON, signed. The one to choose for programs of your own and for build servers.",
            "Where the event is sent by POST.",
            PAYLOAD,
            SIGNED,
        ),
        HookKind(
            "gogs",
            "Your own program (Gogs' form)",
            "The same, for receivers that were made for Gogs.",
            "Where the event is sent by POST.",
            PAYLOAD,
            SIGNED,
        ),
        HookKind(
            "slack",
            "Slack",
            "A message in a Slack channel.",
            "The address of an incoming webhook, as Slack shows it.",
            frozenset({"slack"}),
        ),
        HookKind(
            "discord", "Discord", "A message in a Discord channel.", "The webhook's address, as Discord shows it."
        ),
        HookKind(
            "msteams",
            "Microsoft Teams",
            "A card in a Teams channel.",
            "The address that the channel's workflow shows.",
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
            "The bot's webhook address.",
            frozenset({"secret"}),
            "The bot's signing key, if it has one.",
        ),
        HookKind(
            "dingtalk",
            "DingTalk",
            "A message by a DingTalk robot.",
            "The robot's webhook address.",
            frozenset({"secret"}),
            "The robot's signing key, if it has one.",
        ),
        HookKind("wechatwork", "WeCom", "A message by a WeCom group robot.", "The robot's webhook address."),
        HookKind(
            "packagist",
            "Packagist",
            "Tells Packagist that a package has changed.",
            "https://packagist.org/api/update-package?username=<name>&apiToken=<token>",
            frozenset({"authorization"}),
        ),
    )
}
# What people can ask for, in groups. What never happens here is not offered, and kept where a client asked for it.
EVENT_GROUPS: Final = (
    (
        "Code",
        (
            ("push", "Push", "commits arrive on a branch, or a tag moves"),
            ("create", "Create", "a branch or tag is made"),
            ("delete", "Delete", "a branch or tag is removed"),
        ),
    ),
    (
        "Issues",
        (
            ("issues", "Issues", "opened, edited, closed, reopened or deleted"),
            ("issue_comment", "Comments", "written, edited or deleted"),
            ("issue_assign", "Assignees", "given to somebody, or no longer"),
            ("issue_label", "Labels", "put on or taken off"),
            ("issue_milestone", "Milestones", "set or removed"),
            ("issue_dependency", "Dependencies", "made to wait for another issue, or no longer"),
            ("issue_unblocked", "Unblocked", "the last issue it waited for was closed"),
        ),
    ),
    (
        "Pull requests",
        (
            ("pull_request", "Pull requests", "opened, edited, closed, reopened or deleted"),
            ("pull_request_comment", "Comments", "written, edited or deleted"),
            ("pull_request_assign", "Assignees", "given to somebody, or no longer"),
            ("pull_request_label", "Labels", "put on or taken off"),
            ("pull_request_milestone", "Milestones", "set or removed"),
        ),
    ),
    ("Repositories", (("repository", "Repository", "made, renamed or deleted"),)),
)
OFFERED: Final = frozenset(name for _, events in EVENT_GROUPS for name, _, _ in events)
# The API takes these names for a whole group; the form means the one thing.
ALONE: Final = {"issues": "issues_only", "pull_request": "pull_request_only"}
SLACK: Final = ("channel", "username", "icon_url", "color")


@redacted
class HookForm(msgspec.Struct, frozen=True):
    """What was typed; a checkbox that is not ticked is empty."""

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
    """Return the form of a webhook there is; what is secret stays empty."""
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


def body_of(form: HookForm, kept: Hook | None = None) -> dict[str, Any]:
    """Return what the API is asked: for a new webhook everything, for one there is what the form can change.

    Events that a client asked for and the form does not offer stay.
    """
    kind = KINDS.get(form.type if kept is None else kept.type)
    if kind is None:
        raise ApiError(422, "Choose where the webhook sends to")
    asked = [] if kept is None else kept.events.split(",")
    others = [event for event in asked if event not in OFFERED]
    chosen = [ALONE.get(event, event) for event in form.events if event in OFFERED]
    if not chosen and not others:
        raise ApiError(422, "Choose at least one event")
    config = {"url": form.url.strip(), "content_type": form.content_type or "json"}
    if form.drop_secret:
        config["secret"] = ""
    elif form.secret:
        config["secret"] = form.secret
    if "slack" in kind.fields:
        config |= {key: getattr(form, key).strip() for key in SLACK}
    body: dict[str, Any] = {
        "config": config,
        "events": [*chosen, *others],
        "branch_filter": form.branch_filter.strip(),
        "active": bool(form.active),
        "name": form.name,
    }
    if form.drop_authorization:
        body["authorization_header"] = ""
    elif form.authorization:
        body["authorization_header"] = form.authorization
    if kept is None:
        body["type"] = kind.type
        config["is_system_webhook"] = "true" if form.system else "false"
    return body
