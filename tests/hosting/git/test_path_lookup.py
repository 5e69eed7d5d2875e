"""Paths people ask for."""

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.errors import PathRefused
from holdfast.hosting.git.path_lookup import cleaned


@given(st.lists(st.sampled_from(["", ".", "..", "a", "b c", "...", ".gitignore"]), max_size=8).map("/".join))
def test_a_path_is_cleaned_as_if_the_repository_were_the_root(path: str) -> None:
    """No step leads above it."""
    expected = posixpath.normpath("//" + path).lstrip("/")
    if path and not expected:
        with pytest.raises(PathRefused, match="malformed"):
            cleaned(path)
    else:
        assert cleaned(path) == expected


@pytest.mark.parametrize("path", [".git", "a/.GIT", ".Git/config", "./.git", "/", ".", "a/.."])
def test_a_path_nothing_lies_at_is_refused(path: str) -> None:
    """Git's own folder in any spelling, and what says something but leads nowhere."""
    with pytest.raises(PathRefused) as refused:
        cleaned(path)
    assert str(refused.value) == f"path contains a malformed path component [path: {path}]"
