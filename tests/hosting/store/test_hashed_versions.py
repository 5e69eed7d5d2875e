"""Versions of the content of rows."""

from itertools import combinations

from holdfast.hosting.store.hashed_versions import hashed_version


def test_a_version_tells_any_two_contents_apart() -> None:
    """Values that look alike when they are joined, or that are equal in Python, have versions of their own."""
    contents = [("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("1",), (1,), (True,), ("",), ()]
    assert all(hashed_version(*one) != hashed_version(*other) for one, other in combinations(contents, 2))
    assert hashed_version("ab", 1) == hashed_version("ab", 1)


def test_any_text_has_a_version() -> None:
    """Texts of any script, and surrogates, which names of refs may have."""
    assert hashed_version("\u0645\u0631\u062d\u0628\u0627") != hashed_version("\udcff")
