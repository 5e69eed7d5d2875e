"""While a backup is made, nothing is removed for good."""

from pathlib import Path

from holdfast.hosting.storage.backup_lock import keeping, removing


def test_nothing_may_be_removed_while_somebody_keeps_everything(tmp_path: Path) -> None:
    """Several may keep at once; removing is allowed again when all have stopped."""
    with removing(tmp_path) as allowed:
        assert allowed
    with keeping(tmp_path):
        with keeping(tmp_path), removing(tmp_path) as allowed:
            assert not allowed
        with removing(tmp_path) as allowed:
            assert not allowed
    with removing(tmp_path) as allowed:
        assert allowed
