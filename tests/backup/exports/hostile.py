"""Hostile texts, and archives in which all user-provided text is hostile."""

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

from google.protobuf.message import Message
from hypothesis import strategies as st

from tests.backup.archives.histories import copies, import_backups, write

TEXTS = (
    "<script>alert(1)</script>",
    "</p><img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](https://example.org/track.png)",
    '=HYPERLINK("https://example.org/?"&A1)',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=1+1",
    "hello;=cmd|' /C calc'!A0",
    'line\n=HYPERLINK("x")',
    "../../etc/passwd",
    "C:\\Windows\\con.txt",
    "\x00\x1b[31m\x07\u202eexe.jpg",
    "# heading\n\n- list\n\n```\ncode",
    "**bold** _it_ `code` ~~s~~ | a | b |\n|---|---|",
    "&lt;b&gt; &#60;i&#62; &amp;",
    '"quoted", and\r\n"more"',
    "\U0001f600 \u05e9\u05dc\u05d5\u05dd \u4f60\u597d",
    "<javascript:alert(1)>",
    "[ref]: javascript:alert(1)\n[ref]",
    "    indented\n\ttab",
    "a" * 3000,
)
# Texts that would add elements, attributes or scripts to a page that does not escape them.
MARKUP_INJECTIONS = [
    "<script>canary()</script>",
    "</p></li></ol><img src=x onerror=canary()>",
    '" onmouseover="canary()" x="',
    "<!-- --><![CDATA[ ]]><?php ?>",
    "&lt;script&gt; &#60; &amp;amp; &notanentity",
    "javascript:canary() data:text/html,<script>1</script>",
    'https://example.org/"onclick="canary()//<svg/onload=canary()>',
    "http://a.b/'><script>canary()</script>",
    "\x00<\x00script>\x0c\x1b\x7f\x85\ufffe",
    "\u202e\u2066evil\u2069 https://example.org/\u202egpj.exe",
    "]]></style></title></textarea></noscript><plaintext>",
]
TEXT_OR_MARKUP = st.one_of(
    st.text(max_size=60),
    st.sampled_from(MARKUP_INJECTIONS),
    st.lists(st.sampled_from(MARKUP_INJECTIONS)).map("".join),
)
# What the format reads as something else than text, or what an import looks things up by.
KEPT = {"contentType", "aciString", "transitCdnKey", "backgroundColor"}


def replace_texts(message: Message, texts: Iterator[str]) -> None:
    """Put something hostile into every text of a record, at every depth."""
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in value if field.is_repeated else (value,):
                replace_texts(inner, texts)
        elif field.type == field.TYPE_STRING and field.name not in KEPT:
            if field.is_repeated:
                value[:] = [next(texts) for _ in value]
            else:
                setattr(message, field.name, next(texts))


def hostile_archive(folder: Path, messages: int = 300) -> Path:
    """Make an archive of a history in which every text is hostile."""
    header, frames = copies(messages)
    texts = cycle(TEXTS)
    for frame in frames:
        replace_texts(frame, texts)
    import_backups(folder / "hostile.db", write(folder / "hostile", header, frames))
    return folder / "hostile.db"
