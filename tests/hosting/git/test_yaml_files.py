"""Parsing of untrusted YAML files."""

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.errors import InvalidYaml
from holdfast.hosting.git.yaml_files import DEEPEST, LARGEST, MOST_NODES, read_yaml


def test_text_numbers_booleans_and_null_are_recognized_and_dates_stay_text() -> None:
    """Dates, times, fractions and `yes` stay text, so that a title may look like one."""
    content = b"a: text\nb: 12\nc: true\nd:\ne: 2026-11-17\nf: yes\ng: 1.5\nh: '7'\n3: x\ni: [1, ~]\nj: 1:30"
    assert read_yaml(content) == {
        "a": "text",
        "b": 12,
        "c": True,
        "d": None,
        "e": "2026-11-17",
        "f": "yes",
        "g": "1.5",
        "h": "7",
        "3": "x",
        "i": [1, None],
        "j": "1:30",
    }
    assert read_yaml(b"") is None
    assert read_yaml(b"\xef\xbb\xbfa: b") == {"a": "b"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: &x 1\nb: *x", "anchor or an alias"),
        (b"a: *x", "anchor or an alias"),
        (b"a: !!python/object/apply:os.system [ls]", "tag"),
        (b"a: !!int '1:1:1'", "tag"),
        (b"- " * (DEEPEST + 1) + b"x", "nested deeper"),
        (b"[" * 60_000, "nested deeper"),
        (b"- x\n" * MOST_NODES, "more than"),
        (b"#" * (LARGEST + 1), "more than"),
        (b"\xff", "UTF-8"),
        (b"a: b: c", "line 1: "),
        (b"a: [", "line "),
        (b"[a]: b", "line "),
        (b"--- a\n--- b", "another document"),
        (b"a: \x00", "YAML|special characters"),
    ],
)
def test_what_is_not_plain_yaml_is_refused(content: bytes, message: str) -> None:
    """Anchors, tags, deep nesting and invalid or large files are refused with a reason, within seconds."""
    started = time.process_time()
    with pytest.raises(InvalidYaml, match=message):
        read_yaml(content)
    assert time.process_time() - started < 5


@given(st.binary(max_size=200) | st.text("ab:-[]{}&*!|>'\"# \n\t0~", max_size=200).map(str.encode))
def test_any_bytes_are_a_value_or_refused(content: bytes) -> None:
    """Any bytes give a plain value or `InvalidYaml`, and no other error."""
    with suppress(InvalidYaml):
        assert isinstance(read_yaml(content), str | int | list | dict | None)
