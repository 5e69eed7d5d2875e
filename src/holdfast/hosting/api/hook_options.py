"""What clients say about a webhook they make or change, and every rule it must keep."""

import re
from typing import Annotated, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.hosting.errors import EventRefused, PatternRefused
from holdfast.hosting.http.decoders import Required
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.store.encryption import Sealer
from holdfast.hosting.store.event_types import expanded
from holdfast.hosting.store.globs import compile_glob
from holdfast.hosting.store.hooks import Hook
from holdfast.http_client.errors import InvalidUrl
from holdfast.http_client.urls import HttpUrl, without_credentials
from holdfast.redacted_repr import redacted

__all__ = ["TYPES", "CreateHookOption", "EditHookOption", "changed_columns", "is_system", "new_columns"]

TYPES: Final = (
    *("gitea", "gogs", "slack", "discord", "dingtalk", "telegram"),
    *("msteams", "feishu", "matrix", "wechatwork", "packagist"),
)
CONTENT_TYPES: Final = ("json", "form")
SLACK: Final = ("channel", "username", "icon_url", "color")
# What other programs take for true and false.
TRUE: Final = frozenset({"1", "t", "T", "true", "TRUE", "True"})
FALSE: Final = frozenset({"0", "f", "F", "false", "FALSE", "False"})
LONGEST: Final = 2048
ABSOLUTE: Final = re.compile(r"https?://[^\s\x00-\x20\x7f\\]+", re.IGNORECASE)
NUMERIC_PORT: Final = re.compile(r"(?:\[[^\]]*\]|[^:\[\]]*)(?::[0-9]*)?")
# A header ends at a line's end; whoever could write one there could write any header.
HEADER: Final = re.compile(r"[\x20-\x7e\x80-\xff\t]*")

Columns = dict[str, str | int | bool]
BranchFilter = Annotated[str, Meta(max_length=255)]
Name = Annotated[str, Meta(max_length=255)]
Authorization = Annotated[str, Meta(max_length=4096)]


@redacted
class CreateHookOption(msgspec.Struct, frozen=True):
    """A new webhook; it is not active unless that is said."""

    type: Annotated[str, Required] = ""
    config: Annotated[dict[str, str] | UnsetType, Required] = UNSET
    events: list[str] = []
    branch_filter: BranchFilter = ""
    authorization_header: Authorization = ""
    active: bool = False
    name: Name = ""


@redacted
class EditHookOption(msgspec.Struct, frozen=True):
    """What to change; a key that is absent keeps its value, in `config` too."""

    config: dict[str, str] | UnsetType = UNSET
    events: list[str] | UnsetType = UNSET
    branch_filter: BranchFilter | UnsetType = UNSET
    authorization_header: Authorization | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    name: Name | UnsetType = UNSET


def new_columns(body: CreateHookOption, sealer: Sealer) -> Columns:
    """Check a new webhook, in the order clients expect, and return what is kept of it."""
    config = {} if body.config is UNSET else body.config
    check_filter(body.branch_filter)
    check_header(body.authorization_header)
    if body.type not in TYPES:
        raise ApiError(422, f"Invalid hook type: {body.type[:100]}")
    for key in ("url", "content_type"):
        if key not in config:
            raise ApiError(422, f"Missing config option: {key}")
    check_content_type(config["content_type"])
    url, credentials = checked_url(config["url"])
    is_system(config)
    check_lengths(config)
    meta = slack_meta(config) if body.type == "slack" else {}
    return {
        "type": body.type,
        "name": body.name.strip(),
        "url": url,
        "content_type": config["content_type"],
        "secret": sealer.seal(config.get("secret", "")),
        "authorization": sealer.seal(body.authorization_header or credentials),
        "meta": msgspec.json.encode(meta).decode(),
        "events": ",".join(wanted_events(body.events)),
        "branch_filter": body.branch_filter,
        "is_active": body.active,
    }


