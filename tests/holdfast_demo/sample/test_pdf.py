"""PDF documents of a sample."""

import re

from holdfast_demo.sample.pdf import pdf


def test_the_table_of_a_document_points_at_its_objects() -> None:
    """Every entry of the cross-reference table is the place where that object begins."""
    data = pdf(["One line", "and another"])
    start = int(data.rsplit(b"startxref\n", 1)[1].split(b"\n")[0])
    assert data[start:].startswith(b"xref\n")
    offsets = [int(offset) for offset in re.findall(rb"(\d{10}) 00000 n", data[start:])]
    assert offsets
    for number, offset in enumerate(offsets, 1):
        assert data[offset:].startswith(b"%d 0 obj" % number)


def test_the_text_of_a_document_is_as_long_as_it_says() -> None:
    """The length of the page's text is the number of bytes between its marks."""
    match = re.search(rb"/Length (\d+) >>\nstream\n(.*?)\nendstream", pdf(["One line"]), re.DOTALL)
    assert match is not None
    assert int(match[1]) == len(match[2])
