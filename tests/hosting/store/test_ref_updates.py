"""Ref updates: creation, deletion and change, by old and new object id."""

import pytest

from holdfast.hosting.store.ref_updates import RefUpdate

ONE, TWO = "1" * 40, "2" * 40


@pytest.mark.parametrize("none", ["0" * 40, "0" * 64, ""])
def test_an_id_of_zeros_stands_for_no_ref(none: str) -> None:
    """An id of zeros, of SHA-1 or of SHA-256, or an empty one means that the ref does not exist."""
    created, deleted = RefUpdate("refs/heads/a", none, ONE), RefUpdate("refs/heads/a", ONE, none)
    assert (created.creates, created.deletes, created.keeps_ref, created.has_effect) == (True, False, False, True)
    assert (deleted.creates, deleted.deletes, deleted.keeps_ref, deleted.has_effect) == (False, True, False, True)


def test_an_update_from_one_commit_to_another_keeps_the_ref() -> None:
    """An id that has zeros but another digit too is a valid commit id."""
    moved = RefUpdate("refs/heads/a", "0" * 39 + "1", TWO)
    assert (moved.creates, moved.deletes, moved.keeps_ref, moved.has_effect) == (False, False, True, True)


def test_some_updates_change_nothing() -> None:
    """An update to the same id, or from no ref to none in either hash format, has no effect."""
    for old, new in ((ONE, ONE), ("0" * 40, "0" * 40), ("0" * 40, "0" * 64)):
        assert not RefUpdate("refs/heads/a", old, new).has_effect


def test_updates_are_equal_by_value() -> None:
    """Updates are equal by value and frozen, so that they can be keys of dictionaries."""
    assert len({RefUpdate("refs/heads/a", ONE, TWO), RefUpdate("refs/heads/a", ONE, TWO)}) == 1
    with pytest.raises(AttributeError):
        RefUpdate("refs/heads/a", ONE, TWO).ref = "refs/heads/b"  # type: ignore[misc]  # it is frozen
