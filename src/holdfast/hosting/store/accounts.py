"""Accounts: users and organizations, their names, e-mail addresses and passwords."""

import base64
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION
from sqlalchemy import Connection, bindparam, delete, func, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import EmailRefused, NameRefused, NameTaken, NoSuchUser, PasswordRefused
from holdfast.hosting.store.database import Database, TransactionDatabase
from holdfast.hosting.store.hash_limit import HashLimiter
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.substring_search import SubstringMatch, page_matching, rows_containing
from holdfast.hosting.store.tables import email_addresses, name_redirects, sessions, users
from holdfast.secret import Secret

__all__ = [
    "Account",
    "account_by_id",
    "account_from",
    "accounts_by_id",
    "all_users",
    "by_emails",
    "by_names",
    "change_account",
    "check_name",
    "check_password",
    "count_users",
    "create_user",
    "delete_account",
    "find_account",
    "find_user",
    "hash_password",
    "names_of",
    "names_with_email",
    "new_password",
    "rename_account",
    "renamed_to",
    "search_accounts",
    "set_password",
    "verify",
]

NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|[._-](?=[A-Za-z0-9])){0,39}")
EMAIL: Final = re.compile(r"[^\s@<>\"(),:;\[\]\\]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,187}[A-Za-z0-9])?")
# The first path segments of routes, and names that would be misleading.
RESERVED: Final = frozenset(
    [
        *(
            "admin-api",
            "api",
            "assets",
            "attachments",
            "avatars",
            "backups",
            "explore",
            "favicon.ico",
            "ghost",
            "healthz",
            "issues",
        ),
        *("login", "logout", "manifest.json", "metrics", "new", "notifications", "org", "orgs", "pulls", "readyz"),
        *(
            "repo",
            "repo-avatars",
            "repos",
            "robots.txt",
            "search",
            "settings",
            "sign-up",
            "static",
            "swagger.v1.json",
            "user",
            "users",
        ),
    ]
)
NOREPLY: Final = re.compile(r"([1-9][0-9]{0,17})\+[^@]*@noreply\.localhost")
MIN_PASSWORD: Final = 8

hasher = PasswordHasher()
hashing = HashLimiter()


def unmatched_hash() -> str:
    """Return a hash with the parameters of `hasher` that no password has.

    It is random: computing one would take a quarter of a second of each command that imports this module.
    """
    salt, digest = (
        base64.b64encode(secrets.token_bytes(size)).rstrip(b"=").decode()
        for size in (hasher.salt_len, hasher.hash_len)
    )
    cost = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v={ARGON2_VERSION}${cost}${salt}${digest}"


# Verified when the user does not exist, so that the response takes as long as for an existing user.
NOBODY: Final = unmatched_hash()


class Account(msgspec.Struct, frozen=True):
    """A user or an organization; the fields are the columns of the table, in this order."""

    id: int
    name: str
    full_name: str
    is_admin: bool
    created_at: int
    is_organization: bool
    email: str
    description: str
    website: str
    location: str
    language: str
    visibility: str
    hides_email: bool
    is_restricted: bool
    is_active: bool
    may_not_log_in: bool
    must_change_password: bool
    may_create_organizations: bool
    repository_admins_change_teams: bool
    last_login_at: int
    updated_at: int


FIELDS: Final = Account.__struct_fields__
COLUMNS: Final = tuple(users.c[name] for name in FIELDS)
WIDTH: Final = len(COLUMNS)
BY_NAME = Statement(select(*COLUMNS, users.c.password_hash).where(users.c.folded_name == bindparam("folded")))
BY_ID = Statement(select(*COLUMNS).where(users.c.id == bindparam("id")))
BY_EMAIL = Statement(select(*COLUMNS).where(~users.c.is_organization, users.c.email == bindparam("email")))
BY_OTHER_EMAIL = Statement(
    select(*COLUMNS)
    .join(email_addresses, email_addresses.c.user_id == users.c.id)
    .where(email_addresses.c.folded_email == bindparam("folded"))
)
BY_OLD_NAME = Statement(
    select(*COLUMNS)
    .join(name_redirects, name_redirects.c.user_id == users.c.id)
    .where(name_redirects.c.folded_name == bindparam("folded"))
)


def account_from(row: tuple[Any, ...], start: int = 0) -> Account:
    """Build an account from its columns, which begin at index `start` of a row."""
    return Account(*row[start : start + WIDTH])


