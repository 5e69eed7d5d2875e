"""Export to static HTML pages that look like a messenger and need only a browser."""

from holdfast.backup.exports.html.page_folder import Progress, write_html

__all__ = ["Progress", "write_html"]
