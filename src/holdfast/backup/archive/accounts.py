"""Tells whose backup it is: accounts are kept apart.

A backup does not name its account. What stays with an account is its profile key, which all its devices share;
when that was changed, the key its media are stored under together with the name or username.
"""

import sqlite3

from holdfast.backup.archive.identity import stable_id
from holdfast.backup.archive.snapshots import Snapshots
from holdfast.backup.names import account_name
from holdfast.backup.schema import BackupInfo
from holdfast.backup.schema.backup_pb2 import AccountData

__all__ = ["evidence", "find_account", "refresh_account"]

Evidence = list[tuple[str, str]]


def evidence(header: BackupInfo, account: AccountData) -> Evidence:
    """List what the account can be recognised by, the strongest first."""
    found: Evidence = []
    root, name = header.mediaRootBackupKey.hex(), account_name(account)
    if account.profileKey:
        found.append(("profile_key", account.profileKey.hex()))
    if root or not found:
        # A name alone is no proof; where there is nothing else, it has to do.
        found += [("username", f"{root}/{account.username.casefold()}")] if account.username else []
        found += [("name", f"{root}/{name}")] if name else []
    return found or [("nothing", root)]


def find_account(connection: sqlite3.Connection, header: BackupInfo, account: AccountData) -> int:
    """Find the account a backup belongs to, or make it."""
    marks = evidence(header, account)
    found: int | None = None
    for mark in marks:
        (found,) = connection.execute(
            "SELECT min(account_id) FROM account_evidence WHERE (kind, value) = (?, ?)", mark
        ).fetchone()
        if found is not None:
            break
    else:
        found = stable_id("account", *marks[0])
        connection.execute("INSERT INTO account VALUES (?, '', NULL, NULL, NULL)", (found,))
    for mark in marks:
        connection.execute("INSERT OR IGNORE INTO account_evidence VALUES (?, ?, ?)", (*mark, found))
    return found


def refresh_account(connection: sqlite3.Connection, snapshots: Snapshots) -> None:
    """Show an account as its latest snapshot does, and find out which service id is the owner's own.

    No record says it. The owner is a member of every group that has the owner as a member, and nobody's contact.
    """
    name, username = connection.execute(
        "SELECT name, username FROM snapshot WHERE id = ?", (snapshots.latest,)
    ).fetchone()
    rows = connection.execute(
        "SELECT m.service_id, count(*) AS groups FROM group_member m JOIN recipient r ON r.id = m.group_id "
        "WHERE r.account_id = ? AND m.standing = 'member' AND m.recipient_id IS NULL "
        "AND m.service_id NOT LIKE 'PNI:%' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 2",
        (snapshots.account,),
    ).fetchall()
    own = rows[0][0] if rows and (len(rows) == 1 or rows[0][1] > rows[1][1]) else None
    connection.execute(
        "UPDATE account SET name = ?, username = ?, newest_snapshot = ?, self_aci = ? WHERE id = ?",
        (name, username, snapshots.latest, own, snapshots.account),
    )