def new_password() -> Secret:
    """Generate a random password that can be typed."""
    alphabet = "abcdefghijkmnpqrstuvwxyz23456789"
    return Secret("-".join("".join(secrets.choice(alphabet) for _ in range(5)) for _ in range(4)))


def check_name(name: str) -> None:
    """Raise `NameRefused` for a name that is invalid in a URL or reserved for a route."""
    if not NAME.fullmatch(name):
        rule = "1 to 40 letters, digits and single dots, dashes or underscores between them"
        raise NameRefused(f"the name must be {rule}")
    if name.casefold() in RESERVED or name.casefold().endswith((".git", ".wiki", ".atom", ".rss")):
        raise NameRefused(f"the name {name} is reserved")


def check_email(email: str) -> None:
    """Raise `EmailRefused` for an invalid e-mail address; an empty one is allowed."""
    if email and not EMAIL.fullmatch(email):
        raise EmailRefused("that is not an e-mail address")


def check_new_password(password: Secret) -> None:
    """Raise `PasswordRefused` for a password shorter than `MIN_PASSWORD`."""
    if len(password.reveal()) < MIN_PASSWORD:
        raise PasswordRefused(f"a password must have at least {MIN_PASSWORD} characters")


def create_user(
    database: Database,
    name: str,
    password: Secret,
    *,
    full_name: str = "",
    email: str = "",
    is_admin: bool = False,
    **more: str | bool,
) -> Account:
    """Add a user; names are unique without regard to case."""
    check_new_password(password)
    hashed = hash_password(password)
    with database.write() as connection:
        created = add_account(
            connection, name, password_hash=hashed, full_name=full_name, email=email, is_admin=is_admin, **more
        )
    return find_account(database, created)


def add_account(connection: Connection, name: str, *, email: str = "", **columns: str | bool) -> int:
    """Insert a user or an organization in a transaction and return its id."""
    check_name(name)
    check_email(email)
    now = int(time.time())
    row: dict[str, str | bool | int] = {
        **unused_id(connection),
        "name": name,
        "folded_name": name.casefold(),
        "email": email,
        "full_name": "",
        "password_hash": "",
        "is_admin": False,
        "created_at": now,
        "updated_at": now,
        **columns,
    }
    try:
        account_id: int = connection.execute(insert(users).returning(users.c.id), row).scalar_one()
    except IntegrityError:
        raise NameTaken(name) from None
    connection.execute(delete(name_redirects).where(name_redirects.c.folded_name == name.casefold()))
    return account_id


# The row of `sqlite_sequence` is ours: `users` is older than the other tables, and has no AUTOINCREMENT.
NEXT_ID: Final = text(
    "SELECT 1 + max(coalesce((SELECT max(id) FROM users), 0),"
    " coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'users'), 0))"
)
KEEP_ID: Final = (
    text(
        "INSERT INTO sqlite_sequence (name, seq) SELECT 'users', 0"
        " WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'users')"
    ),
    text("UPDATE sqlite_sequence SET seq = max(seq, :id) WHERE name = 'users'"),
)


def unused_id(connection: Connection) -> dict[str, int]:
    """Return an id that no account has had, for SQLite, which would reuse the highest one after its deletion.

    Rules of protected branches and tags contain the ids of users.
    """
    if connection.dialect.name != "sqlite":
        return {}
    return {"id": connection.execute(NEXT_ID).scalar_one()}


def delete_account(connection: Connection, number: int) -> None:
    """Delete a user or an organization in a transaction; no other account gets its id."""
    if connection.dialect.name == "sqlite":
        for statement in KEEP_ID:
            connection.execute(statement, {"id": number})
    connection.execute(delete(users).where(users.c.id == number))


def by_name(database: Database, name: str) -> tuple[Any, ...] | None:
    """Return the row of an account name; a name with NUL, which PostgreSQL rejects, has none."""
    return None if "\0" in name else database.row(BY_NAME, folded=name.casefold())


def find_account(database: Database, key: int | str) -> Account:
    """Return the account with this id, or with this name, case-insensitively."""
    row = by_name(database, key) if isinstance(key, str) else database.row(BY_ID, id=key)
    if row is None:
        raise NoSuchUser(f"no user is named {key}" if isinstance(key, str) else "the user does not exist")
    return account_from(row)


