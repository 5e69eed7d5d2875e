"""The contrast of the text on labels of any color."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.web.issues.label_colors import BLACK, WHITE, contrast, is_dark


@given(st.tuples(*[st.integers(0, 255)] * 3))
def test_the_contrast_is_enough_on_every_colour(color: tuple[int, int, int]) -> None:
    """Black or white text has a contrast of at least 4.5 on every colour, as WCAG requires."""
    ink = WHITE if is_dark(bytes(color).hex()) else BLACK
    assert contrast(color, ink) >= 4.5


def test_black_takes_white_and_white_takes_black() -> None:
    """Black counts as dark and white as light, and their contrast is 21."""
    assert is_dark("000000")
    assert not is_dark("ffffff")
    assert round(contrast(BLACK, WHITE), 6) == 21
