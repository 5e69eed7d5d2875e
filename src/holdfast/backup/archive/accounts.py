"""Tells whose backup it is: accounts are kept apart.

A backup does not name its account. What stays with an account is its profile key, which all its devices share;
when that was changed, the key its media are stored under together with the name or username.
"""

import sqlite3
from collections import Counter

from holdfast.backup.archive.identity import stable_id
from holdfast.backup.archive.snapshots import Snapshots
from holdfast.backup.names import account_name
from holdfast.backup.schema import BackupInfo
from holdfast.backup.schema.backup_pb2 import AccountData

__all__ = ["evidence", "find_account", "own_aci", "refresh_account"]

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
    """Show an account as its latest snapshot does."""
    name, username = connection.execute(
        "SELECT name, username FROM snapshot WHERE id = ?", (snapshots.latest,)
    ).fetchone()
    connection.execute(
        "UPDATE account SET name = ?, username = ?, newest_snapshot = ?, self_aci = ? WHERE id = ?",
        (name, username, snapshots.latest, own_aci(connection, snapshots.account), snapshots.account),
    )


def own_aci(connection: sqlite3.Connection, account: int) -> str | None:
    """Find out which ACI is the owner's own, or None where nothing tells it.

    No record of the format says it: neither the account's nor the one that stands for the owner has an ACI. But
    all others in a group have a contact record, so the owner is the member that has none, of more groups than
    anybody who merely was not written down; and who did what an update by the owner tells of a group. Two of whom
    all this says the same leave it open: a sentence that names nobody is better than one that names the wrong
    person.
    """
    members = connection.execute(
        "SELECT m.service_id, count(*) FROM group_member m JOIN recipient g ON g.id = m.group_id "
        "WHERE g.account_id = ? AND m.standing = 'member' AND m.recipient_id IS NULL "
        "AND m.service_id NOT LIKE 'PNI:%' GROUP BY 1",
        (account,),
    )
    groups = Counter[str](dict(members.fetchall()))
    doers = connection.execute(
        "SELECT json_extract(e.details, '$.updaterAci') AS aci, count(*) FROM update_event e "
        "JOIN message m ON m.id = e.message_id JOIN recipient s ON s.id = m.author_id "
        "WHERE s.account_id = ?1 AND s.kind = 'self' AND aci IS NOT NULL AND NOT EXISTS ("
        "SELECT 1 FROM identity i WHERE (i.account_id, i.kind, i.value) = (?1, 'aci', aci)) GROUP BY 1",
        (account,),
    )
    deeds = Counter[str](dict(doers.fetchall()))
    ranked = sorted({*groups, *deeds}, key=lambda aci: (groups[aci], deeds[aci]), reverse=True)
    weights = [(groups[aci], deeds[aci]) for aci in ranked[:2]]
    return ranked[0] if len(set(weights)) == len(weights) > 0 else None
