"""Users and their passwords."""

import re
import secrets
import time
from dataclasses import dataclass
from typing import Any, Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import Row, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import NameRefused, NameTaken, NoSuchUser, PasswordRefused
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.tables import sessions, users
from holdfast.secret import Secret

__all__ = [
    "User",
    "all_users",
    "check_password",
    "count_users",
    "create_user",
    "find_user",
    "new_password",
    "set_password",
]

NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|[._-](?=[A-Za-z0-9])){0,39}")
RESERVED: Final = frozenset(
    ["api", "assets", "backups", "ghost", "healthz", "login", "logout", "metrics", "new", "static"]
)
MIN_PASSWORD: Final = 8

hasher = PasswordHasher()
# Checked when nobody has the name that was typed, so that the answer takes as long as for a real user.
NOBODY: Final = hasher.hash(secrets.token_urlsafe())

COLUMNS = (users.c.id, users.c.name, users.c.full_name, users.c.is_admin)
BY_NAME = select(*COLUMNS, users.c.password_hash).where(users.c.folded_name == bindparam("folded"))
ALL = select(*COLUMNS).order_by(users.c.folded_name)


@dataclass(frozen=True, slots=True)
class User:
    """Someone who can log in."""

    id: int
    name: str
    full_name: str
    is_admin: bool


def user_from(row: Row[*tuple[Any, ...]]) -> User:
    """Make a user from its row."""
    return User(row.id, row.name, row.full_name, row.is_admin)


def new_password() -> Secret:
    """Invent a password that is hard to guess and can be typed."""
    alphabet = "abcdefghijkmnpqrstuvwxyz23456789"
    return Secret("-".join("".join(secrets.choice(alphabet) for _ in range(5)) for _ in range(4)))


def check_name(name: str) -> None:
    """Refuse a name that could not stand in an address or would hide a page."""
    if not NAME.fullmatch(name):
        rule = "1 to 40 letters, digits and single dots, dashes or underscores between them"
        raise NameRefused(f"a user name must be {rule}")
    if name.casefold() in RESERVED:
        raise NameRefused(f"the name {name} is reserved")


def check_new_password(password: Secret) -> None:
    """Refuse a password that is too short to protect anything."""
    if len(password.reveal()) < MIN_PASSWORD:
        raise PasswordRefused(f"a password must have at least {MIN_PASSWORD} characters")


def create_user(
    database: Database, name: str, password: Secret, *, full_name: str = "", is_admin: bool = False
) -> User:
    """Add a user; names that differ only by case are the same name."""
    check_name(name)
    check_new_password(password)
    row = {
        "name": name,
        "folded_name": name.casefold(),
        "full_name": full_name,
        "password_hash": hasher.hash(password.reveal()),
        "is_admin": is_admin,
        "created_at": int(time.time()),
    }
    try:
        with database.write() as connection:
            made = connection.execute(insert(users).returning(users.c.id), row).scalar_one()
    except IntegrityError as error:
        raise NameTaken(f"a user named {name} exists already") from error
    return User(made, name, full_name, is_admin)


def find_user(database: Database, name: str) -> User:
    """Return the user of that name, in whatever case it was typed."""
    with database.read() as connection:
        row = connection.execute(BY_NAME, {"folded": name.casefold()}).one_or_none()
    if row is None:
        raise NoSuchUser(f"no user is named {name}")
    return user_from(row)


def all_users(database: Database) -> list[User]:
    """Return every user by name."""
    with database.read() as connection:
        return [user_from(row) for row in connection.execute(ALL)]


def count_users(database: Database) -> int:
    """Return how many users there are."""
    with database.read() as connection:
        return connection.execute(select(func.count()).select_from(users)).scalar_one()


def check_password(database: Database, name: str, password: Secret) -> User | None:
    """Return the user if the password is theirs; takes as long when there is no such user."""
    with database.read() as connection:
        row = connection.execute(BY_NAME, {"folded": name.casefold()}).one_or_none()
    try:
        hasher.verify(NOBODY if row is None else row.password_hash, password.reveal())
    except (VerificationError, InvalidHashError):
        return None
    return None if row is None else user_from(row)


def set_password(database: Database, name: str, password: Secret) -> User:
    """Give a user a new password and log them out everywhere: whoever knew the old one is out too."""
    check_new_password(password)
    user = find_user(database, name)
    with database.write() as connection:
        connection.execute(
            update(users).where(users.c.id == user.id).values(password_hash=hasher.hash(password.reveal()))
        )
        connection.execute(delete(sessions).where(sessions.c.user_id == user.id))
    return user
