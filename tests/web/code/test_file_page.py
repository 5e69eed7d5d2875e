"""How much of a text goes into a page."""

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from holdfast.web.code.file_page import display_kind, line_range


@given(st.lists(st.integers(0, 300), max_size=60), st.integers(-5, 100), st.integers(60, 900))
def test_pages_of_a_text_hold_every_line_once(lengths: list[int], first: int, most: int) -> None:
    """Turning pages from the first on shows all lines in order, and every page has one at least."""
    lines = [Markup("x" * length) for length in lengths]
    seen: list[Markup] = []
    at: int | None = 1
    while at is not None:
        stretch = line_range(lines, at, most)
        assert stretch.first == at
        assert stretch.total == len(lines)
        assert stretch.lines or not lines
        assert (stretch.before is None) == (at == 1)
        assert stretch.before is None or 1 <= stretch.before < at
        seen += stretch.lines
        at = stretch.after
    assert seen == lines
    somewhere = line_range(lines, first, most)
    assert 1 <= somewhere.first <= max(len(lines), 1)


def test_a_type_decides_how_bytes_are_shown() -> None:
    """Pictures, sound, films and PDF; nothing else is ever opened."""
    shown = [
        display_kind(kind) for kind in ("image/png", "audio/ogg", "video/mp4", "application/pdf", "text/html", "")
    ]
    assert shown == ["image", "audio", "video", "pdf", "other", "other"]
