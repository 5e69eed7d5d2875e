"""Exports of an archive or a backup: HTML, Markdown, JSON Lines, CSV and Parquet.

>>> import holdfast.backup as hb
>>> hb.export("chats.db", "pages", "html")
"""

from holdfast.backup.exports.choice import ChatSelection, selected_chats
from holdfast.backup.exports.dispatcher import (
    FORMS,
    Form,
    export,
    export_archive,
    export_backup,
    temporary_archive,
)
from holdfast.backup.exports.folder import ExportSummary
from holdfast.backup.exports.job import Progress

__all__ = [
    "FORMS",
    "ChatSelection",
    "ExportSummary",
    "Form",
    "Progress",
    "export",
    "export_archive",
    "export_backup",
    "selected_chats",
    "temporary_archive",
]
