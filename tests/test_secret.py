"""The `Secret` type, which masks its value."""

import copy
import pickle

import pytest

from holdfast.secret import Secret


def test_a_secret_shows_only_a_mask() -> None:
    """The value of a secret is not in its str, repr or format, nor in the repr of a list."""
    secret = Secret("hunter2")
    assert "hunter2" not in f"{secret} {secret!r} {[secret]} {secret!s:>20}"


def test_a_secret_is_revealed_on_request() -> None:
    """`reveal` returns the value."""
    assert Secret("hunter2").reveal() == "hunter2"


def test_equal_secrets_are_equal_and_hash_alike() -> None:
    """Secrets compare by value, and never equal the bare text."""
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a")}) == 1


@pytest.mark.parametrize("copier", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_secret_cannot_be_serialised(copier: object) -> None:
    """Pickling and copying a secret raises TypeError."""
    assert callable(copier)
    with pytest.raises(TypeError, match="cannot be serialised"):
        copier(Secret("hunter2"))