def account_by_id(database: Database, number: int) -> Account | None:
    """Return the account with this id, or None."""
    row = database.row(BY_ID, id=number)
    return None if row is None else account_from(row)


def accounts_by_id(connection: Connection, ids: Collection[int]) -> dict[int, Account]:
    """Return the accounts with these ids; missing ones are left out."""
    if not ids:
        return {}
    rows = connection.execute(select(*COLUMNS).where(users.c.id.in_(ids)))
    return {account.id: account for row in rows for account in [account_from(tuple(row))]}


def find_user(database: Database, name: str) -> Account:
    """Return the user with this name; an organization is not a user."""
    account = find_account(database, name)
    if account.is_organization:
        raise NoSuchUser(f"no user is named {name}")
    return account


def renamed_to(database: Database, name: str) -> Account | None:
    """Return the account that had a name before it was renamed, as long as the name is free."""
    row = None if "\0" in name else database.row(BY_OLD_NAME, folded=name.casefold())
    return None if row is None else account_from(row)


def all_users(database: Database) -> list[Account]:
    """Return every user by name."""
    statement = select(*COLUMNS).where(~users.c.is_organization).order_by(users.c.folded_name)
    with database.read() as connection:
        return [account_from(tuple(row)) for row in connection.execute(statement)]


def search_accounts(
    database: Database, text: str, *, organizations: bool, visibilities: tuple[str, ...], skip: int, limit: int
) -> tuple[list[Account], int]:
    """Return one page of users, or organizations, whose name contains a text, and the total."""
    conditions = [users.c.is_organization == organizations, users.c.visibility.in_(visibilities)]
    matches = [named(text, sqlite=database.is_sqlite)] if text else []
    with database.read() as connection:
        ids, total = page_matching(
            connection,
            users,
            users.c.id,
            conditions=conditions,
            matches=matches,
            key=users.c.folded_name,
            skip=skip,
            limit=limit,
        )
        rows = accounts_by_id(connection, ids)
    return [rows[number] for number in ids if number in rows], total


def named(text: str, *, sqlite: bool) -> SubstringMatch:
    """Return the match of accounts whose name or full name contains a text."""
    condition = users.c.folded_name.contains(text.casefold(), autoescape=True) | func.lower(
        users.c.full_name
    ).contains(text.lower(), autoescape=True)
    texts = dict.fromkeys((text.casefold(), text.lower()))
    candidates = (rows_containing("account_search", name_part, sqlite=sqlite) for name_part in texts)
    return SubstringMatch(condition, tuple(candidates))


def by_emails(database: Database, emails: Iterable[str]) -> dict[str, Account]:
    """Return users by e-mail address, including additional and no-reply addresses.

    One query for all addresses, and one for those that are not a main address. Inside a transaction, where only
    prepared statements can be run, there is one query per address.
    """
    addresses = [email for email in set(emails) if email]
    numbers = {int(match[1]): email for email in addresses if (match := NOREPLY.fullmatch(email))}
    if not addresses:
        return {}
    if isinstance(database, TransactionDatabase):
        accounts = [account_from(row) for email in addresses for row in database.rows(BY_EMAIL, email=email)]
        found_accounts = [
            account for number in numbers if (account := account_by_id(database, number)) is not None
        ]
        accounts += [account for account in found_accounts if not account.is_organization]
    else:
        statement = select(*COLUMNS).where(
            ~users.c.is_organization, users.c.email.in_(addresses) | users.c.id.in_(list(numbers))
        )
        with database.read() as connection:
            accounts = [account_from(tuple(row)) for row in connection.execute(statement)]
    people = {account.email: account for account in accounts if account.email}
    people |= {numbers[account.id]: account for account in accounts if account.id in numbers}
    return people | by_other_emails(database, [email for email in addresses if email not in people])


def names_with_email(database: Database, email: str) -> list[str]:
    """Return the names of the users who have an e-mail address, main or additional; two at most."""
    others = select(email_addresses.c.user_id).where(email_addresses.c.folded_email == email.lower())
    statement = (
        select(users.c.name)
        .where(~users.c.is_organization, users.c.email.in_([email, email.lower()]) | users.c.id.in_(others))
        .limit(2)
    )
    with database.read() as connection:
        return list(connection.execute(statement).scalars())


