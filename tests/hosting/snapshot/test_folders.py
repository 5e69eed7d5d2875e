"""Validation of repository folders in backups of earlier versions."""

import pytest

from holdfast.hosting.errors import SnapshotError
from holdfast.hosting.snapshot.folders import check_head, is_member


@pytest.mark.parametrize("content", [b"", b"0" * 40, b"ref: refs/heads/..\n", b"ref: refs/tags/x\n"])
def test_a_head_must_name_a_branch(content: bytes) -> None:
    """A `HEAD` in a backup that does not name a valid branch is refused."""
    with pytest.raises(SnapshotError):
        check_head(content, 1)
    assert check_head(b"ref: refs/heads/a/b\n", 1) == "a/b"


def test_only_refs_and_objects_are_members() -> None:
    """Git configuration, hooks, alternates and temporary packs are no members of a backup."""
    digest = "0123456789abcdef0123456789abcdef01234567"
    for name in ("HEAD", "packed-refs", f"objects/{digest[:2]}/{digest[2:]}", f"objects/pack/pack-{digest}.idx"):
        assert is_member(name)
    for name in ("config", "hooks/update", "objects/pack/tmp_pack_x", "objects/info/alternates", "refs/heads/x"):
        assert not is_member(name)
