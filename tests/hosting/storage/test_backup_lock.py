"""While a backup is made, nothing is removed for good."""

from pathlib import Path

from holdfast.hosting.storage.backup_lock import exclusive_backup_lock, shared_backup_lock


def test_nothing_may_be_removed_while_somebody_keeps_everything(tmp_path: Path) -> None:
    """Several may keep at once; removing is allowed again when all have stopped."""
    with exclusive_backup_lock(tmp_path) as allowed:
        assert allowed
    with shared_backup_lock(tmp_path):
        with shared_backup_lock(tmp_path), exclusive_backup_lock(tmp_path) as allowed:
            assert not allowed
        with exclusive_backup_lock(tmp_path) as allowed:
            assert not allowed
    with exclusive_backup_lock(tmp_path) as allowed:
        assert allowed
