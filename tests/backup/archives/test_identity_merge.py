"""Merging of accounts in an archive."""

import random
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.backup import archives
from tests.backup.archives.contact_backups import choose_identifiers, write_backup
from tests.backup.archives.dump import dump
from tests.backup.archives.histories import add_duplicates, copies, import_backups, write
from tests.examples import examples

# A backup by what its account is recognised by: profile key, root key of its media, name.
Owner = tuple[bytes, bytes, str]


def owned(path: Path, owner: Owner, days: int, *, varied: bool = False) -> Path:
    """Write a backup of an account.

    With `varied`, some of its messages were sent in the same millisecond, and calls and sticker packs differ from
    those of other days.
    """
    header, frames = copies(20)
    if varied:
        frames = add_duplicates(frames, random.Random(1))
        for frame in frames:
            if frame.HasField("stickerPack"):
                frame.stickerPack.packKey = bytes([days]) * 32
            elif frame.HasField("adHocCall"):
                frame.adHocCall.callTimestamp += days
    key, root, name = owner
    account = next(frame.account for frame in frames if frame.HasField("account"))
    account.profileKey, header.mediaRootBackupKey = key * 32, root * 32
    account.givenName, account.familyName, account.username = name, "", ""
    header.backupTimeMs += days
    return write(path, header, frames)


def accounts_after(folder: Path, *owners: Owner) -> int:
    """Import backups in every order and count the accounts."""
    sources = [owned(folder / str(day), owner, day) for day, owner in enumerate(owners)]
    expected: list[str] | None = None
    for n, order in enumerate(permutations(sources)):
        import_backups(folder / f"{n}.db", *order)
        expected = expected or dump(folder / f"{n}.db")
        assert dump(folder / f"{n}.db") == expected
    with archives.open(folder / "0.db") as opened:
        (messages,) = opened.connection.execute("SELECT count(*) FROM message").fetchone()
        assert opened.search("kind:message", limit=1000).hits
        (count,) = opened.connection.execute("SELECT count(*) FROM account").fetchone()
    assert messages == 20 * count
    return int(count)


def test_an_account_with_a_new_profile_key_is_the_same_in_any_order(tmp_path: Path) -> None:
    """An account stays one when its profile key changes, as it does when its owner blocks somebody."""
    assert accounts_after(tmp_path, (b"z", b"r", "Ada"), (b"a", b"r", "Ada")) == 1


def test_a_backup_that_belongs_to_two_accounts_makes_them_one(tmp_path: Path) -> None:
    """A backup with the old profile key and the new name links two accounts that are different in both."""
    assert accounts_after(tmp_path, (b"z", b"r", "Ada"), (b"z", b"r", "Adele"), (b"a", b"r", "Adele")) == 1


@pytest.mark.parametrize("keys", [b"za", b"az"], ids=["later account", "earlier account"])
def test_a_merge_of_accounts_keeps_duplicates_calls_and_sticker_packs(tmp_path: Path, keys: bytes) -> None:
    """The archive is the same as if the backup that links the two accounts had been imported before the second."""
    before, after = keys[:1], keys[1:]
    owners = (before, b"r", "Ada"), (before, b"r", "Adele"), (after, b"r", "Adele")
    first, link, second = (owned(tmp_path / str(day), owner, day, varied=True) for day, owner in enumerate(owners))
    import_backups(tmp_path / "linked.db", first, link, second)
    import_backups(tmp_path / "merged.db", first, second, link)
    assert dump(tmp_path / "merged.db") == dump(tmp_path / "linked.db")
    with archives.open(tmp_path / "merged.db") as opened:
        for table in ("twin", "ad_hoc_call", "sticker_pack"):
            (rows,) = opened.connection.execute(f"SELECT count(*) FROM {table}").fetchone()
            assert rows, table


def test_accounts_that_nothing_links_stay_two(tmp_path: Path) -> None:
    """Neither the same media root key nor the same name alone links two accounts."""
    assert accounts_after(tmp_path, (b"z", b"r", "Ada"), (b"a", b"r", "Ben"), (b"b", b"s", "Ben")) == 3


@settings(max_examples=examples(6), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=False))
def test_every_order_unites_the_same(tmp_path_factory: pytest.TempPathFactory, dice: random.Random) -> None:
    """Accounts with contacts known by many identifiers give the same archive in any order of imports."""
    folder = tmp_path_factory.mktemp("accounts")
    keys = [bytes([dice.randrange(3)]) * 32 for _ in range(3)]
    sources = [
        write_backup(
            folder / str(n), dice.randrange(3), choose_identifiers(dice, 3), dice, messages=3, profile_key=key
        )
        for n, key in enumerate(keys)
    ]
    expected: list[str] | None = None
    for n, order in enumerate(permutations(sources)):
        import_backups(folder / f"{n}.db", *order)
        expected = expected or dump(folder / f"{n}.db")
        assert dump(folder / f"{n}.db") == expected
