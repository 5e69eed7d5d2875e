"""The settings of the service: types, defaults, loading and validation.

A setting comes from, in this order: the command line, an environment variable `HOLDFAST_<NAME>`, a TOML file
(`HOLDFAST_CONFIG`, or `--config`), its default. An invalid value is refused at start with the setting's name, the
given value and the allowed values; an unknown name is refused too, since a misspelt setting that is silently
ignored is how data ends up in the wrong place.
"""

import difflib
import ipaddress
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta
from platformdirs import user_data_path

from holdfast.errors import HoldfastError
from holdfast.secret import MASK, Secret

__all__ = ["LoadedSettings", "Setting", "SettingError", "Settings", "describe", "load"]

PREFIX: Final = "HOLDFAST_"
CONFIG: Final = "HOLDFAST_CONFIG"
# Names with our prefix that are not settings of the service: options of commands, and variables of tests.
NOT_SETTINGS: Final = (
    CONFIG,
    "HOLDFAST_ARCHIVE_PASSPHRASE",
    "HOLDFAST_KEY",
    "HOLDFAST_SERVER",
    "HOLDFAST_TOKEN",
    "HOLDFAST_CORPUS",
    "HOLDFAST_TEST_",
)
SHORTEST_KEY: Final = 32
HOST_PATTERN: Final = re.compile(r"[\w*?.:-]+")
ROOT_URL: Final = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*[^\s?#/])?")


class SettingError(HoldfastError):
    """A setting has an invalid value or an unknown name."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of the service; each description is its documentation."""

    data: Annotated[
        Path, Meta(description="The data folder: database, repositories and all other files of the instance.")
    ] = msgspec.field(default_factory=lambda: user_data_path("holdfast"))
    host: Annotated[str, Meta(min_length=1, description="The address to listen on.")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="The port to listen on; 0 chooses a free port.")] = 3000
    database_url: Annotated[
        Secret | None,
        Meta(description="The URL of a PostgreSQL database; if unset, SQLite in the data folder is used."),
    ] = None
    database_connections: Annotated[
        int,
        Meta(ge=2, le=1000, description="Maximum number of PostgreSQL connections per worker process."),
    ] = 10
    admin_name: Annotated[
        str,
        Meta(min_length=1, description="The user name of the administrator that is created at the first start."),
    ] = "admin"
    admin_password: Annotated[
        Secret | None,
        Meta(
            description="The password of that administrator; if unset, a random password is generated and printed "
            "once.",
        ),
    ] = None
    root_url: Annotated[
        str | None,
        Meta(description="The public URL of the instance; if unset, the Host header of each request is used."),
    ] = None
    workers: Annotated[
        int, Meta(ge=0, le=256, description="Number of worker processes; 0 means one per CPU core.")
    ] = 0
    trusted_proxies: Annotated[
        str,
        Meta(
            min_length=1,
            description="Addresses or networks of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto "
            "headers are trusted, separated by commas.",
        ),
    ] = "127.0.0.1"
    metrics_token: Annotated[
        Secret | None,
        Meta(description="The bearer token for /metrics; if unset, metrics are served to this machine only."),
    ] = None
    otlp_endpoint: Annotated[
        Secret | None,
        Meta(
            description="The URL of an OpenTelemetry collector (OTLP over HTTP) for traces; if unset, tracing is "
            "off.",
        ),
    ] = None
    gc_hours: Annotated[
        int,
        Meta(
            ge=0,
            le=8760,
            description="Interval in hours of the garbage collection, which deletes the objects of deleted "
            "branches after their retention; 0 turns it off.",
        ),
    ] = 24
    ref_retention_days: Annotated[
        int,
        Meta(
            ge=0,
            le=36_500,
            description="Number of days in which a deleted or force-pushed branch can be restored, at least an "
            "hour.",
        ),
    ] = 90
    local_copies_mb: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000_000,
            description="Maximum size in MiB of the local copies of repositories. The least recently used are "
            "evicted, and restored from the object store when they are needed. 0 means no limit.",
        ),
    ] = 0
    archive_cache_mb: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000_000,
            description="Maximum size in MiB of the cache of repository archives (zip, tar.gz). The least "
            "recently used are evicted. 0 turns the cache off.",
        ),
    ] = 1024
    archive_max_files: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000_000,
            description="Maximum number of files and directories in an archive (zip, tar.gz) of a commit.",
        ),
    ] = 500_000
    archive_max_mb: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000_000,
            description="Maximum size in MiB of the files in an archive of a commit, before compression.",
        ),
    ] = 4096
    clone_cache_mb: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000_000,
            description="Maximum size in MiB of the cache of responses to clones. The least recently used are "
            "evicted. 0 turns the cache off.",
        ),
    ] = 1024
    max_connections: Annotated[
        int, Meta(ge=1, le=65_536, description="Maximum number of open connections per worker process.")
    ] = 4096
    max_connections_per_address: Annotated[
        int,
        Meta(
            ge=1,
            le=65_536,
            description="Maximum number of open connections per client address and worker process; trusted "
            "proxies are exempt.",
        ),
    ] = 256
    header_timeout: Annotated[
        int, Meta(ge=1, le=3600, description="Seconds in which a client must send the headers of a request.")
    ] = 30
    keep_alive_timeout: Annotated[
        int, Meta(ge=1, le=3600, description="Seconds after which an idle connection is closed.")
    ] = 60
    body_timeout: Annotated[
        int,
        Meta(
            ge=1,
            le=3600,
            description="Seconds in which at least 1 KiB of a request body must arrive; a client that reads "
            "nothing of a response for twice as long is disconnected.",
        ),
    ] = 60
    login_failures: Annotated[
        int,
        Meta(
            ge=1,
            le=10_000,
            description="Number of wrong passwords for one user name from one address, after which further "
            "attempts are refused.",
        ),
    ] = 10
    login_failure_minutes: Annotated[
        int, Meta(ge=1, le=1440, description="Minutes for which a wrong password counts.")
    ] = 15
    password_hash_concurrency: Annotated[
        int,
        Meta(
            ge=1,
            le=64,
            description="Number of password hashes that a worker process computes at the same time; each takes 64 "
            "MiB of memory.",
        ),
    ] = 2
    ssh: Annotated[bool, Meta(description="Serve git over SSH as well, on a port of its own.")] = False
    ssh_port: Annotated[
        int,
        Meta(
            ge=0, le=65535, description="The port SSH listens on, at the address of host; 0 chooses a free port."
        ),
    ] = 2222
    ssh_url_port: Annotated[
        int | None,
        Meta(
            ge=1,
            le=65535,
            description="The port in SSH clone URLs, if it differs from ssh_port (port forwarding); if unset, "
            "ssh_port.",
        ),
    ] = None
    ssh_user: Annotated[
        str, Meta(min_length=1, description="The user name in SSH clone URLs, which all users log in with.")
    ] = "git"
    ssh_login_timeout: Annotated[
        int, Meta(ge=1, le=3600, description="Seconds in which an SSH client must log in.")
    ] = 30
    ssh_max_connections: Annotated[
        int,
        Meta(ge=1, le=65_536, description="Maximum number of SSH connections, and of sessions, at the same time."),
    ] = 256
    ssh_max_connections_per_address: Annotated[
        int,
        Meta(
            ge=1,
            le=65_536,
            description="Maximum number of SSH connections per client address; trusted proxies are exempt.",
        ),
    ] = 32
    sign_up: Annotated[bool, Meta(description="Allow visitors to register an account.")] = False
    allow_cross_repository_dependencies: Annotated[
        bool, Meta(description="Allow issues to depend on issues of other repositories.")
    ] = True
    cors_origins: Annotated[
        str,
        Meta(
            min_length=1,
            description="Origins whose scripts may use the API (CORS), separated by commas; * allows all.",
        ),
    ] = "*"
    max_push_mb: Annotated[int, Meta(ge=1, le=1_048_576, description="Maximum size of a push in MiB.")] = 2048
    max_lfs_mb: Annotated[
        int,
        Meta(ge=1, le=1_048_576, description="Maximum size of an LFS object, and of a file of a release, in MiB."),
    ] = 16_384
    allow_missing_lfs_objects: Annotated[
        bool,
        Meta(
            description="Accept pushes of LFS pointers whose objects were not uploaded; clones of such a "
            "repository are incomplete.",
        ),
    ] = False
    max_file_mb: Annotated[
        int, Meta(ge=1, le=4096, description="Maximum size of the files in one API request in MiB.")
    ] = 100
    durable_writes: Annotated[
        bool,
        Meta(
            description="Sync a commit made through the API to disk (fsync) before the response is sent; without "
            "it commits are faster, and a power failure can lose the most recent ones.",
        ),
    ] = True
    posted_reads_need_write: Annotated[
        bool,
        Meta(
            description="Require write permission to read the contents of several files with POST; if disabled, "
            "read permission is enough, as in Gitea.",
        ),
    ] = True
    chat_imports_by_visitors: Annotated[
        bool,
        Meta(description="Read chat backups in public repositories for visitors who are not logged in."),
    ] = False
    chat_imports_per_hour: Annotated[
        int,
        Meta(
            ge=1,
            le=100_000,
            description="Maximum number of chat backups that are read per hour for one user or address.",
        ),
    ] = 60
    chat_import_memory_mb: Annotated[
        int,
        Meta(
            ge=128,
            le=1_048_576,
            description="Maximum memory of the process that reads a chat backup in MiB; a conversation of an "
            "encrypted backup may take a quarter of it.",
        ),
    ] = 1024
    chat_import_seconds: Annotated[
        int, Meta(ge=1, le=86_400, description="Maximum time in seconds for reading a chat backup.")
    ] = 600
    chat_import_output_mb: Annotated[
        int,
        Meta(
            ge=1,
            le=1_048_576,
            description="Maximum size in MiB of a chat backup that is shown, and of what is extracted from it.",
        ),
    ] = 1024
    chat_cache_mb: Annotated[
        int,
        Meta(
            ge=1,
            le=16_777_216,
            description="Maximum size in MiB of the cache of conversations in the data folder.",
        ),
    ] = 4096
    chat_cache_owner_mb: Annotated[
        int,
        Meta(
            ge=1,
            le=16_777_216,
            description="Maximum share of that cache in MiB for the repositories and uploads of one owner.",
        ),
    ] = 2048
    chat_storage_mb: Annotated[
        int,
        Meta(
            ge=0,
            le=16_777_216,
            description="Maximum size in MiB of the chat backups that one user may upload; 0 turns uploads off.",
        ),
    ] = 10_240
    s3_bucket: Annotated[
        str | None,
        Meta(
            description="The S3 bucket for repositories, LFS objects, attachments and uploads; if unset, they are "
            "stored in the data folder.",
        ),
    ] = None
    s3_endpoint: Annotated[str | None, Meta(description="The URL of the S3 service, if it is not Amazon's.")] = (
        None
    )
    s3_region: Annotated[str, Meta(min_length=1, description="The region of the bucket.")] = "us-east-1"
    s3_access_key: Annotated[Secret | None, Meta(description="The access key ID for the bucket.")] = None
    s3_secret_key: Annotated[Secret | None, Meta(description="The secret access key for the bucket.")] = None
    secret_key: Annotated[
        Secret | None,
        Meta(
            description="The key that encrypts secrets in the database (of webhooks, mirrors, two-factor "
            "authentication and the SSH host key). To rotate it, separate several keys by commas: the "
            "first encrypts, all decrypt. If unset, the file secret.key in the data folder is used.",
        ),
    ] = None
    webhooks: Annotated[
        bool, Meta(description="Enable webhooks; if disabled, none can be created and none is sent.")
    ] = True
    webhook_tries: Annotated[
        int,
        Meta(
            ge=1, le=30, description="Number of failed attempts of a delivery after which the webhook is paused."
        ),
    ] = 8
    webhook_timeout: Annotated[
        int, Meta(ge=1, le=25, description="Timeout of a delivery in seconds, including redirects.")
    ] = 10
    webhook_history_days: Annotated[
        int, Meta(ge=1, le=3650, description="Number of days for which finished deliveries are kept.")
    ] = 7
    webhook_allowed_hosts: Annotated[
        str,
        Meta(
            min_length=1,
            description="Hosts webhooks may be sent to, separated by commas: external (the public internet), "
            "private, loopback, networks, patterns of host names, or *.",
        ),
    ] = "external"
    webhook_verify_tls: Annotated[bool, Meta(description="Verify the TLS certificates of webhook receivers.")] = (
        True
    )
    webhook_proxy_url: Annotated[
        Secret | None,
        Meta(description="The URL of an HTTP proxy for webhooks, which then decides which hosts can be reached."),
    ] = None
    webhook_proxy_hosts: Annotated[
        str,
        Meta(
            min_length=1,
            description="Patterns of the hosts that are reached through the proxy, separated by commas.",
        ),
    ] = "*"
    webhook_senders: Annotated[
        int, Meta(ge=1, le=1000, description="Maximum number of deliveries at the same time.")
    ] = 100
    migration_allowed_hosts: Annotated[
        str,
        Meta(
            min_length=1,
            description="Hosts repositories may be migrated and mirrored from and to, separated by commas: "
            "external (the public internet), private, loopback, networks, patterns of host names, or "
            "*.",
        ),
    ] = "external"
    migration_timeout: Annotated[
        int,
        Meta(ge=1, le=86_400, description="Maximum time in seconds for fetching a repository from another host."),
    ] = 3600
    migration_max_mb: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000,
            description="Maximum size of a migrated repository in MiB; its release files and LFS objects together "
            "may take as much again.",
        ),
    ] = 4096
    demo: Annotated[
        bool, Meta(description="Create demo content at the first start, if the data folder is empty.")
    ] = False
    session_days: Annotated[int, Meta(ge=1, le=3650, description="Number of days a browser stays logged in.")] = 30
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="The minimum level of logged events.")
    ] = "info"
    log_format: Annotated[
        Literal["text", "json"], Meta(description="The format of log lines: text for people, json for programs.")
    ] = "text"


