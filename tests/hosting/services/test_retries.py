"""Retries: their number, the errors that they are for, and the step between two attempts."""

from collections.abc import Callable

import pytest

from holdfast.hosting.errors import NoSuchIssue, Outdated, RefMoved
from holdfast.hosting.services.retries import ATTEMPTS, retry


def failing(times: int, error: Exception, made: list[str]) -> Callable[[], str]:
    """Return an attempt that fails some times."""

    def attempt() -> str:
        made.append("attempt")
        if made.count("attempt") <= times:
            raise error
        return "done"

    return attempt


@pytest.mark.parametrize("times", range(ATTEMPTS))
def test_an_attempt_is_made_until_it_succeeds(times: int) -> None:
    """The step is taken between two attempts, and not after the last one."""
    made: list[str] = []
    assert retry(failing(times, Outdated("old"), made), before_next=lambda: made.append("step")) == "done"
    assert made == [*["attempt", "step"] * times, "attempt"]


def test_the_error_of_the_fifth_attempt_is_raised() -> None:
    """After the maximum of attempts the error is the caller's."""
    made: list[str] = []
    with pytest.raises(Outdated, match="old"):
        retry(failing(ATTEMPTS, Outdated("old"), made), before_next=lambda: made.append("step"))
    assert (made.count("attempt"), made.count("step")) == (5, 4)


def test_other_errors_are_raised_at_once() -> None:
    """Only the named errors are retried: by default `Outdated`."""
    for error in (NoSuchIssue("none"), RefMoved("moved")):
        made: list[str] = []
        with pytest.raises(type(error)):
            retry(failing(1, error, made))
        assert made == ["attempt"]
    assert retry(failing(1, RefMoved("moved"), []), on=(Outdated, RefMoved)) == "done"