def changed_columns(hook: Hook, body: EditHookOption, sealer: Sealer) -> Columns:
    """Check what is to be changed of a webhook, and return the columns that are."""
    columns: Columns = {}
    if body.branch_filter is not UNSET:
        check_filter(body.branch_filter)
        columns["branch_filter"] = body.branch_filter
    if body.authorization_header is not UNSET:
        check_header(body.authorization_header)
        columns["authorization"] = sealer.seal(body.authorization_header)
    if body.config is not UNSET:
        columns |= changed_config(hook, body.config, columns, sealer)
    if body.events is not UNSET:
        columns["events"] = ",".join(wanted_events(body.events))
    if body.active is not UNSET:
        columns["is_active"] = body.active
    if body.name is not UNSET:
        columns["name"] = body.name.strip()
    return columns


def changed_config(hook: Hook, config: dict[str, str], columns: Columns, sealer: Sealer) -> Columns:
    """Check the keys of `config` that are given, and return the columns they change."""
    changed: Columns = {}
    if "content_type" in config:
        check_content_type(config["content_type"])
        changed["content_type"] = config["content_type"]
    if "url" in config:
        url, credentials = checked_url(config["url"])
        changed["url"] = url
        if credentials and not columns.get("authorization"):
            changed["authorization"] = sealer.seal(credentials)
    of_service = hook.scope in {"system", "default"} and "is_system_webhook" in config
    if of_service and is_system(config) != (hook.scope == "system"):
        raise ApiError(422, "is_system_webhook cannot change; make another hook")
    check_lengths(config)
    if hook.type == "slack":
        kept = msgspec.json.decode(hook.meta, type=dict[str, str])
        changed["meta"] = msgspec.json.encode(slack_meta({**kept, **config})).decode()
    if "secret" in config:
        changed["secret"] = sealer.seal(config["secret"])
    return changed


def check_filter(branch_filter: str) -> None:
    """Refuse a filter that is no pattern."""
    try:
        compile_glob(branch_filter)
    except PatternRefused as error:
        raise ApiError(422, f"[BranchFilter]: {error}") from None


def check_header(authorization: str) -> None:
    """Refuse what cannot be sent in a header."""
    if not HEADER.fullmatch(authorization):
        raise ApiError(422, "[AuthorizationHeader]: must be one line of text that a header can hold")


def check_content_type(content_type: str) -> None:
    """Refuse a form of body there is none of."""
    if content_type not in CONTENT_TYPES:
        raise ApiError(422, "Invalid content type")


def check_lengths(config: dict[str, str]) -> None:
    """Refuse what is longer than anybody needs."""
    for key in ("secret", *SLACK):
        if len(config.get(key, "")) > LONGEST:
            raise ApiError(422, f"[Config]: {key} must have at most {LONGEST} characters")


def checked_url(url: str) -> tuple[str, str]:
    """Return an address without its credentials, and those as an Authorization header has them."""
    if not ABSOLUTE.fullmatch(url):
        raise ApiError(422, "Invalid url")
    try:
        place = urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        raise ApiError(422, "Invalid url") from None
    if not place or not NUMERIC_PORT.fullmatch(place):
        raise ApiError(422, "Invalid url")
    if len(url) > LONGEST:
        raise ApiError(422, f"Invalid url: it must have at most {LONGEST} characters")
    try:
        credentials = HttpUrl.parse(url).credentials
    except InvalidUrl as error:
        raise ApiError(422, f"Invalid url: {error}") from None
    return without_credentials(url), credentials


def is_system(config: dict[str, str]) -> bool:
    """Tell whether a hook is to be told of everything, which only a hook of the whole service can be."""
    given = config.get("is_system_webhook", "")
    if given and given not in TRUE | FALSE:
        raise ApiError(422, "Invalid is_system_webhook value")
    return given in TRUE


def slack_meta(config: dict[str, str]) -> dict[str, str]:
    """Return what only hooks for Slack have."""
    if "channel" not in config:
        raise ApiError(422, "Missing config option: channel")
    channel = config["channel"].strip()
    if not channel:
        raise ApiError(400, "Invalid slack channel name")
    return {"channel": channel, **{key: config.get(key, "") for key in SLACK[1:]}}


def wanted_events(names: list[str]) -> tuple[str, ...]:
    """Return the events some names stand for."""
    try:
        return expanded(names)
    except EventRefused as error:
        raise ApiError(422, f"[Events]: {error}") from None
