"""Headers are found by name."""

from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers as Known

from holdfast.hosting.http.headers import Headers

names = st.sampled_from(["accept", "if-match", "x-a", "host"])
values = st.binary(max_size=5)


@given(st.lists(st.tuples(names, values)))
def test_they_are_those_of_the_framework(pairs: list[tuple[str, bytes]]) -> None:
    """In any case, the first of a name, and all of them, whatever bytes they hold."""
    scope = {"headers": [(name.encode(), value) for name, value in pairs]}
    known, found = Known(scope=scope), Headers(scope)
    for name in ("accept", "Accept", "IF-MATCH", "x-a", "other"):
        assert found.get(name) == known.get(name)
        assert found.get(name, "none") == known.get(name, "none")
        assert found.getlist(name) == known.getlist(name)
        assert (name in found) == (name in known)
