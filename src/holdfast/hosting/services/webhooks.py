"""Webhooks of a repository, an organization, a user or the service: list, create, edit, delete, test, resume."""

import re
from typing import Final, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, UnsetType
from sqlalchemy import ColumnElement, true

from holdfast.hosting.access import Actor, WebhookOwner, require_webhook_admin
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    EventRefused,
    InvalidField,
    InvalidValue,
    InvalidWebhookOption,
    NoSuchRef,
    NoSuchRepository,
    PatternRefused,
    RepositoryEmpty,
    SlackChannelRequired,
    Violation,
    WebhooksDisabled,
)
from holdfast.hosting.git import refs
from holdfast.hosting.store import deliveries, hooks, repositories
from holdfast.hosting.store.encryption import SecretCipher
from holdfast.hosting.store.event_types import expand_events
from holdfast.hosting.store.globs import compile_glob
from holdfast.hosting.store.hooks import Hook, HookOwner, HookSummary
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import repositories as table
from holdfast.hosting.webhooks.payloads.pushes import read_push
from holdfast.http_client.errors import InvalidUrl
from holdfast.http_client.urls import HttpUrl, without_credentials
from holdfast.redacted_repr import redacted

__all__ = [
    "MAX_AUTHORIZATION",
    "MAX_NAME",
    "SLACK_OPTIONS",
    "TYPES",
    "NewWebhook",
    "WebhookEdit",
    "create",
    "delete",
    "edit",
    "find",
    "list_webhooks",
    "require_enabled",
    "resume",
    "send_test",
]

TYPES: Final = (
    *("gitea", "gogs", "slack", "discord", "dingtalk", "telegram"),
    *("msteams", "feishu", "matrix", "wechatwork", "packagist"),
)
CONTENT_TYPES: Final = ("json", "form")
SLACK_OPTIONS: Final = ("channel", "username", "icon_url", "color")
MAX_NAME: Final = 255
MAX_AUTHORIZATION: Final = 4096
MAX_OPTION: Final = 2048
ABSOLUTE_URL: Final = re.compile(r"https?://[^\s\x00-\x20\x7f\\]+", re.IGNORECASE)
NUMERIC_PORT: Final = re.compile(r"(?:\[[^\]]*\]|[^:\[\]]*)(?::[0-9]*)?")
# No line breaks, to prevent header injection.
HEADER_VALUE: Final = re.compile(r"[\x20-\x7e\x80-\xff\t]*")

Columns = dict[str, str | int | bool]


@redacted
class NewWebhook(msgspec.Struct, frozen=True, kw_only=True):
    """A webhook to create; UNSET options were not given."""

    type: str
    url: str | UnsetType = UNSET
    content_type: str | UnsetType = UNSET
    secret: str = ""
    authorization: str = ""
    channel: str | UnsetType = UNSET
    username: str | UnsetType = UNSET
    icon_url: str | UnsetType = UNSET
    color: str | UnsetType = UNSET
    events: tuple[str, ...] = ()
    branch_filter: str = ""
    is_active: bool = False
    name: str = ""
    is_system: bool | None = False
    """Whether a webhook of the service receives every event; None for a value that is not a boolean."""


@redacted
class WebhookEdit(msgspec.Struct, frozen=True, kw_only=True):
    """Changes to a webhook; UNSET options keep their value."""

    url: str | UnsetType = UNSET
    content_type: str | UnsetType = UNSET
    secret: str | UnsetType = UNSET
    channel: str | UnsetType = UNSET
    username: str | UnsetType = UNSET
    icon_url: str | UnsetType = UNSET
    color: str | UnsetType = UNSET
    is_system: bool | UnsetType | None = UNSET
    authorization: str | UnsetType = UNSET
    events: tuple[str, ...] | UnsetType = UNSET
    branch_filter: str | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET
    name: str | UnsetType = UNSET


def require_enabled(app: App) -> None:
    """Raise `WebhooksDisabled` if the settings disable webhooks."""
    if not app.settings.webhooks:
        raise WebhooksDisabled


