"""Label badges: a background of any color with readable text (WCAG contrast)."""

from dataclasses import dataclass
from typing import Final

from holdfast.hosting.store.labels import Label

__all__ = ["LabelBadge", "contrast", "is_dark", "tag"]

BLACK: Final = (0, 0, 0)
WHITE: Final = (255, 255, 255)
Rgb = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class LabelBadge:
    """A label on a page."""

    id: int
    name: str
    color: str
    """Six hexadecimal digits."""
    is_dark: bool
    """Whether its text is light."""
    description: str = ""


def luminance(color: Rgb) -> float:
    """Return the relative luminance of a color, as defined by WCAG."""
    parts = [part / 255 for part in color]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: Rgb, second: Rgb) -> float:
    """Return the contrast ratio of two colors, between 1 and 21."""
    darker, brighter = sorted((luminance(first), luminance(second)))
    return (brighter + 0.05) / (darker + 0.05)


def is_dark(color: str) -> bool:
    """Return whether white text has more contrast than black text on a color."""
    red, green, blue = bytes.fromhex(color)
    return contrast((red, green, blue), WHITE) > contrast((red, green, blue), BLACK)


def tag(label: Label) -> LabelBadge:
    """Return the badge of a label."""
    return LabelBadge(label.id, label.name, label.color, is_dark(label.color), label.description)
