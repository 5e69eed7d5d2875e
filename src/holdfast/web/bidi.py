"""Makes bidirectional control characters visible, so that code and names cannot be displayed reordered.

A browser reorders the text around these characters, so that a page shows other code than a compiler reads (the
attack known as Trojan Source), and a file name with one appears to have another extension.
"""

import re
from typing import Final

__all__ = ["with_balanced_isolates", "with_visible_controls"]

# Embeddings, overrides and isolates, and their terminators. Directional marks are not included: they reorder
# nothing.
CONTROL: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
ISOLATE, END_ISOLATE = "\u2068", "\u2069"
# A tag with its attributes, whose values may contain anything, or the text up to the next tag.
TOKEN: Final = re.compile(r"""<(?:"[^"]*"|'[^']*'|[^>"'])*>|[^<]+|<""")
NAME: Final = re.compile(r"<(/?)([a-zA-Z]+)")
# Elements without child elements. The value of a form field must be submitted unchanged.
TEXT_ONLY: Final = frozenset({"textarea", "title", "option", "script", "style"})
MAIN: Final = '<main id="main">'
WARNING: Final = (
    '<p class="warning-message" role="note">This page shows text with bidirectional control characters, which can '
    "make it read differently from what it says. Each is shown as its code, such as "
    "<span class=bidi>U+202E</span>.</p>"
)


def with_visible_controls(html: str) -> str:
    """Return a page that shows each bidirectional control character as its code, and warns that there are some."""
    if not CONTROL.search(html):
        return html
    parts: list[str] = []
    inside, has_controls = "", False
    for token in TOKEN.findall(html):
        if token.startswith("<"):
            name = NAME.match(token)
            if name and name[2].lower() in TEXT_ONLY:
                inside = "" if name[1] else name[2].lower()
            parts.append(token)
        elif inside or not CONTROL.search(token):
            parts.append(token)
        else:
            has_controls = True
            parts.append(CONTROL.sub(code_of, token))
    text = "".join(parts)
    return text.replace(MAIN, MAIN + WARNING, 1) if has_controls else text


def with_balanced_isolates(html: str) -> str:
    """Return a page with no bidirectional control characters but first-strong isolates, balanced within each text.

    Messages and profile names in conversations are untrusted; they cannot change the order of the text around
    them.
    """
    if not CONTROL.search(html):
        return html
    return "".join(balanced(token) for token in TOKEN.findall(html))


def balanced(text: str) -> str:
    """Remove all bidirectional control characters from a text except matched pairs of FSI and PDI."""
    open_at: list[int] = []
    paired: set[int] = set()
    for control in CONTROL.finditer(text):
        if control[0] == ISOLATE:
            open_at.append(control.start())
        elif control[0] == END_ISOLATE and open_at:
            paired |= {open_at.pop(), control.start()}
    return CONTROL.sub(lambda control: control[0] if control.start() in paired else "", text)


def code_of(control: re.Match[str]) -> str:
    """Return the element that replaces a control character; without quotes it is safe in any context."""
    return f"<span class=bidi>U+{ord(control[0]):04X}</span>"