def by_other_emails(database: Database, emails: Collection[str]) -> dict[str, Account]:
    """Return users by additional e-mail addresses, case-insensitively."""
    if not emails:
        return {}
    if isinstance(database, TransactionDatabase):
        rows = {email: database.row(BY_OTHER_EMAIL, folded=email.lower()) for email in emails}
        return {email: account_from(row) for email, row in rows.items() if row is not None}
    statement = (
        select(*COLUMNS, email_addresses.c.folded_email)
        .join(email_addresses, email_addresses.c.user_id == users.c.id)
        .where(email_addresses.c.folded_email.in_({email.lower() for email in emails}))
    )
    with database.read() as connection:
        accounts_by_email = {row[WIDTH]: account_from(tuple(row)) for row in connection.execute(statement)}
    return {email: accounts_by_email[email.lower()] for email in emails if email.lower() in accounts_by_email}


def by_names(database: Database, names: Iterable[str], *, organizations: bool = False) -> dict[str, Account]:
    """Return users, and with `organizations` organizations too, by casefolded name, in one query."""
    statement = select(*COLUMNS).where(users.c.folded_name.in_([name.casefold() for name in names]))
    if not organizations:
        statement = statement.where(~users.c.is_organization)
    with database.read() as connection:
        accounts = (account_from(tuple(row)) for row in connection.execute(statement))
        return {account.name.casefold(): account for account in accounts}


def names_of(database: Database, numbers: Iterable[int]) -> dict[int, str]:
    """Return account names by id."""
    statement = select(users.c.id, users.c.name).where(users.c.id.in_(list(numbers)))
    with database.read() as connection:
        return {row.id: row.name for row in connection.execute(statement)}


def count_users(database: Database) -> int:
    """Return the number of users."""
    with database.read() as connection:
        return connection.execute(
            select(func.count()).select_from(users).where(~users.c.is_organization)
        ).scalar_one()


def hash_password(password: Secret) -> str:
    """Hash a password with Argon2; concurrency is limited by `HashLimiter`."""
    with hashing.slot():
        return hasher.hash(password.reveal())


def verify(password_hash: str, password: Secret) -> bool:
    """Return whether a password matches a hash; takes tens of milliseconds by design."""
    try:
        with hashing.slot():
            return hasher.verify(password_hash, password.reveal())
    except (VerificationError, InvalidHashError):
        return False


def check_password(database: Database, name: str, password: Secret) -> Account | None:
    """Return the user if the password is right; takes as long for an unknown user."""
    row = by_name(database, name)
    has_password = row is not None and bool(row[WIDTH])
    right = verify(row[WIDTH] if row is not None and has_password else NOBODY, password)
    return account_from(row) if row is not None and right else None


def set_password(database: Database, name: str, password: Secret, *, kept_session: str = "") -> Account:
    """Set a user's password and end their sessions, except the one with the hash `kept_session`.

    Their tokens stay valid; a reset by an administrator (`account_administration.change_user`) revokes them too.
    """
    check_new_password(password)
    user = find_user(database, name)
    hashed = hash_password(password)
    with database.write() as connection:
        connection.execute(
            update(users)
            .where(users.c.id == user.id)
            .values(password_hash=hashed, must_change_password=False, updated_at=int(time.time()))
        )
        connection.execute(
            delete(sessions).where(sessions.c.user_id == user.id, sessions.c.token_hash != kept_session)
        )
    return user


def change_account(
    database: Database,
    account: Account,
    *,
    within: Callable[[Connection], None] = lambda _: None,
    **columns: str | bool | int,
) -> Account:
    """Update columns of an account; name and password have functions of their own.

    `within` runs in the same transaction.
    """
    check_email(str(columns.get("email", "")))
    with database.write() as connection:
        connection.execute(
            update(users).where(users.c.id == account.id).values(updated_at=int(time.time()), **columns)
        )
        within(connection)
    return find_account(database, account.id)


def rename_account(database: Database, account: Account, name: str) -> Account:
    """Rename an account and leave a redirect from the old name."""
    check_name(name)
    folded = name.casefold()
    try:
        with database.write() as connection:
            connection.execute(
                update(users)
                .where(users.c.id == account.id)
                .values(name=name, folded_name=folded, updated_at=int(time.time()))
            )
            old = account.name.casefold()
            connection.execute(delete(name_redirects).where(name_redirects.c.folded_name.in_((folded, old))))
            if old != folded:
                connection.execute(insert(name_redirects), {"folded_name": old, "user_id": account.id})
    except IntegrityError:
        raise NameTaken(name) from None
    return find_account(database, account.id)
