"""The status codes and messages of error responses."""

import errno

import pytest

from holdfast.hosting import errors
from holdfast.hosting.error_responses import refusal_for


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
def test_errors_of_the_client_are_shown(error: errors.HostingError, status: int) -> None:
    """A client error has its status and the message of the exception."""
    refusal = refusal_for(error)
    assert refusal is not None
    assert (refusal.status, refusal.message) == (status, "x")


def test_internal_errors_are_not_client_errors() -> None:
    """An error of git or of Python has no client error response."""
    assert refusal_for(errors.GitError("x")) is None
    assert refusal_for(RuntimeError("x")) is None


@pytest.mark.parametrize(
    ("error", "status", "retry"),
    [
        (errors.DatabaseError("at postgresql://holdfast@db"), 503, "5"),
        (errors.DatabaseUnavailable("at postgresql://holdfast@db"), 503, "5"),
        (errors.StorageUnavailable("at /srv"), 503, "5"),
        (errors.StorageReadOnly("x"), 503, "5"),
        (errors.StorageFull("x"), 507, "60"),
        (errors.GitDamaged("x"), 503, "5"),
        (errors.KeyUnusable("/srv/secret.key"), 503, "5"),
    ],
)
def test_temporary_errors_may_be_retried(error: errors.HostingError, status: int, retry: str) -> None:
    """A temporary error has Retry-After, and no URL or path of the server."""
    refusal = refusal_for(error)
    assert refusal is not None
    assert (refusal.status, refusal.headers) == (status, {"Retry-After": retry})
    assert "db" not in refusal.message
    assert "srv" not in refusal.message


def test_the_cause_of_an_error_decides() -> None:
    """A conflict that was caused by a full disk is answered with 507."""
    error = errors.RefBusy("x")
    error.__cause__ = OSError(errno.ENOSPC, "")
    refusal = refusal_for(error)
    assert refusal is not None
    assert refusal.status == 507
