"""Counts user-perceived characters: extended grapheme clusters (Unicode Standard Annex 29).

The character properties are those of `unicodedata`; the few that it does not have are listed here.
"""

import unicodedata
from bisect import bisect_right
from typing import Final

__all__ = ["count_graphemes"]

JOINER: Final = 0x200D
# Code points with the break property Prepend.
PREPEND: Final = frozenset(
    {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0xD4E, 0x110BD, 0x110CD, 0x111C2, 0x111C3}
    | {0x1193F, 0x11941, 0x11A3A, *range(0x11A84, 0x11A8A), 0x11D46, 0x11F02}
)
# Spacing marks that do not extend a cluster, and letters that do.
NO_SPACING_MARK: Final = frozenset(
    {
        0x102B,
        0x102C,
        0x1038,
        *range(0x1062, 0x1065),
        *range(0x1067, 0x106E),
        0x1083,
        *range(0x1087, 0x108D),
        0x108F,
    }
    | {*range(0x109A, 0x109D), 0x1A61, 0x1A63, 0x1A64, 0xAA7B, 0xAA7D, 0x11720, 0x11721}
)
SPACING_MARK: Final = frozenset({0xE33, 0xEB3})
OTHER_EXTEND: Final = frozenset(
    {0x9BE, 0x9D7, 0xB3E, 0xB57, 0xBBE, 0xBD7, 0xCC2, 0xCD5, 0xCD6, 0xD3E, 0xD57, 0xDCF, 0xDDF, 0x1B35, 0x200C}
    | {0x302E, 0x302F, 0xFF9E, 0xFF9F, 0x1133E, 0x11357, 0x114B0, 0x114BD, 0x115AF, 0x11930, 0x1D165}
    | {*range(0x1D16E, 0x1D173), *range(0x1F3FB, 0x1F400), *range(0xE0020, 0xE0080)}
)
# Pictographs that a zero-width joiner can join, as ranges.
PICTURES: Final = (
    *((0xA9, 0xA9), (0xAE, 0xAE), (0x203C, 0x203C), (0x2049, 0x2049), (0x2122, 0x2122), (0x2139, 0x2139)),
    *((0x2194, 0x2199), (0x21A9, 0x21AA), (0x231A, 0x231B), (0x2328, 0x2328), (0x2388, 0x2388), (0x23CF, 0x23CF)),
    *((0x23E9, 0x23F3), (0x23F8, 0x23FA), (0x24C2, 0x24C2), (0x25AA, 0x25AB), (0x25B6, 0x25B6), (0x25C0, 0x25C0)),
    *((0x25FB, 0x25FE), (0x2600, 0x2605), (0x2607, 0x2612), (0x2614, 0x2685), (0x2690, 0x2705), (0x2708, 0x2712)),
    *((0x2714, 0x2714), (0x2716, 0x2716), (0x271D, 0x271D), (0x2721, 0x2721), (0x2728, 0x2728), (0x2733, 0x2734)),
    *((0x2744, 0x2744), (0x2747, 0x2747), (0x274C, 0x274C), (0x274E, 0x274E), (0x2753, 0x2755), (0x2757, 0x2757)),
    *((0x2763, 0x2767), (0x2795, 0x2797), (0x27A1, 0x27A1), (0x27B0, 0x27B0), (0x27BF, 0x27BF), (0x2934, 0x2935)),
    *((0x2B05, 0x2B07), (0x2B1B, 0x2B1C), (0x2B50, 0x2B50), (0x2B55, 0x2B55), (0x3030, 0x3030), (0x303D, 0x303D)),
    *((0x3297, 0x3297), (0x3299, 0x3299), (0x1F000, 0x1F0FF), (0x1F10D, 0x1F10F), (0x1F12F, 0x1F12F)),
    *((0x1F16C, 0x1F171), (0x1F17E, 0x1F17F), (0x1F18E, 0x1F18E), (0x1F191, 0x1F19A), (0x1F1AD, 0x1F1E5)),
    *((0x1F201, 0x1F20F), (0x1F21A, 0x1F21A), (0x1F22F, 0x1F22F), (0x1F232, 0x1F23A), (0x1F23C, 0x1F23F)),
    *((0x1F249, 0x1F3FA), (0x1F400, 0x1F53D), (0x1F546, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F774, 0x1F77F)),
    *((0x1F7D5, 0x1F7FF), (0x1F80C, 0x1F80F), (0x1F848, 0x1F84F), (0x1F85A, 0x1F85F), (0x1F888, 0x1F88F)),
    *((0x1F8AE, 0x1F8FF), (0x1F90C, 0x1F93A), (0x1F93C, 0x1F945), (0x1F947, 0x1FAFF), (0x1FC00, 0x1FFFD)),
)
FIRSTS: Final = [first for first, _last in PICTURES]


def count_graphemes(text: str) -> int:
    """Count the characters of a text."""
    clusters = 0
    before = ""
    flags = 0  # the number of regional indicators directly before
    joined = False  # whether a pictograph with its extensions and a joiner come directly before
    picture = False  # whether a pictograph with its extensions does
    for sign in text:
        kind = kind_of(sign)
        if not (before and joins(before, kind, flags=flags, joined=joined)):
            clusters += 1
        flags = flags + 1 if kind == "flag" else 0
        joined = picture and kind == "joiner"
        picture = kind == "picture" or (picture and kind == "extend")
        before = kind
    return clusters


def joins(before: str, kind: str, *, flags: int, joined: bool) -> bool:
    """Return whether a code point belongs to the cluster before it."""
    if before == "return":
        return kind == "feed"
    if "control" in (before, kind) or "feed" in (before, kind) or kind == "return":
        return False
    return (
        kind in {"extend", "joiner", "spacing"}
        or before == "prepend"
        or (before == "L" and kind in {"L", "V", "LV", "LVT"})
        or (before in {"LV", "V"} and kind in {"V", "T"})
        or (before in {"LVT", "T"} and kind == "T")
        or (joined and kind == "picture")
        or (before == kind == "flag" and flags % 2 == 1)
    )


def kind_of(sign: str) -> str:
    """Return the grapheme cluster break property of a code point; most have none."""
    code = ord(sign)
    if 0x20 <= code < 0x7F:
        return "other"
    if sign in "\r\n":
        return "return" if sign == "\r" else "feed"
    if code == JOINER:
        return "joiner"
    if code in PREPEND:
        return "prepend"
    category = unicodedata.category(sign)
    if category in {"Mn", "Me"} or code in OTHER_EXTEND:
        return "extend"
    if (category == "Mc" and code not in NO_SPACING_MARK) or code in SPACING_MARK:
        return "spacing"
    if category in {"Cc", "Cf", "Zl", "Zp"} or (category == "Cn" and 0xE0000 <= code < 0xE1000):
        return "control"
    if 0x1F1E6 <= code <= 0x1F1FF:
        return "flag"
    hangul = hangul_kind(code)
    if hangul:
        return hangul
    at = bisect_right(FIRSTS, code) - 1
    return "picture" if at >= 0 and code <= PICTURES[at][1] else "other"


def hangul_kind(code: int) -> str:
    """Return the Hangul syllable type of a code point, empty if it has none."""
    if 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C:
        return "L"
    if 0x1160 <= code <= 0x11A7 or 0xD7B0 <= code <= 0xD7C6:
        return "V"
    if 0x11A8 <= code <= 0x11FF or 0xD7CB <= code <= 0xD7FB:
        return "T"
    if 0xAC00 <= code <= 0xD7A3:
        return "LV" if (code - 0xAC00) % 28 == 0 else "LVT"
    return ""