@dataclass(frozen=True, slots=True)
class Setting:
    """The metadata of a setting: description, allowed values and default."""

    name: str
    description: str
    allowed: str
    default: str
    secret: bool

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return PREFIX + self.name.upper()


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The effective settings, and the source of each."""

    settings: Settings
    sources: Mapping[str, str]

    def shown(self, name: str) -> str:
        """Return a setting's value for display, with secrets masked."""
        return show(getattr(self.settings, name))


def show(value: object) -> str:
    """Format a value as it would be written in a setting; secrets are masked."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def describe() -> tuple[Setting, ...]:
    """Return all settings with their descriptions, allowed values and defaults."""
    hints = get_type_hints(Settings, include_extras=True)
    defaults = Settings(data=Path("holdfast"))
    return tuple(
        Setting(
            name=name,
            description=meta_of(hints[name]).description or "",
            allowed=allowed(name, hints[name]),
            default="the platform's data folder" if name == "data" else show(getattr(defaults, name)),
            secret=Secret in union_of(hints[name]),
        )
        for name in Settings.__struct_fields__
    )


def meta_of(hint: Any) -> Meta:
    """Return the `Meta` annotation of a setting."""
    return next(part for part in hint.__metadata__ if isinstance(part, Meta))


def union_of(hint: Any) -> tuple[Any, ...]:
    """Return the types a setting's value may have."""
    inner = hint.__origin__
    return (inner,) if get_origin(inner) is Literal else get_args(inner) or (inner,)


