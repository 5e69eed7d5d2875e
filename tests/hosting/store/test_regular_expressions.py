"""Regular expressions in linear time, compared with those of Python."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.errors import PatternRefused
from holdfast.hosting.store.regular_expressions import compile_regular_expression

ATOMS = st.sampled_from(["a", "b", "/", ".", r"\.", "[ab]", "[^a]", "[a-c]", r"\d", r"\w", r"[\d/]"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["*", "+", "?"])).map(lambda pair: f"({pair[0]}){pair[1]}"),
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}|{pair[1]})"),
    ),
    max_leaves=6,
)


@given(PATTERNS, st.text("abc/.1", max_size=8))
def test_a_pattern_matches_what_python_matches(pattern: str, text: str) -> None:
    """A pattern matches the whole text exactly when `re.fullmatch` does."""
    expected = re.fullmatch(pattern, text) is not None
    assert compile_regular_expression(pattern).matches(text) is expected
    assert compile_regular_expression(f"^{pattern}$").matches(text) is expected


@pytest.mark.parametrize("pattern", ["*", "a(", "a)", "[a", "a\\", r"\b", "a{2}", "(" * 20 + ")" * 20, "x" * 1001])
def test_unsupported_patterns_are_refused(pattern: str) -> None:
    """Unsupported, invalid and overlong patterns raise PatternRefused instead of matching something else."""
    with pytest.raises(PatternRefused):
        compile_regular_expression(pattern)


def test_a_hostile_pattern_takes_linear_time() -> None:
    """Nested repetitions, which take exponential time with backtracking, match in less than two seconds."""
    began = time.process_time()
    assert not compile_regular_expression("(a*)*" * 20 + "b").matches("a" * 1000)
    assert time.process_time() - began < 2
