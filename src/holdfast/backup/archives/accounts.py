"""Account identification: decides which account of the archive a backup belongs to.

A backup does not name its account. The profile key identifies an account, as all its devices share it. When the
profile key was rotated, the media root key together with the name or username does.
"""

import sqlite3
from collections import Counter

from holdfast.backup.archives.identity import stable_id
from holdfast.backup.archives.identity_resolution import When
from holdfast.backup.archives.snapshots import Snapshots
from holdfast.backup.names import account_name
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.schema.backup_pb2 import AccountData

__all__ = ["evidence", "find_account", "own_aci", "refresh_account"]

Evidence = list[tuple[str, str]]


def evidence(header: BackupInfo, account: AccountData) -> Evidence:
    """Return the identifiers by which the account can be recognised, the strongest first."""
    entries: Evidence = []
    root, name = header.mediaRootBackupKey.hex(), account_name(account)
    if account.profileKey:
        entries.append(("profile_key", account.profileKey.hex()))
    if root or not entries:
        # A name alone is no proof; it is used only if there is nothing else.
        entries += [("username", f"{root}/{account.username.casefold()}")] if account.username else []
        entries += [("name", f"{root}/{name}")] if name else []
    return entries or [("nothing", root)]


def find_account(
    connection: sqlite3.Connection, header: BackupInfo, account: AccountData, when: When
) -> tuple[int, set[int]]:
    """Return the id of the account of a backup, created if new, and the accounts to be merged into it.

    The id is derived from the strongest identifier of the earliest snapshot, so that it does not depend on the
    order of imports.
    """
    entries, run = evidence(header, account), connection.execute
    linked: set[int] = set()
    for entry in entries:
        rows = run("SELECT account_id FROM account_evidence WHERE (kind, value) = (?, ?)", entry)
        linked.update(linked_id for (linked_id,) in rows)
    first = (when, entries[0])
    for linked_id in linked:
        made_ms, digest, raw_header, raw = run(
            "SELECT made_ms, digest, header, account_record FROM snapshot WHERE account_id = ? "
            "ORDER BY made_ms, digest LIMIT 1",
            (linked_id,),
        ).fetchone()
        owner = Frame.FromString(raw or b"").account
        first = min(first, ((made_ms, digest), evidence(BackupInfo.FromString(raw_header), owner)[0]))
    account_id = stable_id("account", *first[1])
    run("INSERT OR IGNORE INTO account VALUES (?, '', NULL, NULL, NULL)", (account_id,))
    for entry in entries:
        run("INSERT OR IGNORE INTO account_evidence VALUES (?, ?, ?)", (*entry, account_id))
    return account_id, linked if linked - {account_id} else set()


def refresh_account(connection: sqlite3.Connection, snapshots: Snapshots) -> None:
    """Update an account's row from its latest snapshot."""
    name, username = connection.execute(
        "SELECT name, username FROM snapshot WHERE id = ?", (snapshots.latest,)
    ).fetchone()
    connection.execute(
        "UPDATE account SET name = ?, username = ?, newest_snapshot = ?, self_aci = ? WHERE id = ?",
        (name, username, snapshots.latest, own_aci(connection, snapshots.account), snapshots.account),
    )


def own_aci(connection: sqlite3.Connection, account: int) -> str | None:
    """Infer the ACI of the account's owner; None if it is ambiguous.

    No record of the format contains it: neither the account record nor the `self` recipient has an ACI. But all
    other members of a group have a contact record, so the owner is the member without one, in more groups than
    anybody whose record is merely missing. The author of group updates that the owner sent is counted as a second
    criterion. On a tie None is returned: a sentence without a name is better than one with the wrong name.
    """
    members = connection.execute(
        "SELECT m.service_id, count(*) FROM group_member m JOIN recipient g ON g.id = m.group_id "
        "WHERE g.account_id = ? AND m.standing = 'member' AND m.recipient_id IS NULL "
        "AND m.service_id NOT LIKE 'PNI:%' GROUP BY 1",
        (account,),
    )
    group_counts = Counter[str](dict(members.fetchall()))
    actors = connection.execute(
        "SELECT json_extract(e.details, '$.updaterAci') AS aci, count(*) FROM update_event e "
        "JOIN message m ON m.id = e.message_id JOIN recipient s ON s.id = m.author_id "
        "WHERE s.account_id = ?1 AND s.kind = 'self' AND aci IS NOT NULL AND NOT EXISTS ("
        "SELECT 1 FROM identity i WHERE (i.account_id, i.kind, i.value) = (?1, 'aci', aci)) GROUP BY 1",
        (account,),
    )
    update_counts = Counter[str](dict(actors.fetchall()))
    ranked = sorted(
        {*group_counts, *update_counts}, key=lambda aci: (group_counts[aci], update_counts[aci]), reverse=True
    )
    weights = [(group_counts[aci], update_counts[aci]) for aci in ranked[:2]]
    return ranked[0] if len(set(weights)) == len(weights) > 0 else None