def allowed(name: str, hint: Any) -> str:
    """Return a description of the values a setting accepts."""
    meta, kind = meta_of(hint), union_of(hint)[0]
    if name == "database_url":
        return "a URL such as postgresql://user:password@host/database"
    if name == "root_url":
        return "an address such as https://git.example.org, without a slash at the end"
    if name == "secret_key":
        return f"a text of at least {SHORTEST_KEY} characters, or several separated by commas"
    if name == "trusted_proxies":
        return "addresses or networks such as 10.0.0.0/8, or *"
    if name == "webhook_proxy_url":
        return "an address such as http://proxy.example.org:3128"
    if name == "otlp_endpoint":
        return "an address such as http://localhost:4318"
    if name in {"webhook_allowed_hosts", "migration_allowed_hosts"}:
        return "a list of external, private, loopback, *, networks like 10.0.0.0/8 and hosts like *.example.org"
    if name == "webhook_proxy_hosts":
        return "a list of hosts such as *.example.org, or *"
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(get_args(kind))
    if kind is int:
        return f"a whole number from {meta.ge} to {meta.le}"
    if kind is bool:
        return "true or false"
    if kind is Path:
        return "a path"
    return "a text that is not empty"


def load(
    environ: Mapping[str, str], *, config: Path | None = None, overrides: Mapping[str, object] | None = None
) -> LoadedSettings:
    """Load the settings from the command line's `overrides`, the environment and a TOML file."""
    values: dict[str, object] = {}
    sources: dict[str, str] = {}
    path = config if config is not None else Path(environ[CONFIG]) if environ.get(CONFIG) else None
    layers: list[tuple[str, Mapping[str, object]]] = []
    if path is not None:
        layers.append((f"file {path}", read_file(path)))
    layers.append(("environment", read_environment(environ)))
    layers.append(("command line", {k: v for k, v in (overrides or {}).items() if v is not None}))
    hints = get_type_hints(Settings, include_extras=True)
    for source, layer in layers:
        for name, given in layer.items():
            values[name] = convert(name, given, hints[name], source)
            sources[name] = source
    settings = Settings(**values)  # type: ignore[arg-type]  # converted to the field types above
    return LoadedSettings(settings, {name: sources.get(name, "default") for name in Settings.__struct_fields__})


