"""The HTML export: pages that look like a messenger and need nothing but a browser."""

from holdfast.backup.exports.html.writing import Progress, write_html

__all__ = ["Progress", "write_html"]