def authorize(app: App, actor: Actor, owner: WebhookOwner) -> HookOwner:
    """Return the owner as a `HookOwner`; raise an error unless the actor may manage its webhooks."""
    require_webhook_admin(actor, owner)
    require_enabled(app)
    return owner.stored


def list_webhooks(
    app: App,
    actor: Actor,
    owner: WebhookOwner,
    *,
    skip: int,
    limit: int,
    scope: Literal["system", "default"] | None = None,
) -> tuple[list[HookSummary], int]:
    """Return one page of the webhooks, oldest first, and the total; `scope` is for those of the service."""
    return hooks.hooks_of(app.database, authorize(app, actor, owner), skip=skip, limit=limit, scope=scope)


def find(app: App, actor: Actor, owner: WebhookOwner, webhook_id: int) -> Hook:
    """Return a webhook; raise `NoSuchHook` if the owner has none with that id."""
    return hooks.find_hook(app.database, authorize(app, actor, owner), webhook_id)


def create(app: App, actor: Actor, owner: WebhookOwner, new: NewWebhook) -> Hook:
    """Create a webhook."""
    stored = authorize(app, actor, owner)
    columns = new_columns(new, app.cipher)
    return hooks.add_hook(app.database, stored, columns, is_system=bool(new.is_system))


def edit(app: App, actor: Actor, owner: WebhookOwner, webhook_id: int, changes: WebhookEdit) -> Hook:
    """Edit a webhook."""
    stored = authorize(app, actor, owner)
    hook = hooks.find_hook(app.database, stored, webhook_id)
    columns = changed_columns(hook, changes, app.cipher)
    if "authorization" in columns:
        columns["inherits_header"] = False
    elif not actor.is_admin:
        check_inherited(hook, str(columns.get("url", hook.url)))
    return hooks.change_hook(app.database, stored, hook, columns)


def check_inherited(hook: Hook, url: str) -> None:
    """Raise `InvalidWebhookOption` if a URL would send the header of a default webhook to another host.

    Every new repository has a copy of the default webhooks, whose headers only site administrators know.
    """
    if hook.inherits_header and origin_of(hook.url) != origin_of(url):
        reason = "is on another host, and an administrator has set the authorization header; enter or remove it"
        message = "Invalid url: another host needs an authorization_header, as an administrator has set this one"
        raise InvalidWebhookOption("url", reason, message)


def origin_of(url: str) -> tuple[str, str]:
    """Return scheme, host and port of a URL."""
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.lower()


def delete(app: App, actor: Actor, owner: WebhookOwner, webhook_id: int) -> None:
    """Delete a webhook with its deliveries."""
    hooks.remove_hook(app.database, find(app, actor, owner, webhook_id))


def resume(app: App, actor: Actor, owner: WebhookOwner, webhook_id: int) -> Hook:
    """Resume a paused webhook: pending deliveries are due at once."""
    stored = authorize(app, actor, owner)
    return hooks.resume_hook(app.database, stored, hooks.find_hook(app.database, stored, webhook_id))


def send_test(
    app: App, actor: Actor, owner: WebhookOwner, webhook_id: int, *, ref: str = "", repository: str = ""
) -> None:
    """Queue a push event without new commits for one webhook.

    `ref` is a branch, a tag or a commit, by default the default branch. `repository` is for webhooks that receive
    the events of several; by default it is the most recently pushed one.
    """
    user = require_webhook_admin(actor, owner)
    stored = authorize(app, actor, owner)
    hook = hooks.find_hook(app.database, stored, webhook_id)
    target = repository_for_test(app, stored, repository)
    if target.is_empty:
        raise RepositoryEmpty
    resolved = refs.resolve(app.copies.open(target), ref, target.default_branch)
    if resolved is None:
        raise NoSuchRef(f"ref does not exist: {ref or target.default_branch}")
    full_name = {"branch": "refs/heads/", "tag": "refs/tags/", "commit": ""}[resolved.kind] + resolved.name
    deliveries.record_for_hook(
        app.database,
        hook.id,
        "push",
        is_active=hook.is_active,
        owner_id=target.owner.id,
        repository_id=target.id,
        actor_id=user.id,
        details={
            "ref": full_name,
            "before": resolved.commit,
            "after": resolved.commit,
            "ref_type": "tag" if resolved.kind == "tag" else "branch",
        },
        preloaded=read_push(app, target, RefUpdate(full_name, resolved.commit, resolved.commit)),
    )