def read_file(path: Path) -> Mapping[str, object]:
    """Read a TOML file of settings."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"the settings file {path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"the settings file {path} is not TOML: {error}") from error
    for name in content:
        check_name(name, name, f"file {path}")
    return content


def read_environment(environ: Mapping[str, str]) -> Mapping[str, object]:
    """Return the settings in the environment; an empty variable counts as unset."""
    found: dict[str, object] = {}
    for variable, value in environ.items():
        if variable.startswith(PREFIX) and not variable.startswith(NOT_SETTINGS) and value:
            name = variable.removeprefix(PREFIX).lower()
            check_name(name, variable, "environment")
            found[name] = value
    return found


def check_name(name: str, given: str, source: str) -> None:
    """Raise `SettingError` for an unknown name, suggesting a similar one."""
    if name not in Settings.__struct_fields__:
        near = difflib.get_close_matches(name, Settings.__struct_fields__, n=1)
        hint = f"; did you mean {near[0]}?" if near else "; `holdfast settings` lists them"
        raise SettingError(f"{given} ({source}) is not a setting{hint}")


def convert(name: str, given: object, hint: Any, source: str) -> object:
    """Convert a value to the setting's type; raise `SettingError` if that is not possible."""
    try:
        if name == "database_url":
            check_database_url(given)
        if name == "root_url":
            check_root_url(given)
        if name == "trusted_proxies":
            check_networks(given)
        if name == "secret_key":
            check_keys(given)
        if name == "webhook_proxy_url":
            check_proxy(given)
        if name == "otlp_endpoint":
            check_collector(given)
        if name in {"webhook_allowed_hosts", "webhook_proxy_hosts", "migration_allowed_hosts"}:
            check_hosts(given)
        wanted, kinds = hint, union_of(hint)
        if type(None) in kinds:
            # None is never given, and msgspec does not support number limits on optional types.
            wanted = Annotated[kinds[0], meta_of(hint)]
        return msgspec.convert(given, wanted, strict=isinstance(given, bool), dec_hook=decode)
    except (msgspec.ValidationError, ValueError, RuntimeError):  # the last: `~nobody` is not a path
        secret = Secret in union_of(hint)
        shown = MASK if secret else repr(given)
        raise SettingError(f"{name} ({source}) is {shown}, but must be {allowed(name, hint)}") from None


