"""PDF documents of one page."""

__all__ = ["pdf"]


def pdf(lines: list[str]) -> bytes:
    """Return a page with lines of ASCII text without parentheses."""
    text = " T* ".join(f"({line}) Tj" for line in lines)
    content = f"BT /F1 14 Tf 18 TL 72 760 Td {text} ET".encode("ascii")
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources 6 0 R >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Font << /F1 5 0 R >> >>",
    )
    page = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(page))
        page += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    entries = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (entries, len(page))
    return page + b"xref\n0 %d\n" % entries + table + trailer