def repository_for_test(app: App, owner: HookOwner, name: str) -> Repository:
    """Return the repository of a test: the owner itself, the one named, or the most recently pushed one."""
    if owner.kind == "repository":
        return repositories.repository_by_id(app.database, owner.number)
    conditions: list[ColumnElement[bool]] = [table.c.owner_id == owner.number if owner.kind == "owner" else true()]
    if name:
        owner_name, _, last = name.rpartition("/")
        conditions.append(table.c.folded_name == last.casefold())
        if owner_name:
            conditions.append(repositories.owned_by_name(owner_name))
        elif owner.kind == "service":
            raise InvalidValue("Repository", "must be an owner and a name, such as ada/notes")
    else:
        conditions.append(~table.c.is_empty)
    owned_repositories, _ = repositories.list_repositories(
        app.database, conditions, sort="pushed", descending=True, skip=0, limit=1
    )
    if not owned_repositories:
        if name:
            raise NoSuchRepository(f"repository does not exist: {name}")
        raise NoSuchRepository("there is no repository with commits to try it with")
    return owned_repositories[0]


def new_columns(new: NewWebhook, cipher: SecretCipher) -> Columns:
    """Validate a new webhook, in the order of Gitea's checks, and return its row."""
    check_texts(new)
    if new.type not in TYPES:
        raise InvalidWebhookOption("type", "is not a known type", f"Invalid hook type: {new.type[:100]}")
    for option, value in (("url", new.url), ("content_type", new.content_type)):
        if value is UNSET:
            raise InvalidWebhookOption(option, "is required", f"Missing config option: {option}")
    content_type = checked_content_type(text_of(new.content_type))
    url, credentials = checked_url(text_of(new.url))
    check_is_system(is_system=new.is_system)
    check_lengths(new)
    meta = slack_options(new, {}) if new.type == "slack" else {}
    return {
        "type": new.type,
        "name": new.name.strip(),
        "url": url,
        "content_type": content_type,
        "secret": cipher.encrypt(new.secret),
        "authorization": cipher.encrypt(new.authorization or credentials),
        "meta": msgspec.json.encode(meta).decode(),
        "events": ",".join(checked_events(new.events)),
        "branch_filter": new.branch_filter,
        "is_active": new.is_active,
    }


def changed_columns(hook: Hook, changes: WebhookEdit, cipher: SecretCipher) -> Columns:
    """Validate changes to a webhook, and return the columns to update."""
    check_texts(changes)
    columns: Columns = {}
    if changes.branch_filter is not UNSET:
        columns["branch_filter"] = changes.branch_filter
    if changes.authorization is not UNSET:
        columns["authorization"] = cipher.encrypt(changes.authorization)
    columns |= changed_config(hook, changes, columns, cipher)
    if changes.events is not UNSET:
        columns["events"] = ",".join(checked_events(changes.events))
    if changes.is_active is not UNSET:
        columns["is_active"] = changes.is_active
    if changes.name is not UNSET:
        columns["name"] = changes.name.strip()
    return columns


def changed_config(hook: Hook, changes: WebhookEdit, columns: Columns, cipher: SecretCipher) -> Columns:
    """Validate options of a type, and return the columns to update."""
    changed: Columns = {}
    if changes.content_type is not UNSET:
        changed["content_type"] = checked_content_type(changes.content_type)
    if changes.url is not UNSET:
        changed["url"], credentials = checked_url(changes.url)
        if credentials and not columns.get("authorization"):
            changed["authorization"] = cipher.encrypt(credentials)
    if hook.scope in {"system", "default"} and changes.is_system is not UNSET:
        check_is_system(is_system=changes.is_system)
        if changes.is_system != (hook.scope == "system"):
            message = "is_system_webhook cannot change; make another hook"
            raise InvalidWebhookOption("is_system_webhook", "cannot be changed", message)
    check_lengths(changes)
    if hook.type == "slack":
        options = msgspec.json.decode(hook.meta, type=dict[str, str])
        changed["meta"] = msgspec.json.encode(slack_options(changes, options)).decode()
    if changes.secret is not UNSET:
        changed["secret"] = cipher.encrypt(changes.secret)
    return changed