def check_database_url(given: object) -> None:
    """Raise an error unless it is a PostgreSQL URL; it may contain a password, so it is not quoted."""
    if not str(given).startswith(("postgresql://", "postgres://")):
        raise ValueError("not a PostgreSQL URL")


def check_root_url(given: object) -> None:
    """Raise an error unless it is a URL to which paths can be appended."""
    if not ROOT_URL.fullmatch(str(given)):
        raise ValueError("not an address")


def check_networks(given: object) -> None:
    """Raise an error unless it is a list of addresses and networks: a misspelt proxy would be silently ignored."""
    for part in str(given).split(","):
        if part.strip() != "*":
            ipaddress.ip_network(part.strip(), strict=False)


def check_keys(given: object) -> None:
    """Raise an error for a key that is too short to be secure."""
    if any(len(key.strip()) < SHORTEST_KEY for key in str(given).split(",")):
        raise ValueError("too short")


def check_proxy(given: object) -> None:
    """Raise an error unless it is a proxy URL; it may contain a password, so it is not quoted."""
    parts = urlsplit(str(given))
    if parts.scheme != "http" or not parts.hostname or parts.port == 0 or parts.path.strip("/"):
        raise ValueError("not the address of a proxy")


def check_collector(given: object) -> None:
    """Raise an error unless it is a collector URL; it may contain a password, so it is not quoted."""
    parts = urlsplit(str(given))
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0 or parts.query:
        raise ValueError("not the address of a collector")


def check_hosts(given: object) -> None:
    """Raise an error unless it is a list of networks and host patterns: a misspelt one would allow nothing."""
    for part in str(given).split(","):
        if "/" in part:
            ipaddress.ip_network(part.strip(), strict=False)
        elif not HOST_PATTERN.fullmatch(part.strip()):
            raise ValueError("not a host")


def decode(kind: type, value: object) -> object:
    """Convert a string to types that msgspec does not support."""
    if not isinstance(value, str) or not value:
        raise ValueError("not a text")  # msgspec converts a ValueError to its own error
    return Path(value).expanduser() if kind is Path else Secret(value)
