"""Errors of the house become answers."""

import pytest

from holdfast.hosting import errors
from holdfast.hosting.api.refusal import Refusal, refusal_for


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.NoSuchUser("x"), 404),
        (errors.NoSuchRef("x"), 404),
        (errors.RepositoryTaken("x"), 409),
        (errors.RefMoved("x"), 409),
        (errors.NameRefused("x"), 422),
        (errors.RefRefused("x"), 422),
        (errors.PushRefused("x"), 403),
        (errors.LfsUnavailable("x"), 503),
    ],
)
def test_what_a_client_can_do_something_about_is_told_to_it(error: errors.HostingError, status: int) -> None:
    """With the error's own words."""
    refusal = refusal_for(error)
    assert refusal is not None
    assert (refusal.status, refusal.message) == (status, "x")


def test_what_is_our_fault_is_no_refusal() -> None:
    """It is logged, and told as an error of ours."""
    assert refusal_for(errors.GitDamaged("x")) is None
    assert refusal_for(errors.DatabaseError("x")) is None


def test_not_found_has_a_text_of_its_own() -> None:
    """Where nothing else is said."""
    assert Refusal(404).message == "not found"
    assert Refusal(404, "gone").message == "gone"
