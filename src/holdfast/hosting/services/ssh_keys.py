"""SSH keys of users, and deploy keys of repositories."""

import re
from dataclasses import dataclass
from typing import Final

import asyncssh
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_ssh_public_key

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidField, NoSuchAccount, SshKeyRefused, Violation
from holdfast.hosting.services import users
from holdfast.hosting.store import ssh_keys as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.ssh_keys import SshKey

__all__ = [
    "LONGEST_KEY",
    "MAX_TITLE",
    "NewSshKey",
    "ParsedSshKey",
    "add",
    "add_deploy_key",
    "delete",
    "delete_deploy_key",
    "find",
    "find_deploy_key",
    "list_deploy_keys",
    "list_keys",
    "parse",
]

MAX_TITLE: Final = 255
LONGEST_KEY: Final = 16_384
FEWEST_RSA_BITS: Final = 2048
MOST_RSA_BITS: Final = 16_384
OPENSSH: Final = re.compile(
    r"(?P<algorithm>[a-z][a-z0-9@.-]{1,63})[ \t]+(?P<base64>[A-Za-z0-9+/=]+)(?:[ \t][^\r\n]*)?"
)
ALGORITHMS: Final = frozenset(
    {
        "ssh-ed25519",
        "ssh-rsa",
        "ecdsa-sha2-nistp256",
        "ecdsa-sha2-nistp384",
        "ecdsa-sha2-nistp521",
        "sk-ssh-ed25519@openssh.com",
        "sk-ecdsa-sha2-nistp256@openssh.com",
    }
)


@dataclass(frozen=True, slots=True)
class NewSshKey:
    """A key to add; only a deploy key may be read-only."""

    title: str
    key: str
    is_read_only: bool = False


@dataclass(frozen=True, slots=True)
class ParsedSshKey:
    """A public key in its stored form, and its fingerprint."""

    content: str
    fingerprint: str


def parse(text: str) -> ParsedSshKey:
    """Parse an OpenSSH public key; raise `SshKeyRefused` for anything else, and for weak keys."""
    if len(text) > LONGEST_KEY:
        raise SshKeyRefused(f"Invalid key content: a key has at most {LONGEST_KEY} characters")
    match = OPENSSH.fullmatch(text.strip())
    if match is None:
        raise SshKeyRefused("Invalid key content: not a public key in OpenSSH format, such as ssh-ed25519 AAAA...")
    algorithm = match["algorithm"]
    if algorithm == "ssh-dss":
        raise SshKeyRefused("Invalid key content: DSA keys are too weak; make an ed25519 key")
    if algorithm not in ALGORITHMS:
        raise SshKeyRefused(f"Invalid key content: keys of type {algorithm} are not supported")
    content = f"{algorithm} {match['base64']}"
    try:
        key = asyncssh.import_public_key(content)
    except (asyncssh.KeyImportError, ValueError):
        raise SshKeyRefused("Invalid key content: the key is damaged or incomplete") from None
    if key.get_algorithm() != algorithm:
        raise SshKeyRefused("Invalid key content: the key is not of the type it says")
    if algorithm == "ssh-rsa":
        check_rsa(content)
    # The canonical form: trailing data in the base64 must not make the same key look like a different one.
    exported = key.export_public_key("openssh").decode("ascii").split()
    return ParsedSshKey(" ".join(exported[:2]), key.get_fingerprint("sha256"))


def check_rsa(content: str) -> None:
    """Raise `SshKeyRefused` for an RSA key that is too weak, or so large that verification is slow."""
    try:
        loaded = load_ssh_public_key(content.encode("ascii"))
    except (ValueError, TypeError):
        raise SshKeyRefused("Invalid key content: the key is damaged or incomplete") from None
    if isinstance(loaded, RSAPublicKey) and not FEWEST_RSA_BITS <= loaded.key_size <= MOST_RSA_BITS:
        raise SshKeyRefused(
            f"Invalid key content: an RSA key has {FEWEST_RSA_BITS} to {MOST_RSA_BITS} bits; "
            f"this one has {loaded.key_size}"
        )


def check_title(title: str) -> str:
    """Return a title without surrounding spaces; raise `InvalidField` if it is empty or too long."""
    stripped = title.strip()
    if not stripped:
        raise InvalidField("Title", Violation.REQUIRED)
    if len(stripped) > MAX_TITLE:
        raise InvalidField("Title", Violation.TOO_LONG, MAX_TITLE)
    return stripped


def require_key_access(actor: Actor, user: Account) -> None:
    """Raise `Forbidden` unless the keys are the actor's own, or the actor is a site administrator."""
    if not actor.is_admin:
        access.require_self(actor, user)


def list_keys(
    app: App, actor: Actor, user: Account, *, skip: int, limit: int, fingerprint: str = ""
) -> tuple[list[SshKey], int]:
    """Return one page of the keys of a user, which are public, and the total."""
    if not users.is_visible(app, actor, user):
        raise NoSuchAccount(user.name)
    return store.keys_of(app.database, user, skip=skip, limit=limit, fingerprint=fingerprint)


def find(app: App, actor: Actor, user: Account, number: int) -> SshKey:
    """Return a key of a user; only for the user and site administrators."""
    require_key_access(actor, user)
    return store.find_key(app.database, user, number)


def add(app: App, actor: Actor, user: Account, new_ssh_key: NewSshKey) -> SshKey:
    """Add a key to a user, for git over SSH."""
    require_key_access(actor, user)
    title, parsed = check_title(new_ssh_key.title), parse(new_ssh_key.key)
    return store.create_key(
        app.database, user, title=title, content=parsed.content, fingerprint=parsed.fingerprint
    )


def delete(app: App, actor: Actor, user: Account, number: int) -> None:
    """Delete a key of a user."""
    store.delete_key(app.database, find(app, actor, user, number))


def list_deploy_keys(
    app: App,
    actor: Actor,
    target: RepositoryAccess,
    *,
    skip: int,
    limit: int,
    fingerprint: str = "",
    number: int = 0,
) -> tuple[list[SshKey], int]:
    """Return one page of the deploy keys of a repository, and the total."""
    access.require_repository_admin(actor, target)
    return store.keys_of(
        app.database, target.repository, skip=skip, limit=limit, fingerprint=fingerprint, number=number
    )


def find_deploy_key(app: App, actor: Actor, target: RepositoryAccess, number: int) -> SshKey:
    """Return a deploy key of a repository."""
    access.require_repository_admin(actor, target)
    return store.find_key(app.database, target.repository, number)


def add_deploy_key(app: App, actor: Actor, target: RepositoryAccess, new_ssh_key: NewSshKey) -> SshKey:
    """Add a deploy key, which gives read or write access to this repository only."""
    access.require_repository_admin(actor, target)
    title, parsed = check_title(new_ssh_key.title), parse(new_ssh_key.key)
    return store.create_key(
        app.database,
        target.repository,
        title=title,
        content=parsed.content,
        fingerprint=parsed.fingerprint,
        is_read_only=new_ssh_key.is_read_only,
    )


def delete_deploy_key(app: App, actor: Actor, target: RepositoryAccess, number: int) -> None:
    """Delete a deploy key of a repository."""
    store.delete_key(app.database, find_deploy_key(app, actor, target, number))