def text_of(value: str | UnsetType) -> str:
    """Return the text of an option; empty if it was not given."""
    return "" if value is UNSET else value


def check_texts(webhook: NewWebhook | WebhookEdit) -> None:
    """Validate the fields that every type of webhook has."""
    limits = (
        ("Name", webhook.name, MAX_NAME),
        ("BranchFilter", webhook.branch_filter, MAX_NAME),
        ("AuthorizationHeader", webhook.authorization, MAX_AUTHORIZATION),
    )
    for field, value, limit in limits:
        if value is not UNSET and len(value) > limit:
            raise InvalidField(field, Violation.TOO_LONG, limit)
    try:
        compile_glob(text_of(webhook.branch_filter))
    except PatternRefused as error:
        raise InvalidValue("BranchFilter", str(error)) from None
    if not HEADER_VALUE.fullmatch(text_of(webhook.authorization)):
        raise InvalidValue("AuthorizationHeader", "must be one line of text that a header can hold")


def checked_content_type(content_type: str) -> str:
    """Return the content type of the body, `json` or `form`."""
    if content_type not in CONTENT_TYPES:
        raise InvalidWebhookOption("content_type", "must be json or form", "Invalid content type")
    return content_type


def check_lengths(webhook: NewWebhook | WebhookEdit) -> None:
    """Validate the length of the options that have no other rule."""
    for option in ("secret", *SLACK_OPTIONS):
        if len(text_of(getattr(webhook, option))) > MAX_OPTION:
            raise InvalidValue("Config", f"{option} must have at most {MAX_OPTION} characters")


def checked_url(url: str) -> tuple[str, str]:
    """Return a URL without its credentials, and those as the value of an Authorization header."""
    try:
        place = urlsplit(url).netloc.rpartition("@")[2] if ABSOLUTE_URL.fullmatch(url) else ""
    except ValueError:
        place = ""
    if not place or not NUMERIC_PORT.fullmatch(place):
        raise InvalidWebhookOption("url", "must begin with https:// or http:// and name a host", "Invalid url")
    if len(url) > MAX_OPTION:
        reason = f"it must have at most {MAX_OPTION} characters"
        raise InvalidWebhookOption("url", reason, f"Invalid url: {reason}")
    try:
        credentials = HttpUrl.parse(url).credentials
    except InvalidUrl as error:
        raise InvalidWebhookOption("url", str(error), f"Invalid url: {error}") from None
    return without_credentials(url), credentials


def check_is_system(*, is_system: bool | None) -> None:
    """Raise `InvalidWebhookOption` unless a client's value was a boolean."""
    if is_system is None:
        raise InvalidWebhookOption("is_system_webhook", "must be true or false", "Invalid is_system_webhook value")


def slack_options(webhook: NewWebhook | WebhookEdit, existing: dict[str, str]) -> dict[str, str]:
    """Return the options of a webhook for Slack, which needs a channel."""
    chosen = {option: value for option in SLACK_OPTIONS if (value := getattr(webhook, option)) is not UNSET}
    options = {**existing, **chosen}
    if "channel" not in options:
        raise InvalidWebhookOption("channel", "is required", "Missing config option: channel")
    channel = options["channel"].strip()
    if not channel:
        raise SlackChannelRequired
    return {"channel": channel, **{option: options.get(option, "") for option in SLACK_OPTIONS[1:]}}


def checked_events(names: tuple[str, ...]) -> tuple[str, ...]:
    """Expand event names to events; raise an error for an unknown name."""
    try:
        return expand_events(names)
    except EventRefused as error:
        raise InvalidValue("Events", str(error)) from None
