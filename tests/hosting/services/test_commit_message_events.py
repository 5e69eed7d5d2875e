"""What commits say of issues, and how much of it is heard."""

from holdfast.hosting.services.commit_message_events import MOST, Wish, newest, said_in
from holdfast.hosting.services.keyword_parser import Ask


def test_what_is_asked_for_comes_before_what_is_named() -> None:
    """A message without a number sign says nothing."""
    assert said_in("see #2, fixes #1") == [Ask(1, True), Ask(2, None), Ask(1, None)]
    assert list(said_in("fixes it")) == []


def test_names_drown_no_wish() -> None:
    """The newest of either kind are heard."""
    closing = Wish(1, "a", Ask(1, True))
    names = [Wish(1, "a", Ask(number, None)) for number in range(2 * MOST)]
    assert newest([closing, *names]) == [closing, *names[-MOST:]]
